"""Are the estimates what the formulas say? Bias, mean square error against theory, and coverage of every layout on real hash functions.

`python -m twinset.studies.accuracy --out docs/accuracy.csv` writes one row for each (family, keys, size, resemblance, layout), and goes on where an
interrupted run stopped. A draw is one set and several others that resemble it more or less, of new elements under a new seed; its minima serve all layouts.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.sets import from_sets
from twinset.estimate import probability
from twinset.estimate.resemblance import estimate
from twinset.estimate.variance import V1, V2, V3
from twinset.kernels import agreement, packing
from twinset.kernels import minhash as kernels
from twinset.layout import Layout, parse, step
from twinset.sketch.families import study_minima
from twinset.sketch.seeds import splitmix64

LAYOUTS = ("64", "8", "4", "2", "1", "1.25", "1.5", "1.75", "10.4", "1/2", "1/4", "1/8", "3/4", "1:0.5+2:0.25+4:0.25")
SAMPLES = 1024
SIZES = (5, 50, 1000, 100_000)
LARGE = 1000  # sets above this take most of the time
NOMINAL = (0.1, 0.5, 0.8, 0.95)
KEYS = ("random", "consecutive")
FAMILIES = ("production", "modular", "jenkins", "universal", "tabulation", "permutations")
TRIALS = 20_000  # sketches wanted of every layout
LANES = 8192  # drawn at a time: one sketch of 1/8 bit, eight of whole bits
UNIVERSE = 1 << 14  # of the family "permutations"
BATCH = 16
FIELDS = ("family", "keys", "size", "resemblance", "layout", "samples", "trials", "bias", "bias_z", "raw_ratio", "ratio", "ratio_error", "delta", "coverage")

Drawn = list[tuple[NDArray[Any], NDArray[Any]]]  # for each cell the finished minima of both sets: uint32 (2, draws, lanes), uint64 (2, draws, lanes)


@dataclass(frozen=True)
class Cell:
    """One experiment: the set of the first `left + common` elements against that of the last `common + right`."""

    family: str
    keys: str
    size: int
    left: int
    common: int
    right: int

    @property
    def union(self) -> int:
        return self.left + self.common + self.right

    @property
    def resemblance(self) -> float:
        return self.common / self.union


Group = tuple[Cell, ...]  # the cells of one family, kind of keys and size: drawn together, since they share their left set


def cell(family: str, keys: str, size: int, nominal: float) -> Cell:
    """The sets, one of `size` elements and neither inside the other, whose resemblance comes nearest to `nominal`."""
    best = min(
        ((common, other) for common in _around(size, nominal) for other in range(common + 1, common + size + 2) if other - common <= 2 * (size - common) + size),
        key=lambda pair: (abs(pair[0] / (size + pair[1] - pair[0]) - nominal), abs(pair[1] - size)),
    )
    return Cell(family, keys, size, size - best[0], best[0], best[1] - best[0])


def _around(size: int, nominal: float) -> range:
    common = round(2 * size * nominal / (1 + nominal))
    return range(max(1, common - 2), max(2, min(size, common + 3)))


def groups() -> list[Group]:
    """Every experiment, the longest last, without the repeats that small sets cause. A study family's cost keeps its sets to LARGE elements."""
    every = [key for key in product(FAMILIES, KEYS, SIZES) if key[0] == "production" or key[2] <= LARGE]
    return [tuple(dict.fromkeys(cell(*key, nominal) for nominal in NOMINAL)) for key in sorted(every, key=lambda key: key[2] > LARGE)]


