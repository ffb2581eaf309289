"""What the papers print wrong, what is right instead, and the evidence: one function for each erratum, by simulation or exact enumeration.

`python -m twinset.studies.errata` prints them all; docs/errata.md discusses what they show. Simulations sketch real sets with the product's own hashing.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.probability import C1, C2
from twinset.estimate.variance import V1, V2, printed_variance, storage_ratio
from twinset.layout import Layout, parse, step
from twinset.sketch.minhash import MinHash
from twinset.sketch.sketches import Sketches

TRIALS = 20_000  # pairs of sets in each row of a simulation
SEED = 2012
BATCH = 1000  # pairs under one seed of the hash functions
UNION = 300  # elements of both sets of a simulated pair together
SAMPLES = 1000  # k of the papers' experiments
SPARSE = 1e-10  # r1 = r2 of the papers' figures
MOST_BITS = 32  # the largest b2 that the optimal-fraction paper allows
UNIVERSE = 1000  # of the permutations that show the wrong constant
PERMUTED = 1 << 16  # samples there: the false term is then several standard errors
UNEQUAL, EQUAL, ALIKE = (900, 600, 590), (700, 700, 600), (950, 800, 790)  # sizes of two sets in that universe, and what they share
MODULI = 1000
HASHES = 200  # hash functions of the UPC report

TABLE_1 = (  # Li and Koenig: words, r1, r2, R, B(32)/B(1), B(64)/B(1), all as printed
    ("KONG-HONG", "0.0145", "0.0143", "0.925", "15.5", "31.0"),
    ("RIGHTS-RESERVED", "0.187", "0.172", "0.877", "16.6", "32.2"),
    ("OF-AND", "0.570", "0.554", "0.771", "20.4", "40.8"),
    ("GAMBIA-KIRIBATI", "0.0031", "0.0028", "0.712", "13.3", "26.6"),
    ("UNITED-STATES", "0.062", "0.061", "0.591", "12.4", "24.8"),
    ("SAN-FRANCISCO", "0.049", "0.025", "0.476", "10.7", "21.4"),
    ("CREDIT-CARD", "0.046", "0.041", "0.285", "7.3", "14.6"),
    ("TIME-JOB", "0.189", "0.05", "0.128", "4.3", "8.6"),
    ("LOW-PAY", "0.045", "0.043", "0.112", "3.4", "6.8"),
    ("A-TEST", "0.596", "0.035", "0.052", "3.1", "6.2"),
)

Value = str | int | float


@dataclass(frozen=True)
class Erratum:
    """One error in print: where it stands, what is printed, what is right, and a table of evidence."""

    where: str
    printed: str
    right: str
    header: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def table(self) -> list[str]:
        """The evidence as lines of text, header first."""
        cells = [self.header, *(tuple(_text(value) for value in row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]

    def __str__(self) -> str:
        return "\n".join([self.where, f"  printed: {self.printed}", f"  right:   {self.right}", *(f"    {line}" for line in self.table)])


def squared_weights(trials: int = TRIALS, seed: int = SEED) -> Erratum:
    """k times the variance of E1 at R = 0.5: printed, V1, and measured on pairs of random sets."""
    resemblance, rows = 0.5, []
    one, two, ten, eleven = (parse(bits, SAMPLES) for bits in ("1", "2", "10", "11"))
    for layout in (one, _pair("1.5", 1, 2), two, ten, _pair("10.4", 10, 11), _pair("10.4", 9, 12), _pair("10.4", 8, 13), eleven):
        squares = layout.samples * (_raw(layout, resemblance, trials, seed) - resemblance) ** 2
        printed, true = (float(layout.samples * form(layout, resemblance, SPARSE, SPARSE)) for form in (printed_variance, V1))
        rows.append((_bits_of(layout), printed, true, float(squares.mean()), float(squares.std() / trials**0.5)))
    return Erratum(
        "Yuan et al., both fractional-bit papers: the variance of a fractional-bit estimate (eqs 17, 20, 42; 17, 21)",
        "the weights w_i enter squared",
        "the weights enter once (V1), since the mean of w_i k samples has variance E_i (1 - E_i) / (w_i k)",
        ("layout", "printed k Var", "true k Var", "measured", "+-"),
        tuple(rows),
    )


def best_pair() -> Erratum:
    """Which pair b1 < f < b2 <= 32 has the least variance, under the printed formula and under V1, by trying every pair."""
    rows = []
    for fraction, resemblance in product(("1.5", "2.5", "3.25", "10.4"), (0.2, 0.5, 0.8)):
        floor = int(Fraction(fraction))
        layouts = {(low, high): _pair(fraction, low, high) for low in range(1, floor + 1) for high in range(floor + 1, MOST_BITS + 1)}
        printed, true = ({pair: float(each.samples * form(each, resemblance, SPARSE, SPARSE)) for pair, each in layouts.items()} for form in (printed_variance, V1))
        first, second = min(printed, key=printed.__getitem__), min(true, key=true.__getitem__)
        rows.append((fraction, resemblance, str(first), printed[first], printed[floor, floor + 1], str(second), true[second], true[first]))
    return Erratum(
        "Yuan et al., optimal fractional bits, eq 21 and figure 1: floor and ceiling of f are the best pair",
        "the claim, resting on eq 21 with squared weights",
        "the claim holds under V1 in every case tried; under the printed formula it fails for 3.25 and 10.4",
        ("f", "R", "best as printed", "printed k Var", "printed, floor/ceiling", "best in truth", "true k Var", "true, best as printed"),
        tuple(rows),
    )


def wrong_constant(samples: int = PERMUTED, seed: int = SEED) -> Erratum:
    """E2 with C2 in the numerator, as printed, and with C1, on two sets under true permutations of a small universe."""
    rows = []
    for bits, (left, right, shared) in (("1/4", UNEQUAL), ("1/4", EQUAL), ("1/8", ALIKE), ("1/8", EQUAL)):
        truth, r1, r2 = shared / (left + right - shared), left / UNIVERSE, right / UNIVERSE
        sets = [range(left), range(left - shared, left - shared + right)]
        sketches = MinHash(bits=bits, samples=samples, family="permutations", universe=UNIVERSE, seed=seed).sketch_sets(sets)
        one, other = sketches.samples()
        part = sketches.config.layout.components[0]
        printed = _printed_xor(float((one == other).mean()), part.xor, r1, r2)
        excess = float((C1(1, r1, r2) - C2(1, r1, r2)) / (1 - C2(1, r1, r2)))
        rows.append((bits, r1, r2, truth, truth + excess, printed, float(sketches.resemblance([0], [1]).raw[0]), float(V2(part, truth, r1, r2) ** 0.5)))
    return Erratum(
        "Yuan et al., f-fractional bits: the estimators of 1/4, 1/8 ... 1/2^n bit (eqs 29, 30, 32)",
        "1 - 2 C2 in the numerator",
        "1 - 2 C1 (E2), as the paper's own eqs 24 and 25 have it for 1/2 bit; the two are equal only if r1 = r2",
        ("layout", "r1", "r2", "true R", "printed tends to", "printed gave", "with C1", "+-"),
        tuple(rows),
    )


def table_1() -> Erratum:
    """Storage ratios of word pairs from the printed r1, r2 and R, and the range that the rounding of those three leaves open."""
    rows: list[tuple[Value, ...]] = []
    for words, *inputs, half, whole in TABLE_1:
        r1, r2, resemblance = map(float, inputs)
        corners = [storage_ratio(64, 1, R, a, b) for a, b, R in product(*map(_rounded, inputs))]
        low, high = float(min(corners)), float(max(corners))
        verdict = "yes" if low - 0.05 <= float(whole) <= high + 0.05 else "no"
        rows.append((words, half, float(storage_ratio(32, 1, resemblance, r1, r2)), whole, float(storage_ratio(64, 1, resemblance, r1, r2)), low, high, verdict))
    return Erratum(
        "Li and Koenig, b-bit minwise hashing, table 1: B(64)/B(1)",
        "32.2 for RIGHTS-RESERVED; the other entries are twice the rounded B(32)/B(1)",
        "33.16 for RIGHTS-RESERVED; doubling what was rounded moves six other entries by one in the last digit, three of them beyond what the inputs allow",
        ("words", "B32/B1 printed", "computed", "B64/B1 printed", "computed", "at least", "at most", "possible"),
        tuple(rows),
    )


def leftover_test() -> Erratum:
    """How often `absolute < minError` holds after the band search, over all thresholds in hundredths and up to 200 hash functions."""
    outcomes = [_band_search(hashes, hundredth / 100)[1] for hashes in range(1, HASHES + 1) for hundredth in range(101)]
    return Erratum(
        "UPC report, section 6.2: the pseudo-code that inserts candidate pairs",
        "if absolute < minError, variables left over from the band search of the algorithm before",
        "if i < j: each pair belongs under its earlier document; the printed test never holds, so every pair goes under the later one",
        ("band searches", "test held"),
        ((len(outcomes), sum(outcomes)),),
    )


def modular_hash() -> Erratum:
    """For every z up to 1000: does x -> (x p + m) mod z permute 0 to z - 1, and for how many m do {0} and {z / gcd} agree, which share nothing?"""
    rows: list[tuple[Value, ...]] = []
    for p in (2, 3, 5, 7, 11):
        coprime = [z for z in range(2, MODULI + 1) if gcd(p, z) == 1]
        others = [z for z in range(2, MODULI + 1) if gcd(p, z) > 1]
        agreeing = sum(m == (z // gcd(p, z) * p + m) % z for z in others for m in range(z))
        rows.append((p, len(coprime), sum(_permutes(p, z) for z in coprime), len(others), sum(_permutes(p, z) for z in others), agreeing / sum(others)))
    return Erratum(
        "UPC report, section 4.2.2.1.1: the modular hash (k p + m) mod z stands for a permutation",
        "p is a prime",
        "p must have no factor in common with z; a prime that divides z maps p shingles to one value",
        ("p", "z with gcd 1", "permute", "z with gcd > 1", "permute", "agreement at R = 0"),
        tuple(rows),
    )


def threshold_recall(trials: int = TRIALS, seed: int = SEED) -> Erratum:
    """Of pairs exactly at the threshold asked for, how many share a band when bands are chosen by (1/b)^(1/r)."""
    rows = []
    for hashes, asked in product((100, HASHES), (0.5, 0.8, 0.9)):
        bands = _band_search(hashes, asked)[0]
        length = hashes // bands
        found = _sharing_a_band(hashes, bands, asked, trials, seed)
        better = min(b for b in _divisors(hashes) if _recall(b, hashes // b, asked) >= 0.99)
        near = (1 / bands) ** (1 / length)
        recalls = (_recall(bands, length, near), _recall(bands, length, asked))
        error = (recalls[1] * (1 - recalls[1]) / trials) ** 0.5
        rows.append((hashes, asked, f"{bands} x {length}", f"{better} x {hashes // better}", near, *recalls, found, error))
    return Erratum(
        "UPC report, section 5.2, eq 5: bands and rows from a threshold t by t = (1/b)^(1/r)",
        "the candidates are those that we want with the threshold t",
        "at (1/b)^(1/r) the recall is 1 - (1 - 1/b)^b: 0.67 for 5 bands, 0.63 for many; choose b and r by the recall expected at t",
        ("hashes", "t", "bands x rows", "for recall 0.99", "(1/b)^(1/r)", "recall there", "recall at t", "measured", "+-"),
        tuple(rows),
    )


def every(trials: int = TRIALS, samples: int = PERMUTED, seed: int = SEED) -> Iterator[Erratum]:
    """All errata, in the order of docs/errata.md."""
    yield squared_weights(trials, seed)
    yield best_pair()
    yield wrong_constant(samples, seed)
    yield table_1()
    yield leftover_test()
    yield modular_hash()
    yield threshold_recall(trials, seed)


def pairs(resemblance: float, count: int, random: np.random.Generator) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Pairs of equally large sets of random elements, UNION in each union, as (values, offsets): the sets of pair i are rows 2 i and 2 i + 1."""
    size = (UNION + round(resemblance * UNION)) // 2
    elements = random.integers(0, 1 << 64, (count, UNION), np.uint64)
    values = np.stack([elements[:, :size], elements[:, -size:]], axis=1)
    return values.reshape(-1), np.arange(0, values.size + 1, size)


