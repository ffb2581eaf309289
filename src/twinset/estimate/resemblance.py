"""From agreeing samples to a resemblance, its interval, and what follows from it: E1 to E4 and R2 to R4 of theory.md."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadInput, BadOption
from twinset.estimate.interval import cut_interval, likeliest, likelihood_interval, reach, where_deviate
from twinset.estimate.pivot import TINY, Evidence, log_likelihood
from twinset.estimate.probability import C1, C2, Floats, turning
from twinset.estimate.variance import V1, V2
from twinset.layout import Component, Layout

BLOCK = 1 << 15  # rows solved together: their temporaries stay in cache
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Range:
    """A quantity of each pair with both ends of its interval."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Estimate:
    """The resemblance of each pair: maximum-likelihood value (E4), interval, and the raw estimate, which may lie outside [0, 1]."""

    value: Floats
    low: Floats
    high: Floats
    raw: Floats
    sizes_left: Floats
    sizes_right: Floats

    def __len__(self) -> int:
        return len(self.value)

    def reshape(self, *shape: int) -> "Estimate":
        """The same pairs in arrays of another shape."""
        return Estimate(*(getattr(self, part.name).reshape(shape) for part in fields(self)))

    @property
    def intersection(self) -> Range:
        """How many elements the sets share (R2)."""
        total = self.sizes_left + self.sizes_right
        return Range(*(r * total / (1 + r) for r in (self.value, self.low, self.high)))

    @property
    def containment_left(self) -> Range:
        """The share of the left set that is in the right one (R3)."""
        return self._containment(self.sizes_left)

    @property
    def containment_right(self) -> Range:
        """The share of the right set that is in the left one (R3)."""
        return self._containment(self.sizes_right)

    @property
    def hamming(self) -> Range:
        """How many elements are in one set only (R4)."""
        total = self.sizes_left + self.sizes_right
        return Range(*((1 - r) / (1 + r) * total for r in (self.value, self.high, self.low)))

    def _containment(self, sizes: Floats) -> Range:
        shared = self.intersection
        divisor = np.maximum(sizes, 1)
        return Range(*(np.minimum(part / divisor, 1) for part in (shared.value, shared.low, shared.high)))


def estimate(
    layout: Layout, agreeing: ArrayLike, sizes_left: ArrayLike, sizes_right: ArrayLike, *, universe: float = 0, level: float = 0.95, ceiling: ArrayLike | None = None
) -> Estimate:
    """Estimate R for pairs of sets from agreeing samples, an integer array (pairs, components), and the sizes of the sets, two arrays (pairs,).

    `universe` is the number of possible elements, 0 for practically infinite. `ceiling` replaces R_max = smaller size / larger size where sizes are
    not exact (see sizes.ceiling). A set of size 0 resembles nothing: value, interval and raw are 0. An interval is never empty and holds its value.

    raw is E1 for layouts of whole bits, E2 for one XOR component, E3 for halves of 1 and 1/2 bit, and for any other mixture the mean of its parts' E1
    and E2 weighted by inverse variance. Among dense sets (finite universe) an even XOR cannot tell a resemblance below its turning point from the
    mirror image above: value is the one above, and the interval is widened to hold both.
    """
    counts, left, right = _checked(layout, agreeing, sizes_left, sizes_right)
    if not 0 < level < 1:
        raise BadOption(f"level is {level}; allowed: more than 0 and less than 1")
    if universe < 0 or (universe and max(left.max(initial=0), right.max(initial=0)) > universe):
        raise BadOption(f"universe is {universe}; allowed: 0 for no bound, or at least the size of the largest set")
    upper = np.minimum(left, right) / np.maximum(np.maximum(left, right), 1) if ceiling is None else np.broadcast_to(np.asarray(ceiling, np.float64), left.shape)
    result = np.zeros((4, len(left)))
    rows = np.flatnonzero((left > 0) & (right > 0))
    if universe:
        lower = _smallest(left, right, universe) if ceiling is None else np.zeros(len(left))
        evidence = Evidence(layout, counts[:, rows], left[rows] / universe, right[rows] / universe)
        result[:3, rows] = _dense(evidence, lower[rows], upper[rows], level)
    else:
        evidence = Evidence(layout, counts[:, rows], np.zeros(len(rows)), np.zeros(len(rows)))
        result[:3, rows] = _sparse(evidence, upper[rows], level)
    result[3, rows] = raw(evidence)
    return Estimate(result[0], result[1], result[2], result[3], left, right)