def measure(group: Group, draws: int, layouts: tuple[str, ...] = LAYOUTS) -> list[dict[str, Any]]:
    """One row of results for each cell and layout. A draw gives as many sketches as its lanes hold, and no more than TRIALS needs."""
    most = min(-(-TRIALS // draws), LANES // SAMPLES)
    found: dict[tuple[Cell, str], list[NDArray[np.int32]]] = {key: [] for key in product(group, layouts)}
    for batch in _batches(group, draws, most * SAMPLES):
        for experiment, (narrow, wide) in zip(group, batch, strict=True):
            for name in layouts:
                found[experiment, name].append(_agreeing(wide if name == "64" else narrow, _layout(name), most))
    return [_row(experiment, _layout(name), np.concatenate(parts)) for (experiment, name), parts in found.items()]


def _layout(name: str) -> Layout:
    return parse(name, SAMPLES - SAMPLES % step(name))


def _batches(group: Group, draws: int, wide: int) -> Iterator[Drawn]:
    """The minima of some draws at a time: LANES of 32 bits, and `wide` of 64 bits."""
    first = group[0]
    random = np.random.default_rng([first.size, *first.keys.encode()])
    cuts = np.array(sorted({0, *(cut for c in group for cut in (c.left, c.size, c.union))}))
    make = _production if first.family == "production" else _study
    for begin in range(0, draws, BATCH):
        elements = [_elements(first, int(cuts[-1]), random) for _ in range(min(BATCH, draws - begin))]
        yield make(group, elements, cuts, random, wide)


def _elements(experiment: Cell, count: int, random: np.random.Generator) -> NDArray[np.uint64]:
    """New elements in the order of the sets. Consecutive keys start at 0 every other time, as row numbers do."""
    limit = UNIVERSE if experiment.family == "permutations" else 1 << (63 if experiment.family == "production" else 32)
    if experiment.keys == "consecutive":
        return np.uint64(random.integers(2) * random.integers(limit - count)) + np.arange(count, dtype=np.uint64)
    if limit == UNIVERSE:
        return random.choice(UNIVERSE, count, replace=False).astype(np.uint64)
    return random.integers(limit, size=count, dtype=np.uint64)


def _production(group: Group, elements: list[NDArray[np.uint64]], cuts: NDArray[np.int64], random: np.random.Generator, wide: int) -> Drawn:
    """Each draw under its own seed, in at the product's own door."""
    narrow_minima, wide_minima = np.empty((len(group), 2, len(elements), LANES), np.uint32), np.empty((len(group), 2, len(elements), wide), np.uint64)
    pieces32, pieces64 = np.empty((len(cuts) - 1, LANES), np.uint32), np.empty((len(cuts) - 1, wide), np.uint64)
    for i, drawn in enumerate(elements):
        words, shingles = splitmix64(int(random.integers(1 << 63)), LANES), from_sets((drawn, cuts))
        narrow = (words >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
        kernels.minima32(shingles.values, shingles.offsets, 0, len(shingles), narrow, pieces32)
        kernels.minima64(shingles.values, shingles.offsets, 0, len(shingles), words[:wide] | np.uint64(1), pieces64)
        for c, experiment in enumerate(group):
            both = _sets(experiment, pieces32, cuts)
            kernels.finish32(both, 2, 0, LANES, narrow)
            narrow_minima[c, :, i], wide_minima[c, :, i] = both, _sets(experiment, pieces64, cuts)
    return list(zip(narrow_minima, wide_minima, strict=True))


def _study(group: Group, elements: list[NDArray[np.uint64]], cuts: NDArray[np.int64], random: np.random.Generator, wide: int) -> Drawn:
    """All draws of a batch under one seed: tables and permutations take longer to make than to use."""
    family = group[0].family
    config = Config(family=family, seed=int(random.integers(1 << 63)), universe=UNIVERSE if family == "permutations" else 0)
    offsets = np.concatenate([[0], *(cuts[1:] + i * cuts[-1] for i in range(len(elements)))])
    minima = study_minima(config, np.concatenate(elements), offsets, LANES).reshape(len(elements), len(cuts) - 1, LANES).transpose(1, 0, 2)
    every = [_sets(experiment, minima, cuts) for experiment in group]
    return [(both, both[:, :, :wide].astype(np.uint64)) for both in every]


def _sets(experiment: Cell, pieces: NDArray[Any], cuts: NDArray[np.int64]) -> NDArray[Any]:
    """From the minima of the pieces between the cuts to those of the two sets of a cell."""
    begin, left_end, end = np.searchsorted(cuts, [experiment.left, experiment.size, experiment.union])
    return np.stack([pieces[:left_end].min(axis=0), pieces[begin:end].min(axis=0)])


def _agreeing(minima: NDArray[Any], layout: Layout, most: int) -> NDArray[np.int32]:
    """Agreeing samples (draws, sketches, components) of up to `most` sketches that the lanes of every draw hold: the product's own packer and comparer."""
    lanes, draws = layout.lanes, minima.shape[1]
    sketches = min(minima.shape[2] // lanes, most)
    parts = np.array([(part.samples, part.bits, part.xor) for part in layout.components], np.int64)
    packed = []
    for side in minima:
        samples = np.ascontiguousarray(side[:, : sketches * lanes]).reshape(draws * sketches, lanes)
        packed.append(np.empty((draws * sketches, layout.words), np.uint64))
        packing.pack(samples, len(samples), parts, packed[-1])
    rows = np.arange(draws * sketches)
    out = np.empty((draws * sketches, len(parts)), np.int32)
    agreement.agree_pairs(packed[0], rows, packed[1], rows, parts, out)
    return out.reshape(draws, sketches, len(parts))


def _row(experiment: Cell, layout: Layout, agreeing: NDArray[np.int32]) -> dict[str, Any]:
    truth, trials = experiment.resemblance, agreeing.shape[0] * agreeing.shape[1]
    universe = UNIVERSE if experiment.family == "permutations" else 0
    left, right = experiment.size, experiment.common + experiment.right
    result = estimate(layout, agreeing.reshape(trials, -1), np.full(trials, left), np.full(trials, right), universe=universe)
    r1, r2 = (left / universe, right / universe) if universe else (0.0, 0.0)
    variance = float(V3(layout, truth, r1, r2))
    error = (result.raw - truth).reshape(agreeing.shape[:2])
    square = ((result.value - truth) ** 2).reshape(agreeing.shape[:2])
    alone = 1 if experiment.family == "production" else BATCH
    return {
        "family": experiment.family,
        "keys": experiment.keys,
        "size": experiment.size,
        "resemblance": f"{truth:.4f}",
        "layout": layout.text,
        "samples": layout.samples,
        "trials": trials,
        "bias": f"{error.mean():.6f}",
        "bias_z": f"{error.mean() / _standard_error(error, alone):.2f}" if _unbiased(layout) else "",
        "raw_ratio": f"{(error**2).mean() / raw_variance(layout, truth, r1, r2):.4f}",
        "ratio": f"{square.mean() / variance:.4f}",
        "ratio_error": f"{_standard_error(square, alone) / variance:.4f}",
        "delta": int(_delta(layout, truth, min(left, right) / max(left, right), r1, r2)),
        "coverage": f"{((result.low <= truth) & (truth <= result.high)).mean():.4f}",
    }


def _standard_error(values: NDArray[np.float64], together: int) -> float:
    """Of the mean of (draws, sketches). Sketches of one draw share their elements, and so many draws share their hash functions: only groups of those are independent."""
    groups = values[: len(values) // together * together].reshape(len(values) // together, -1)
    return float(groups.mean(axis=1).std(ddof=1) / len(groups) ** 0.5)


def _unbiased(layout: Layout) -> bool:
    return all(part.xor == 1 for part in layout.components)


def raw_variance(layout: Layout, truth: float, r1: float, r2: float) -> float:
    """What theory says of the raw estimate: V1, V2 for one XOR, and nothing for mixtures with XORs."""
    if _unbiased(layout):
        return float(V1(layout, truth, r1, r2))
    return float(V2(layout.components[0], truth, r1, r2)) if len(layout.components) == 1 else np.nan


def _delta(layout: Layout, truth: float, most: float, r1: float, r2: float) -> bool:
    """Whether the delta method applies: an expansion about the truth, it needs both ends of the range, 0 and `most`, to be standard errors away.

    Four will do where agreement is straight in R; where it bends, at an XOR, the lower end must be eight away.
    """
    p, blind = (np.array([float(probability.agreement(part, at, r1, r2)[0]) for part in layout.components]) for at in (truth, 0.0))
    counts = np.array([part.samples for part in layout.components])
    with np.errstate(divide="ignore"):  # wide samples never agree by chance
        divergence = (counts * (p * np.log(p / blind) + (1 - p) * np.log((1 - p) / (1 - blind)))).sum()
    above = most - truth > 4 * float(V3(layout, truth, r1, r2)) ** 0.5
    return bool(above and (2 * divergence) ** 0.5 > (4 if _unbiased(layout) else 8))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiments and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("docs/accuracy.csv"))
    parser.add_argument("--draws", type=int, default=TRIALS, help="draws of sets of up to 1000 elements")
    parser.add_argument("--large", type=int, default=TRIALS // 4, help="draws of larger sets")
    parser.add_argument("--study", type=int, default=2000, help="draws for the papers' families")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    partial = options.out.with_suffix(".partial")
    done = _done(partial)
    todo = [group for group in groups() if _key(group[0]) not in done]
    draws = [options.study if group[0].family != "production" else options.large if group[0].size > LARGE else options.draws for group in todo]
    with ProcessPoolExecutor(options.processes) as pool, partial.open("a", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        if not done:
            table.writeheader()
        for number, rows in enumerate(pool.map(measure, todo, draws), 1):
            table.writerows(rows)
            file.flush()
            print(f"{number} of {len(todo)}: {', '.join(_key(todo[number - 1][0]))}", file=sys.stderr)
    partial.replace(options.out)
    with options.out.open(newline="") as file:
        print(summary(list(csv.DictReader(file))))


def summary(table: list[dict[str, str]]) -> str:
    """The table in short, in Markdown: each family under each kind of keys, then each layout under the production family."""
    head = "{} | cells | worst bias | ratio of E4 | ratio of raw | coverage |"
    lines = [head.format("| family | keys"), "|---|---|---|---|---|---|---|"]
    for family, keys in product(FAMILIES, KEYS):
        lines.append(f"| {family} | {keys} | {_extremes([row for row in table if (row['family'], row['keys']) == (family, keys)])} |")
    lines += ["", head.format("| layout"), "|---|---|---|---|---|---|"]
    for layout in LAYOUTS:
        lines.append(f"| `{layout}` | {_extremes([row for row in table if (row['family'], row['layout']) == ('production', layout)])} |")
    return "\n".join(lines)


def _extremes(rows: list[dict[str, str]]) -> str:
    """Number of rows, largest bias in standard errors, and the ranges of both ratios (where the delta method applies) and of the coverage."""
    worst = max((abs(float(row["bias_z"])) for row in rows if row["bias_z"]), default=None)
    delta = [row for row in rows if row["delta"] == "1"]
    ranges = [_range(delta, "ratio"), _range(delta, "raw_ratio"), _range(rows, "coverage")]
    return " | ".join([str(len(rows)), "–" if worst is None else f"{worst:.1f}", *ranges])


def _range(rows: list[dict[str, str]], name: str) -> str:
    values = [float(row[name]) for row in rows if row[name] != "nan"]
    return f"{min(values):.3f} to {max(values):.3f}" if values else "–"


def _key(experiment: Cell) -> tuple[str, str, str]:
    return experiment.family, experiment.keys, str(experiment.size)


def _done(partial: Path) -> set[tuple[str, str, str]]:
    """The groups that an interrupted run has finished."""
    if not partial.exists():
        return set()
    with partial.open(newline="") as file:
        return {(row["family"], row["keys"], row["size"]) for row in csv.DictReader(file)}


if __name__ == "__main__":
    main()