def _sketched(bits: str, samples: int, resemblance: float, trials: int, seed: int) -> Iterator[Sketches]:
    """Sketches of such pairs, in batches with hash functions of their own."""
    random = np.random.default_rng([seed, samples, round(1000 * resemblance), *bits.encode()])
    for first in range(0, trials, BATCH):
        sketcher = MinHash(bits=bits, samples=samples, seed=int(random.integers(1 << 63)))
        yield sketcher.sketch_sets(pairs(resemblance, min(BATCH, trials - first), random))


def _raw(layout: Layout, resemblance: float, trials: int, seed: int) -> NDArray[np.float64]:
    """The unbounded estimate (E1) of each simulated pair."""
    batches = _sketched(layout.text, layout.samples, resemblance, trials, seed)
    return np.concatenate([each.resemblance(np.arange(0, len(each), 2), np.arange(1, len(each), 2)).raw for each in batches])


def _sharing_a_band(hashes: int, bands: int, resemblance: float, trials: int, seed: int) -> float:
    """The share of simulated pairs whose whole minima agree in all rows of some band."""
    found = 0
    for each in _sketched("64", hashes, resemblance, trials, seed):
        minima = each.samples()
        same = (minima[0::2] == minima[1::2]).reshape(-1, bands, hashes // bands)
        found += int(same.all(axis=2).any(axis=1).sum())
    return found / trials


def _recall(bands: int, rows: int, resemblance: float) -> float:
    """The chance that a pair shares at least one band of whole minima."""
    return 1 - (1 - resemblance**rows) ** bands


def _band_search(hashes: int, threshold: float) -> tuple[int, bool]:
    """The UPC report's number of bands, and what its `absolute < minError` says once the search has ended."""
    bands, error, absolute = 1, 1.0, 1.0
    for divisor in _divisors(hashes):
        absolute = abs((1 / divisor) ** (divisor / hashes) - threshold)
        if absolute < error:
            bands, error = divisor, absolute
    return bands, absolute < error


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def _permutes(p: int, z: int) -> bool:
    """Whether x -> x p mod z, and with it every x -> (x p + m) mod z, takes all values."""
    return len({x * p % z for x in range(z)}) == z


def _printed_xor(agreed: float, xor: int, r1: float, r2: float) -> float:
    """E2 as the f-fractional paper prints it for 1/4 bit and less (eq 32)."""
    twice = 2 * float(C2(1, r1, r2))
    return float((max(2 * agreed - 1, 0) ** (1 / xor) + 1 - twice) / (2 - twice))


def _pair(fraction: str, low: int, high: int) -> Layout:
    """f bits from samples of `low` and of `high` bits, SAMPLES in all or as many as divide so."""
    share = (Fraction(fraction) - low) / (high - low)
    name = f"{low}:{1 - share}+{high}:{share}"
    return parse(name, step(name) * max(1, SAMPLES // step(name)))


def _bits_of(layout: Layout) -> str:
    if len(layout.components) == 1:
        return layout.text
    return f"{float(layout.bits):g} = " + " + ".join(f"{part.samples / layout.samples:.4g} of {part.bits}" for part in layout.components)


def _rounded(printed: str) -> tuple[float, float]:
    """The ends of what rounds to a printed number."""
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    return float(printed) - half, float(printed) + half


def _text(value: Value) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def main(arguments: list[str] | None = None) -> None:
    """Print every erratum with its evidence."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=TRIALS, help="pairs of sets in each row of a simulation")
    parser.add_argument("--samples", type=int, default=PERMUTED, help="samples of the sketches under true permutations")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}, {options.trials} pairs in each row of a simulation, {options.samples} samples under true permutations")
    for erratum in every(options.trials, options.samples, options.seed):
        print(f"\n{erratum}")


if __name__ == "__main__":
    main()
