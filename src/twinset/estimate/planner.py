"""Which layout serves a purpose best: V3 at a threshold, over every sensible layout (theory.md, section 5). docs/decisions/007-planner.md gives the reasons.

Information adds up over samples, so a choice is a linear programme: words and permutations are limited, information is wanted, and the sketch must tell
`lowest` from nothing. Where two of these limits bind, two kinds of sample are all that a best layout needs, but for what whole blocks of 64 samples leave over;
mixtures of three are not tried.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from twinset.errors import BadOption
from twinset.estimate.pivot import ALMOST_ONE, TINY
from twinset.estimate.probability import agreement, turning
from twinset.estimate.similarities import Similarities, precision_recall
from twinset.estimate.variance import V3, V4, information
from twinset.layout import MAX_SAMPLES, MAX_XOR, WORD, Component, Layout, parse, step

Kind = tuple[int, int]  # bits, xor

BYTES = WORD // 8
MAX_WORDS = MAX_SAMPLES // WORD
AROUND = 0.1  # errors are also shown this far from the threshold, and a sketch must still see this far below it
PER_BIT = 4  # permutations for each stored bit, unless the caller sets a budget
TOLD = 1.96**2  # the deviance at which counts rule a resemblance out at 95 %
WORTH = 0.99  # an error at least 1 % smaller is worth a longer name, or a note
XORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
NAMED = ("64", "32", "16", "8", "4", "3", "2.5", "2", "1.75", "1.5", "1.25", "1", "3/4", *(f"1/{m}" for m in XORS))
KINDS = [(1, m) for m in range(1, MAX_XOR + 1)] + [(b, 1) for b in (2, 3, 4, 5, 6, 7, 8, 16, 32, 64)]


@dataclass(frozen=True)
class Demand:
    """What a sketch has to do, and what it may cost: exactly one of `bytes`, `error` and `precision` is given."""

    threshold: float
    bytes: int | None = None
    error: float | None = None
    precision: float | None = None
    permutations: int | None = None
    lowest: float | None = None
    similarities: Similarities | None = None
    r1: float = 0.0
    r2: float = 0.0

    def __post_init__(self) -> None:
        stated = [name for name in ("bytes", "error", "precision") if getattr(self, name) is not None]
        if len(stated) != 1:
            raise BadOption(f"a plan got {' and '.join(stated) or 'none of bytes, error and precision'}; allowed: exactly one of bytes, error and precision")
        for name in ("threshold", "error", "precision"):
            within(name, getattr(self, name), 0, 1)
        if self.bytes is not None and not BYTES <= self.bytes <= MAX_WORDS * BYTES:
            raise BadOption(f"bytes is {self.bytes}; allowed: {BYTES} (one packed word) to {MAX_WORDS * BYTES}")
        if self.permutations is not None and self.permutations < 1:
            raise BadOption(f"permutations is {self.permutations}; allowed: 1 or more")
        if self.precision is not None and self.similarities is None:
            raise BadOption("precision is asked for without similarities; allowed: also say how resemblances are distributed, such as similarities='0:0.9+0.5:0.05+0.85:0.05'")
        self._check_densities()
        within("lowest", self.lowest, self.least, self.threshold)

    def _check_densities(self) -> None:
        if not (0 <= self.r1 <= 1 and 0 <= self.r2 <= 1 and (self.r1 > 0) == (self.r2 > 0)):
            raise BadOption(f"densities r1 and r2 are {self.r1:g} and {self.r2:g}; allowed: both 0, or both above 0 and at most 1")
        if not self.least < self.threshold < self.largest:
            raise BadOption(f"threshold is {self.threshold:g}; allowed for sets of densities {self.r1:g} and {self.r2:g}: between {self.least:g} and {self.largest:g}")

    @property
    def least(self) -> float:
        """The smallest resemblance that sets of these densities can have: above 0 when they do not fit side by side."""
        shared = max(self.r1 + self.r2 - 1, 0)
        return shared / (self.r1 + self.r2 - shared) if shared else 0.0

    @property
    def largest(self) -> float:
        """R_max."""
        return min(self.r1, self.r2) / max(self.r1, self.r2) if self.r1 > 0 else 1.0

    @property
    def needed(self) -> float:
        """The resemblance that a sketch must tell from the smallest possible one."""
        if self.lowest is not None:
            return self.lowest
        return max(self.threshold - AROUND, (self.threshold + self.least) / 2)

    def lanes(self, words: int) -> int:
        """The permutations that a sketch of so many words may take."""
        return self.permutations or PER_BIT * WORD * words

    @cached_property
    def kinds(self) -> list[tuple[Kind, tuple[float, float, float, float]]]:
        """The kinds of sample worth mixing, each with the words, lanes, information and deviance of a block of 64: no other costs less and tells more."""
        every = [(kind, self._block(Layout("", (Component(WORD, *kind),)))) for kind in KINDS]
        table = np.array([block for _, block in every]) * (1, 1, -1, -1)
        below = (table[:, None] <= table).all(axis=2) & (table[:, None] < table).any(axis=2)
        return [each for each, beaten in zip(every, np.atleast_1d(below.any(axis=0)), strict=True) if not beaten and each[1][2] > 0]

    def _block(self, layout: Layout) -> tuple[float, float, float, float]:
        told = deviance(layout, self.needed, self)
        # An even XOR among dense sets carries information below its turning point too, but no estimate can use it.
        return layout.words, layout.lanes, float(information(layout, self.threshold, self.r1, self.r2)) if told else 0.0, told


@dataclass(frozen=True)
class Choice:
    """One layout: what it costs and how well it serves. `bits` and `samples` are the options of MinHash."""

    bits: str
    samples: int
    bytes: int
    permutations: int
    error: float  # standard error at the threshold
    errors: tuple[tuple[float, float], ...]  # (resemblance, standard error) around the threshold
    lowest: float  # the smallest resemblance that counts typical of it tell from nothing
    storage_factor: float  # V4 at the threshold
    saving: float  # bytes that 64-bit values need for the same error, over the bytes of this sketch
    precision: float | None = None
    recall: float | None = None
    ns_per_shingle: float | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        result = {f.name: getattr(self, f.name) for f in fields(self)}
        around = [{"resemblance": at, "error": error if math.isfinite(error) else None} for at, error in self.errors]
        return {**result, "errors": around}


@dataclass(frozen=True)
class Plan:
    """Choices, best first, and notes on what a limit kept out."""

    demand: Demand
    choices: tuple[Choice, ...]
    notes: tuple[str, ...]

    @property
    def best(self) -> Choice:
        return self.choices[0]

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    def to_dict(self) -> dict[str, Any]:
        """What `twinset plan --json` prints."""
        names = ("threshold", "bytes", "error", "precision", "permutations", "r1", "r2")
        asked = {name: getattr(self.demand, name) for name in names} | {"lowest": self.demand.needed}
        first, *others = (choice.to_dict() for choice in self.choices)
        return {**asked, "best": first, "runners_up": others, "notes": list(self.notes)}


def choose(demand: Demand) -> Plan:
    """The layouts that meet the demand, best first: by error for given bytes, else by bytes. Each costs fewer permutations than any before it."""
    named = (_sized(name, demand) for name in NAMED)
    choices = _front(sorted((_judged(layout, demand) for layout in named if layout), key=lambda choice: _rank(choice, demand)))
    mixtures = [_judged(layout, demand) for layout in (_sized(None, demand),) if layout]
    choices = [mixture for mixture in mixtures if not choices or _earns(mixture, choices[0], demand)] + choices
    if not choices:
        raise BadOption(_impossible(demand))
    choices = [replace(choice, why=_why(choice, choices[0], demand)) for choice in choices]
    return Plan(demand, tuple(choices), tuple(_notes(choices[0], demand)))


def deviance(layout: Layout, resemblance: float, demand: Demand) -> float:
    """How surely counts typical of R rule out the smallest possible resemblance: 2 sum k_i KL(p_i(R) || p_i(least)), a squared normal deviate.

    Among dense sets an even XOR sees nothing below its turning point, which then stands for the smallest resemblance.
    """
    r1, r2 = demand.r1, demand.r2
    least = max(demand.least, *(float(turning(part, r1, r2)) for part in layout.components))
    if resemblance <= least:
        return 0.0
    total = 0.0
    for part in layout.components:
        p, q = (float(np.clip(agreement(part, at, r1, r2)[0], TINY, ALMOST_ONE)) for at in (resemblance, least))
        total += 2 * part.samples * (p * math.log(p / q) + (1 - p) * (math.log1p(-p) - math.log1p(-q)))
    return total


def lowest(layout: Layout, demand: Demand) -> float:
    """The smallest resemblance that counts typical of it tell from the smallest possible one, at 95 %; the largest possible if none."""
    low, high = demand.least, demand.largest
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if deviance(layout, middle, demand) >= TOLD else (middle, high)
    return high


def _sized(name: str | None, demand: Demand) -> Layout | None:
    """The named layout (None: the best mixture) in the given bytes or in the fewest that do; None if there is no such size."""
    if demand.bytes is not None:
        layout = _fitted(name, demand.bytes // BYTES, demand)
        return layout if layout is not None and deviance(layout, demand.needed, demand) >= TOLD else None
    words = _fewest(lambda words: _serves(_fitted(name, words, demand), demand))
    return None if words is None else _fitted(name, words, demand)


def _serves(layout: Layout | None, demand: Demand) -> bool:
    """Whether a layout reaches the error or the precision asked for, and sees low enough."""
    if layout is None or deviance(layout, demand.needed, demand) < TOLD:
        return False
    if demand.precision is None or demand.similarities is None:
        return _error(layout, demand) <= (demand.error or 0)
    return precision_recall(layout, demand.threshold, demand.similarities, demand.r1, demand.r2)[0] >= demand.precision


def _fewest(serves: Callable[[int], bool]) -> int | None:
    """The fewest words that serve, found by doubling and halving."""
    high = 1
    while not serves(high):
        high *= 2
        if high > MAX_WORDS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return high


def _fitted(name: str | None, words: int, demand: Demand) -> Layout | None:
    """The largest sketch of the named layout (None: the best mixture) within so many words and the permutations that go with them."""
    if name is None:
        return _mixture(words, demand)
    unit, lanes = step(name), demand.lanes(words)
    low, high = 0, min(MAX_SAMPLES, words * WORD) // unit + 1
    while high - low > 1:
        middle = (low + high) // 2
        layout = parse(name, middle * unit)
        low, high = (middle, high) if layout.words <= words and layout.lanes <= lanes else (low, middle)
    return parse(name, low * unit) if low else None


def _mixture(words: int, demand: Demand) -> Layout | None:
    """Of all layouts of two kinds in whole blocks the one of most information that sees low enough."""
    table = np.array([block for _, block in demand.kinds])
    left, right = np.triu_indices(len(table))
    (w1, l1, i1, t1), (w2, l2, i2, t2) = table[left].T[..., None], table[right].T[..., None]
    lanes = demand.lanes(words)
    most = np.minimum(words // w1, lanes // l1)
    with np.errstate(divide="ignore", invalid="ignore"):
        corner = np.floor(np.nan_to_num((words * l2 - lanes * w2) / (w1 * l2 - l1 * w2), posinf=0, neginf=0))  # where both limits are met
    near = np.arange(WORD)  # blocks are whole, so the optimum may lie a little beside a corner
    first = np.clip(np.concatenate([near + 0 * most, most - near, corner + near - WORD // 2], axis=1), 0, most)
    second = np.minimum((words - first * w1) // w2, (lanes - first * l1) // l2)
    gained = np.where(first * t1 + second * t2 >= TOLD, first * i1 + second * i2, 0)
    if not gained.max(initial=0) > 0:
        return None
    pair, place = np.unravel_index(int(gained.argmax()), gained.shape)
    return _blocks([(demand.kinds[left[pair]][0], int(first[pair, place])), (demand.kinds[right[pair]][0], int(second[pair, place]))])


def _blocks(counts: list[tuple[Kind, int]]) -> Layout:
    """The layout of so many blocks of 64 samples of each kind, under its shortest name."""
    merged = {kind: sum(count for each, count in counts if each == kind) for kind, count in counts if count}
    total = sum(merged.values())
    if len(merged) == 1:
        return parse(_kind_name(*merged), WORD * total)
    (low, high), share = merged, Fraction(merged[max(merged)], total)
    if low[1] == high[1] == 1 and abs(high[0] - low[0]) == 1 and (1000 * share).denominator == 1:
        return parse(f"{float(min(low, high)[0] + share):g}", WORD * total)
    return parse("+".join(f"{_kind_name(kind)}:{Fraction(count, total)}" for kind, count in merged.items()), WORD * total)


def _kind_name(kind: Kind) -> str:
    bits, xor = kind
    return f"1/{xor}" if xor > 1 else str(bits)


def _judged(layout: Layout, demand: Demand) -> Choice:
    r1, r2, at = demand.r1, demand.r2, demand.threshold
    error = _error(layout, demand)
    whole = float(V3(parse("64", 1), at, r1, r2))
    around = sorted({max(round(at - AROUND, 12), demand.least), at, min(round(at + AROUND, 12), demand.largest)})
    share = precision_recall(layout, at, demand.similarities, r1, r2) if demand.similarities is not None else (None, None)
    return Choice(
        bits=layout.text,
        samples=layout.samples,
        bytes=layout.words * BYTES,
        permutations=layout.lanes,
        error=error,
        errors=tuple((place, math.sqrt(V3(layout, place, r1, r2))) for place in around),
        lowest=lowest(layout, demand),
        storage_factor=float(V4(layout, at, r1, r2)),
        saving=whole / error**2 / layout.words,
        precision=share[0],
        recall=share[1],
    )


def _earns(mixture: Choice, named: Choice, demand: Demand) -> bool:
    """Whether a mixture is enough better than a layout with a short name."""
    return mixture.error < WORTH * named.error if demand.bytes is not None else mixture.bytes < named.bytes


def _front(ranked: list[Choice]) -> list[Choice]:
    """Without those that a better one beats in permutations too."""
    least = np.minimum.accumulate([math.inf, *(choice.permutations for choice in ranked)])
    return [choice for choice, before in zip(ranked, least[:-1], strict=True) if choice.permutations < before]


def _rank(choice: Choice, demand: Demand) -> tuple[float, float, int]:
    """Equal results go to fewer permutations."""
    first = (choice.error, choice.bytes) if demand.bytes is not None else (choice.bytes, choice.error)
    return (*first, choice.permutations)


def _why(choice: Choice, best: Choice, demand: Demand) -> str:
    """One sentence: how the choice stands against the best, and where that comes from."""
    plain = float(V4(parse("1", 1), demand.threshold, demand.r1, demand.r2))
    worth = f"a stored bit tells {plain / choice.storage_factor:.2f} times what one plain bit tells at {demand.threshold:g}"
    cost = f"{choice.permutations} permutations"
    if choice is best:
        aim = "least error in the bytes given" if demand.bytes is not None else "fewest bytes that do"
        return f"{aim}: {worth}, for {cost}"
    if demand.bytes is not None:
        return f"error {choice.error / best.error - 1:.1%} above the best: {worth}, for {cost}"
    return f"{choice.bytes / best.bytes:.2f} times the bytes of the best: {worth}, for {cost}"


def _notes(best: Choice, demand: Demand) -> Iterator[str]:
    """What would be better if a limit were wider."""
    words = (demand.bytes or best.bytes) // BYTES
    wide = _mixture(words, replace(demand, permutations=MAX_XOR * WORD * words))
    if wide and _error(wide, demand) < WORTH * best.error:
        limit = f"the budget of {demand.permutations}" if demand.permutations else f"{PER_BIT} for each stored bit"
        yield f"permutations are limited to {limit}; {wide.lanes} of them, in layout {wide.text!r}, give an error of {_error(wide, demand):.2g} in {words * BYTES} bytes"
    blind = _mixture(words, replace(demand, lowest=demand.threshold * (1 - 1e-9)))
    if blind and _error(blind, demand) < WORTH * best.error:
        yield (
            f"layout {blind.text!r} gives an error of {_error(blind, demand):.2g} in {words * BYTES} bytes, but tells nothing below {lowest(blind, demand):.2f}; "
            f"a sketch must tell {demand.needed:g} from nothing unless `lowest` says otherwise"
        )


def _error(layout: Layout, demand: Demand) -> float:
    """The standard error at the threshold."""
    return math.sqrt(V3(layout, demand.threshold, demand.r1, demand.r2))


def _impossible(demand: Demand) -> str:
    budget = f" with {demand.permutations} permutations" if demand.permutations else ""
    sight = f"tells {demand.needed:g} from nothing"
    if demand.bytes is not None:
        words = _fewest(lambda words: _mixture(words, demand) is not None)
        enough = f"{words * BYTES} bytes or more" if words else "more permutations"
        return f"bytes is {demand.bytes}, where no layout{budget} {sight}, as threshold {demand.threshold:g} needs; allowed: {enough}, or a lower `lowest`"
    wanted = f"error {demand.error:g}" if demand.error is not None else f"precision {demand.precision:g}"
    return f"{wanted} at threshold {demand.threshold:g} is out of reach{budget} in {MAX_WORDS * BYTES} bytes; allowed: a weaker target or more permutations"


def within(name: str, value: float | None, low: float, high: float) -> None:
    """Raise BadOption unless the value, if there is one, lies between."""
    if value is not None and not low < value < high:
        raise BadOption(f"{name} is {value:g}; allowed: between {low:g} and {high:g}, both excluded")
