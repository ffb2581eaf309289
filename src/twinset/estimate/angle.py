"""From differing bits of two fingerprints to the cosine of two documents: Pr(bit differs) = theta / pi (theory.md, section 6)."""

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption

Floats = NDArray[np.float64]
ROUNDS = 60  # halvings of [0, 1]


@dataclass(frozen=True)
class Cosine:
    """The cosine of each pair with both ends of its interval."""

    value: Floats
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.value)


def differing(cosine: ArrayLike) -> Floats:
    """The probability that a bit differs between two documents of this cosine: theta / pi."""
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) / np.pi)


def cosine(distance: ArrayLike, bits: int, *, level: float = 0.95, nothing: ArrayLike = False) -> Cosine:
    """cos(pi d / bits) for distances of `bits` independent bits, with the interval of Clopper and Pearson. Where `nothing` is true, all three are 0.

    The interval covers at `level` or above if a bit differs with probability theta / pi: exactly so with Gaussian directions, nearly so with signs.
    """
    if not 0 < level < 1:
        raise BadOption(f"level is {level}; allowed: more than 0 and less than 1")
    found, absent = np.asarray(distance, np.int64), np.asarray(nothing, bool)
    if found.size and not 0 <= found.min() <= found.max() <= bits:
        raise BadOption(f"a distance is {found.min() if found.min() < 0 else found.max()}; allowed: 0 to {bits}")
    least, most = _shares(bits, level)
    shares = (found / bits, most[found], least[found])
    return Cosine(*(np.where(absent, 0.0, np.cos(np.pi * share)) for share in shares))


@cache
def _shares(bits: int, level: float) -> tuple[Floats, Floats]:
    """For each distance 0 to bits, both ends of the exact interval for the probability that a bit differs (Clopper & Pearson 1934)."""
    distances, alarm = np.arange(bits + 1), (1 - level) / 2
    low, high = np.zeros(bits + 1), np.ones(bits + 1)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        short = _at_most(distances, bits, middle) > alarm  # as few as d are still likely: the upper end is higher
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    most = np.where(distances == bits, 1.0, high)
    return 1 - most[::-1], most


def _at_most(distances: NDArray[np.int64], bits: int, share: Floats) -> Floats:
    """P(X <= d) for X binomial with `bits` trials, for each d with its own share."""
    k = np.arange(bits + 1)
    choices = np.array([float(comb(bits, int(i))) for i in k])
    terms = choices * share[:, None] ** k * (1 - share[:, None]) ** (bits - k)
    return np.asarray(np.where(k <= distances[:, None], terms, 0.0).sum(axis=1))
