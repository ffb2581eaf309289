"""LSH bands: how often a pair shares one, what a banding costs, and which is cheapest (theory.md, section 7; docs/decisions/013-bands.md).

A band is `rows` samples of one component, and a pair becomes a candidate when all samples of any band agree. Bands share no samples, so at resemblance R a pair
is found with probability 1 - prod over the bands of (1 - p(R)^rows), where p is T1 or T2: R itself for whole values.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption, UnreachableRecall
from twinset.estimate.probability import Floats, agreement
from twinset.layout import Component, Layout

Part = tuple[int, int]  # bands, rows
Options = tuple[Floats, Floats, NDArray[np.int64]]  # cost, -log of the chance to miss, and bands and rows of each component (options, components, 2)

DOCUMENTS = 1_000_000
KEY = 60.0  # nanoseconds of one core to make and sort the key of one band of one row
PAIR = 120.0  # nanoseconds to compare two rows that share a band, which lie anywhere in memory
UNRELATED, RELATED = 0.01, 0.1  # mean resemblances of the two kinds of background pairs
SHARE = 2e-4  # of related pairs
FOUND = 0.5  # resemblances from here on are what is looked for, and no background
LADDER = 64  # numbers up to this are all tried, larger ones in steps that grow
STEP = 1.05


@dataclass(frozen=True)
class Banding:
    """`parts` are the (bands, rows) of each component of the layout, (0, 0) for a component that takes no part. `documents` is what `cost` is reckoned for."""

    layout: Layout
    parts: tuple[Part, ...]
    documents: int = DOCUMENTS

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.layout.components):
            raise BadOption(f"a banding has {len(self.parts)} parts; allowed: one for each of the {len(self.layout.components)} components of layout {self.layout.text!r}")
        for (bands, rows), component in zip(self.parts, self.layout.components, strict=True):
            if min(bands, rows) < 0 or (bands > 0) != (rows > 0) or bands * rows > component.samples:
                raise BadOption(f"a banding has {bands} bands of {rows} rows; allowed: together at most the {component.samples} samples of the component, or both 0")
        if not self.bands:
            raise BadOption("a banding has no band; allowed: at least one")

    @classmethod
    def of(cls, layout: Layout, bands: int, rows: int, *, component: int = 0, documents: int = DOCUMENTS) -> "Banding":
        """So many bands of so many rows of one component."""
        return cls(layout, tuple((bands, rows) if i == component else (0, 0) for i in range(len(layout.components))), documents)

    @property
    def bands(self) -> int:
        """All bands."""
        return sum(bands for bands, _ in self.parts)

    @property
    def rows(self) -> int:
        """Samples in a band; in the widest one, where components have bands of their own."""
        return max(rows for _, rows in self.parts)

    @property
    def samples(self) -> int:
        """Samples in all bands."""
        return sum(bands * rows for bands, rows in self.parts)

    def detection(self, similarity: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
        """The probability that a pair of this resemblance shares a band."""
        missed = np.zeros(np.broadcast_shapes(np.shape(similarity), np.shape(r1), np.shape(r2)))
        for (bands, rows), component in zip(self.parts, self.layout.components, strict=True):
            p = np.clip(agreement(component, similarity, r1, r2)[0], 0, 1)
            missed = missed - bands * _evidence(p**rows) if bands else missed
        return -np.expm1(missed)

    def curve(self, steps: int = 20) -> list[tuple[float, float]]:
        """The S-curve: (resemblance, probability that a pair of it shares a band), from 0 to 1."""
        points = np.linspace(0, 1, steps + 1)
        return list(zip(points.tolist(), self.detection(points).tolist(), strict=True))

    @property
    def candidates(self) -> float:
        """Pairs that share a band only by chance, counted once for each band, among `documents` documents of the background."""
        shares = sum(bands * float(by_chance(component, np.array([rows]))[0]) for (bands, rows), component in zip(self.parts, self.layout.components, strict=True) if bands)
        return self.documents * (self.documents - 1) / 2 * shares

    @property
    def cost(self) -> float:
        """Seconds of one core: a key for each band of each document, and a comparison for each pair that shares a band by chance."""
        return 1e-9 * (KEY * self.bands * self.documents + PAIR * self.candidates)


def choose_banding(layout: Layout, threshold: float, recall: float = 0.99, *, documents: int = DOCUMENTS, samples: int | None = None, r1: float = 0.0, r2: float = 0.0) -> Banding:
    """The banding of least cost that finds a pair at `threshold` with probability `recall` or more.

    `samples` limits the samples in bands; each component offers its share of them. r1, r2: densities of the sets, as in `estimate.probability`.
    """
    _check(threshold, recall, samples)
    wanted = -math.log1p(-recall) if recall < 1 else math.inf
    found: Options = np.zeros(1), np.zeros(1), np.zeros((1, 0, 2), np.int64)
    for component in layout.components:
        offered = component.samples if samples is None else component.samples * min(samples, layout.samples) // layout.samples
        found = _frontier(*_combined(found, _options(component, threshold, offered, wanted, documents, r1, r2)), wanted)
    _, evidence, parts = found
    if not evidence[-1] >= wanted:
        raise UnreachableRecall(_unreachable(layout, threshold, recall, samples, r1, r2))
    return Banding(layout, tuple((int(bands), int(rows)) for bands, rows in parts[int(np.argmax(evidence >= wanted))]), documents)


def steepest(bands: int, rows: int) -> float:
    """The papers' approximate threshold (1/b)^(1/r): where the S-curve of whole values rises. For study: a pair there is found in about 63 % of cases only."""
    return float((1 / bands) ** (1 / rows))


