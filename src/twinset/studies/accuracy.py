"""Are the estimates what the formulas say? Bias, mean square error against theory, and coverage of every layout on real hash functions.

`python -m twinset.studies.accuracy --out docs/accuracy.csv` writes one row for each (family, keys, size, resemblance, layout). A draw is two sets of
new elements under a new seed; its minima serve all layouts, and as many sketches of 1024 samples as they hold.
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
from twinset.estimate import probability
from twinset.estimate.resemblance import estimate
from twinset.estimate.variance import V1, V2, V3
from twinset.kernels import agreement, packing
from twinset.kernels import minhash as kernels
from twinset.kernels.shingles import mix_all
from twinset.layout import Layout, parse, step
from twinset.sketch.families import study_minima
from twinset.sketch.seeds import splitmix64

LAYOUTS = ("64", "8", "4", "2", "1", "1.25", "1.5", "1.75", "10.4", "1/2", "1/4", "1/8", "3/4", "1:0.5+2:0.25+4:0.25")
SAMPLES = 1024
SIZES = (5, 50, 1000, 100_000)
NOMINAL = (0.1, 0.5, 0.8, 0.95)
KEYS = ("random", "consecutive")
NARROW, WIDE, STUDY_LANES = 8192, 2048, 8192  # lanes of 32 and of 64 bits drawn at a time
UNIVERSE = 1 << 16  # of the family "permutations"
BATCH = 16
FIELDS = ("family", "keys", "size", "resemblance", "layout", "samples", "trials", "bias", "bias_z", "raw_ratio", "ratio", "ratio_error", "delta", "coverage")


@dataclass(frozen=True)
class Cell:
    """One experiment: two sets of `left + common` and `common + right` elements."""

    family: str
    keys: str
    size: int
    left: int
    common: int
    right: int

    @property
    def resemblance(self) -> float:
        return self.common / (self.left + self.common + self.right)


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


def cells(families: tuple[str, ...]) -> list[Cell]:
    """Every experiment, without the repeats that small sets cause. A study family's universe and cost keep its sets to 1000 elements."""
    every = (cell(family, keys, size, nominal) for family, keys, size, nominal in product(families, KEYS, SIZES, NOMINAL) if family == "production" or size <= 1000)
    return list(dict.fromkeys(every))


def measure(experiment: Cell, draws: int, layouts: tuple[str, ...] = LAYOUTS) -> list[dict[str, Any]]:
    """One row of results for each layout."""
    found: dict[str, list[NDArray[np.int32]]] = {name: [] for name in layouts}
    for narrow, wide in _batches(experiment, draws):
        for name in layouts:
            layout = _layout(name)
            found[name].append(_agreeing(wide if name == "64" else narrow, layout))
    return [_row(experiment, _layout(name), np.concatenate(parts)) for name, parts in found.items()]


def _layout(name: str) -> Layout:
    return parse(name, SAMPLES - SAMPLES % step(name))