def raw(evidence: Evidence) -> Floats:
    """The estimate that no bound cuts off: E1, E2, E3, or the inverse-variance mean of the parts."""
    layout, r1, r2 = evidence.layout, evidence.r1, evidence.r2
    parts = layout.components
    if all(part.xor == 1 for part in parts):
        slope = sum(part.samples * (1 - C2(part.bits, r1, r2)) for part in parts)
        return np.asarray((evidence.agreeing.sum(axis=0) - sum(part.samples * C1(part.bits, r1, r2) for part in parts)) / slope)
    if sorted((part.samples, part.bits, part.xor) for part in parts) == [(layout.samples // 2, 1, 1), (layout.samples // 2, 1, 2)]:
        return _three_quarters(evidence)
    estimates = np.stack([_part_raw(part, evidence.agreeing[i], r1, r2) for i, part in enumerate(parts)])
    # Parts are weighted at their common estimate, kept off the ends, where an XOR says nothing (0) or every part everything (1).
    around = np.clip(likeliest(evidence, np.zeros(len(r1)), np.ones(len(r1))), 0.02, 0.98)
    weights = np.stack([1 / np.clip(_part_variance(part, around, r1, r2), TINY, 1 / TINY) for part in parts])
    return np.asarray((weights * estimates).sum(axis=0) / weights.sum(axis=0))


def _three_quarters(evidence: Evidence) -> Floats:
    """E3."""
    agreed = evidence.agreeing.sum(axis=0) / evidence.layout.samples
    one_bit = (np.sqrt(np.maximum(16 * agreed - 7, 0)) + 1) / 4
    return np.asarray((one_bit - C1(1, evidence.r1, evidence.r2)) / (1 - C2(1, evidence.r1, evidence.r2)))


def _part_raw(part: Component, agreeing: Floats, r1: Floats, r2: Floats) -> Floats:
    """E1 or E2 of one component."""
    share = agreeing / part.samples
    if part.xor > 1:
        share = (np.maximum(2 * share - 1, 0) ** (1 / part.xor) + 1) / 2
    return np.asarray((share - C1(part.bits, r1, r2)) / (1 - C2(part.bits, r1, r2)))


def _part_variance(part: Component, resemblance: Floats, r1: Floats, r2: Floats) -> Floats:
    alone = Layout("", (part,))
    return V2(part, resemblance, r1, r2) if part.xor > 1 else V1(alone, resemblance, r1, r2)


def _sparse(evidence: Evidence, upper: Floats, level: float) -> Floats:
    """Value, low, high (3, n) in an infinite universe, where they depend on the counts alone unless `upper` is near.

    So solve once for each distinct tuple of counts, and again only for the pairs whose bound lies within the interval's reach.
    """
    first, inverse = _distinct(*evidence.agreeing)
    once, bottom, top = evidence.take(first), np.zeros(len(first)), np.ones(len(first))
    result = _solved(once, bottom, top, level)[:, inverse]
    far = where_deviate(once, np.full(len(first), -reach(level)), bottom, top)[inverse]
    near = np.flatnonzero(upper < np.minimum(np.maximum(far, result[2]), 1))
    result[0] = np.minimum(result[0], upper)  # exact, the likelihood having one maximum
    first, inverse = _distinct(upper[near], *evidence.agreeing[:, near])
    for start in range(0, len(first), BLOCK):
        rows = near[first[start : start + BLOCK]]
        result[1:, rows] = cut_interval(evidence.take(rows), result[1, rows], result[2, rows], upper[rows], level)
    result[1:, near] = result[1:, near[first[inverse]]]
    return np.stack([result[0], np.minimum(result[1], result[0]), np.maximum(result[2], result[0])])


def _dense(evidence: Evidence, lower: Floats, upper: Floats, level: float) -> Floats:
    """Value, low, high (3, n) in a finite universe, once for each distinct row of counts, sizes and bounds."""
    first, inverse = _distinct(evidence.r1, evidence.r2, lower, upper, *evidence.agreeing)
    once, lower, upper = evidence.take(first), lower[first], upper[first]
    turns = [turning(part, once.r1, once.r2) for part in once.layout.components]
    turn, last = np.min(turns, axis=0), np.max(turns, axis=0)  # below the first no part grows with R, from the second on every part does
    value, low, high = _solved(once, np.clip(turn, lower, upper), upper, level, np.clip(last, lower, upper))
    ambiguous = (turn > lower) & (2 * turn - low >= lower)
    low = np.where(ambiguous, np.maximum(np.minimum(2 * turn - high, low), lower), low)
    return np.stack([value, np.where(turn >= upper, lower, low), high])[:, inverse]


def _solved(evidence: Evidence, lower: Floats, upper: Floats, level: float, split: Floats | None = None) -> Floats:
    """E4 and its interval on [lower, upper], block by block. With a `split` the likelihood may have a maximum on either side of it."""
    result = np.empty((3, len(lower)))
    for start in range(0, len(lower), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(lower)))
        some, bottom, top = evidence.take(rows), lower[rows], upper[rows]
        value = likeliest(some, bottom, top) if split is None else _likelier(some, bottom, split[rows], top)
        low, high = likelihood_interval(some, bottom, top, level)
        result[:, rows] = value, np.minimum(low, value), np.maximum(high, value)
    return result


def _likelier(evidence: Evidence, lower: Floats, split: Floats, upper: Floats) -> Floats:
    """E4 when the likelihood has one maximum on [lower, split] and one on [split, upper]."""
    below, above = likeliest(evidence, lower, split), likeliest(evidence, split, upper)
    return np.where(log_likelihood(evidence, below) > log_likelihood(evidence, above), below, above)


def _distinct(*columns: NDArray[np.float64]) -> tuple[Rows, Rows]:
    """The first row of each distinct tuple of the columns, and for each row the position of its tuple among them."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        # Renumbered after each column, so that the keys cannot overflow.
        key = np.unique(key * len(values) + codes, return_inverse=True)[1]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse


def _smallest(left: Floats, right: Floats, universe: float) -> Floats:
    """The least resemblance of two sets of these sizes: above 0 when they cannot fit side by side into the universe."""
    shared = np.maximum(left + right - universe, 0)
    return np.asarray(shared / np.maximum(left + right - shared, 1))


def _checked(layout: Layout, agreeing: ArrayLike, sizes_left: ArrayLike, sizes_right: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The arguments as float64 arrays, counts by component (components, pairs), or a BadInput that says which does not fit."""
    counts = np.asarray(agreeing, np.float64)
    samples = np.array([part.samples for part in layout.components])
    if counts.ndim != 2 or counts.shape[1] != len(samples):
        raise BadInput(f"agreeing has shape {counts.shape}; allowed for layout {layout.text!r}: (pairs, {len(samples)})")
    if not ((counts >= 0) & (counts <= samples)).all():
        raise BadInput(f"agreeing has values from {counts.min():g} to {counts.max():g}; allowed for layout {layout.text!r}: 0 to {', '.join(map(str, samples))}")
    left, right = np.asarray(sizes_left, np.float64), np.asarray(sizes_right, np.float64)
    for name, sizes in (("sizes_left", left), ("sizes_right", right)):
        if sizes.shape != counts.shape[:1]:
            raise BadInput(f"{name} has shape {sizes.shape}; allowed: ({len(counts)},), one size for each pair")
        if not (sizes >= 0).all():
            raise BadInput(f"{name} has a size of {sizes.min():g}; allowed: 0 and more")
    return np.ascontiguousarray(counts.T), left, right