def papers_banding(samples: int, threshold: float) -> Part:
    """(bands, rows) of the papers' rule: of those that use as many samples as they can, the one whose `steepest` is nearest to the threshold. For study."""
    rows = np.arange(1, samples + 1)
    off = np.abs((1 / (samples // rows)) ** (1 / rows) - threshold)
    best = int(np.argmin(off))
    return samples // int(rows[best]), int(rows[best])


def background() -> tuple[Floats, Floats]:
    """Resemblances of pairs that nobody looks for, and their shares: exponential around 0, and for a few pairs, of like subject or form, less steep.

    The numbers are near those of the corpora of docs/bands.md.
    """
    values = np.arange(0, FOUND, 1 / 400)
    unrelated, related = (np.exp(-values / mean) for mean in (UNRELATED, RELATED))
    return values, (1 - SHARE) * unrelated / unrelated.sum() + SHARE * related / related.sum()


def by_chance(component: Component, rows: NDArray[np.int64], r1: float = 0.0, r2: float = 0.0) -> Floats:
    """The chance that a pair of the background agrees in a band of so many rows."""
    values, shares = background()
    p = np.clip(agreement(component, values, r1, r2)[0], 0, 1)
    return np.asarray((p[None, :] ** rows[:, None].astype(np.float64)) @ shares)


def _options(component: Component, threshold: float, offered: int, wanted: float, documents: int, r1: float, r2: float) -> Options:
    """Every number of bands and rows that is worth a try, and no band at all."""
    p = float(np.clip(agreement(component, threshold, r1, r2)[0], 0, 1))
    rows = _ladder(offered)
    chance = by_chance(component, rows, r1, r2)
    pieces = [np.zeros((1, 2), np.int64)]
    for width in rows.tolist():
        evidence = float(_evidence(np.float64(p**width)))
        enough = math.ceil(min(wanted / evidence, offered)) if 0 < evidence < wanted else 1
        bands = _ladder(min(offered // width, max(enough, 1)))
        pieces.append(np.stack([bands, np.full(len(bands), width)], axis=1))
    parts = np.concatenate(pieces)
    place = np.searchsorted(rows, parts[:, 1]) % max(len(rows), 1)
    bands = parts[:, 0].astype(np.float64)
    pairs = documents * (documents - 1) / 2
    cost = np.asarray(bands * (KEY * documents + PAIR * pairs * (chance[place] if len(rows) else 0)), np.float64)
    with np.errstate(invalid="ignore"):
        evidence_of_all: Floats = np.where(bands > 0, bands * _evidence(p ** parts[:, 1].astype(np.float64)), 0)
    return cost, evidence_of_all, parts[:, None, :]


def _ladder(most: int) -> NDArray[np.int64]:
    """1 to `most`: every number at first, then in steps that grow; `most` itself always."""
    grown = LADDER * STEP ** np.arange(max(0, math.ceil(math.log(max(most, 1) / LADDER, STEP))))
    return np.unique(np.concatenate([np.arange(1, min(most, LADDER) + 1), np.minimum(grown.astype(np.int64), most), [most]]))[(0 if most else 1) :]


def _combined(one: Options, other: Options) -> Options:
    """Each option of one with each of the other."""
    cost = (one[0][:, None] + other[0][None, :]).reshape(-1)
    evidence = (one[1][:, None] + other[1][None, :]).reshape(-1)
    return cost, evidence, np.concatenate([np.repeat(one[2], len(other[2]), axis=0), np.tile(other[2], (len(one[2]), 1, 1))], axis=1)


def _frontier(cost: Floats, evidence: Floats, parts: NDArray[np.int64], wanted: float) -> Options:
    """The options that no cheaper one matches, cheapest first. Evidence beyond what is wanted counts for nothing."""
    evidence = np.minimum(evidence, wanted)
    order = np.lexsort((-evidence, cost))
    best = np.maximum.accumulate(evidence[order])
    kept = order[np.concatenate([[True], best[1:] > best[:-1]])]
    return cost[kept], evidence[kept], parts[kept]


def _evidence(agreeing: ArrayLike) -> Floats:
    """-log of the chance that a band which agrees with this probability does not."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.asarray(agreeing, np.float64)))


def _unreachable(layout: Layout, threshold: float, recall: float, samples: int | None, r1: float, r2: float) -> str:
    """What to say: the most that can be had is had by bands of one sample each."""
    offered = [component.samples if samples is None else component.samples * min(samples, layout.samples) // layout.samples for component in layout.components]
    best = sum(count * float(_evidence(np.clip(agreement(component, threshold, r1, r2)[0], 0, 1))) for count, component in zip(offered, layout.components, strict=True))
    reach = -math.expm1(-best)
    most = f"at most {reach:.17g}" if reach < 1 else "less than 1"
    return (
        f"recall is {recall:.17g}; allowed at threshold {threshold:g} with {sum(offered)} samples in bands: {most}, which takes bands of one sample each; more samples reach more"
    )


def _check(threshold: float, recall: float, samples: int | None) -> None:
    for name, value in (("threshold", threshold), ("recall", recall)):
        if not 0 < value <= 1:
            raise BadOption(f"{name} is {value}; allowed: above 0 and at most 1")
    if samples is not None and samples < 1:
        raise BadOption(f"samples is {samples}; allowed: 1 or more")