def _batches(experiment: Cell, draws: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Finished minima of both sets, uint32 (2, draws, lanes) and uint64 (2, draws, lanes), some draws at a time."""
    random = np.random.default_rng([experiment.size, experiment.common, experiment.right, *experiment.keys.encode()])
    for first in range(0, draws, BATCH):
        elements = [_elements(experiment, random) for _ in range(min(BATCH, draws - first))]
        bounds = np.cumsum([0, experiment.left, experiment.common, experiment.right])
        if experiment.family == "production":
            made = [_production(each, bounds, int(random.integers(1 << 63))) for each in elements]
            yield np.stack([narrow for narrow, _ in made], axis=1), np.stack([wide for _, wide in made], axis=1)
        else:
            yield _study(experiment.family, elements, bounds, int(random.integers(1 << 63)))


def _elements(experiment: Cell, random: np.random.Generator) -> NDArray[np.uint64]:
    """New elements: those of the left set only, the common ones, those of the right set only."""
    union = experiment.left + experiment.common + experiment.right
    limit = UNIVERSE if experiment.family == "permutations" else 1 << (63 if experiment.family == "production" else 32)
    if experiment.keys == "consecutive":
        return np.uint64(random.integers(limit - union)) + np.arange(union, dtype=np.uint64)
    if limit == UNIVERSE:
        return random.choice(UNIVERSE, union, replace=False).astype(np.uint64)
    return random.integers(limit, size=union, dtype=np.uint64)


def _production(elements: NDArray[np.uint64], bounds: NDArray[np.int64], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    values = np.empty_like(elements)
    mix_all(elements, values)
    words = splitmix64(seed, NARROW)
    narrow, wide = (words >> np.uint64(32)).astype(np.uint32) | np.uint32(1), words[:WIDE] | np.uint64(1)
    minima32, minima64 = np.empty((3, NARROW), np.uint32), np.empty((3, WIDE), np.uint64)
    kernels.minima32(values, bounds, 0, 3, narrow, minima32)
    kernels.minima64(values, bounds, 0, 3, wide, minima64)
    both = _sets(minima32)
    kernels.finish32(both, 2, 0, NARROW, narrow)
    return both, _sets(minima64)


def _study(family: str, elements: list[NDArray[np.uint64]], bounds: NDArray[np.int64], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """All draws of a batch under one seed: tables and permutations take longer to make than to use."""
    config = Config(family=family, seed=seed, universe=UNIVERSE if family == "permutations" else 0)
    offsets = np.concatenate([[0], *(bounds[1:] + i * bounds[-1] for i in range(len(elements)))])
    minima = study_minima(config, np.concatenate(elements), offsets, STUDY_LANES).reshape(len(elements), 3, STUDY_LANES)
    both = _sets(minima.transpose(1, 0, 2))
    return both, both.astype(np.uint64)


def _sets(parts: NDArray[Any]) -> NDArray[Any]:
    """From the minima of left only, common, right only to those of the two sets."""
    both: NDArray[Any] = np.minimum(parts[:2], parts[1:])
    return both


def _agreeing(minima: NDArray[Any], layout: Layout) -> NDArray[np.int32]:
    """Agreeing samples of every sketch that the lanes of every draw hold: the product's own packer and comparer."""
    lanes, draws = layout.lanes, minima.shape[1]
    sketches = minima.shape[2] // lanes
    parts = np.array([(part.samples, part.bits, part.xor) for part in layout.components], np.int64)
    packed = []
    for side in minima:
        samples = np.ascontiguousarray(side[:, : sketches * lanes]).reshape(draws * sketches, lanes)
        packed.append(np.empty((draws * sketches, layout.words), np.uint64))
        packing.pack(samples, len(samples), parts, packed[-1])
    rows = np.arange(draws * sketches)
    out = np.empty((draws * sketches, len(parts)), np.int32)
    agreement.agree_pairs(packed[0], rows, packed[1], rows, parts, out)
    return out


def _row(experiment: Cell, layout: Layout, agreeing: NDArray[np.int32]) -> dict[str, Any]:
    truth, trials = experiment.resemblance, len(agreeing)
    universe = UNIVERSE if experiment.family == "permutations" else 0
    left, right = experiment.left + experiment.common, experiment.common + experiment.right
    result = estimate(layout, agreeing, np.full(trials, left), np.full(trials, right), universe=universe)
    r1, r2 = (left / universe, right / universe) if universe else (0.0, 0.0)
    whole_bits = all(part.xor == 1 for part in layout.components)
    raw_variance = float(V1(layout, truth, r1, r2)) if whole_bits else float(V2(layout.components[0], truth, r1, r2)) if len(layout.components) == 1 else np.nan
    variance = float(V3(layout, truth, r1, r2))
    error = result.raw - truth
    square = (result.value - truth) ** 2
    # The delta method is an expansion about the truth: it needs both ends of the range far away, and further where agreement bends with R.
    p, _ = agreement_of(layout, truth, r1, r2)
    blind, _ = agreement_of(layout, 0.0, r1, r2)
    counts = np.array([part.samples for part in layout.components])
    divergence = (counts * (p * np.log(p / blind) + (1 - p) * np.log((1 - p) / (1 - blind)))).sum()
    far = min(left, right) / max(left, right) - truth > 4 * variance**0.5
    delta = far and (2 * divergence) ** 0.5 > (4 if whole_bits else 8)
    return {
        "family": experiment.family,
        "keys": experiment.keys,
        "size": experiment.size,
        "resemblance": f"{truth:.4f}",
        "layout": layout.text,
        "samples": layout.samples,
        "trials": trials,
        "bias": f"{error.mean():.6f}",
        "bias_z": f"{error.mean() / (error.std() / trials**0.5):.2f}" if whole_bits else "",
        "raw_ratio": f"{(error**2).mean() / raw_variance:.4f}",
        "ratio": f"{square.mean() / variance:.4f}",
        "ratio_error": f"{square.std() / trials**0.5 / variance:.4f}",
        "delta": int(delta),
        "coverage": f"{((result.low <= truth) & (truth <= result.high)).mean():.4f}",
    }


def agreement_of(layout: Layout, resemblance: float, r1: float, r2: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """p and p' of every component."""
    pairs = [probability.agreement(part, resemblance, r1, r2) for part in layout.components]
    return np.array([float(p) for p, _ in pairs]), np.array([float(slope) for _, slope in pairs])


def main(arguments: list[str] | None = None) -> None:
    """Run the experiments and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("docs/accuracy.csv"))
    parser.add_argument("--draws", type=int, default=20_000, help="draws for sets of up to 1000 elements")
    parser.add_argument("--large", type=int, default=2_500, help="draws for larger sets")
    parser.add_argument("--study", type=int, default=2_500, help="draws for the papers' families")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    todo = cells(("production", "modular", "jenkins", "universal", "tabulation", "permutations"))
    draws = [options.study if c.family != "production" else options.large if c.size > 1000 else options.draws for c in todo]
    with ProcessPoolExecutor(options.processes) as pool, options.out.with_suffix(".partial").open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        for done, rows in enumerate(pool.map(measure, todo, draws), 1):
            table.writerows(rows)
            file.flush()
            print(f"{done} of {len(todo)}: {todo[done - 1]}", file=sys.stderr)
    options.out.with_suffix(".partial").replace(options.out)


if __name__ == "__main__":
    main()
