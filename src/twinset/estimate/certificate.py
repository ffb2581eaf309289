"""How many pairs a search missed, judged from those it found (promise P3; theory.md, section 7; docs/decisions/017-certificate.md).

A pair of similarity s is found with a probability p(s) that is known beforehand. So each found pair stands for 1 / p(s) pairs, and the sum of 1 / p(s) - 1 is an
unbiased estimate of the number missed (Horvitz and Thompson 1952). The number missed is itself random: the interval is one for it, and not for its mean.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.probability import Floats

Together = Callable[[Floats], Floats]  # the probability that two pairs of one component, both of this similarity, are both missed
COUNTED = 100.0  # above this mean, quantiles come from the gamma distribution's cube-root formula
SKEWED = 5.0  # shapes below which that formula is no good
GRID = 33
STEPS = 401
MOST = 1 << 20


@dataclass(frozen=True)
class Certificate:
    """What a search can say of itself: `missed` pairs at or above the threshold were not found, between missed_low and missed_high at the level."""

    threshold: float
    detection: float  # the probability that a pair at the threshold is found
    found: int
    missed: float
    missed_low: int
    missed_high: int
    level: float

    @property
    def recall(self) -> float:
        """The share of pairs that was found, as estimated."""
        return self.found / (self.found + self.missed) if self.found else 1.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"recall": self.recall}


def certify(
    threshold: float, at_threshold: float, found: Floats, weight: Floats, *, level: float = 0.95, component: NDArray[np.int64] | None = None, excess: Floats | None = None
) -> Certificate:
    """The certificate of a search.

    found: the probability with which each found pair was found. weight: how many pairs are found exactly when it is, as pairs of repeats of its documents are.
    component, excess: pairs of one component are missed together more often than chance has it, by `excess` = P(both missed) - P(missed)^2 for a couple like
    this pair; without them, misses are independent.
    """
    missed = float((weight * (1 - found) / found).sum())
    variance = float((weight**2 * (1 - found) / found**2).sum())
    if component is not None and excess is not None and len(found):
        variance += _shared(weight / found, found, component, excess)
    low, high = missed_range(missed, variance, at_threshold, level)
    return Certificate(threshold, at_threshold, int(weight.sum()), missed, low, high, level)


def missed_range(mean: float, variance: float, at_threshold: float, level: float) -> tuple[int, int]:
    """From the lower to the upper quantile of the number missed. The upper end allows for one more pair at the threshold than was found: for a kind not seen at all."""
    tail = (1 - level) / 2
    one = (1 - at_threshold) / at_threshold if at_threshold else math.inf
    if math.isinf(one):
        return 0, 1 << 62
    return quantile(mean, variance, tail), quantile(mean + one, variance + one / at_threshold, 1 - tail)


def quantile(mean: float, variance: float, probability: float) -> int:
    """Of a negative binomial number of this mean and variance; of a Poisson number if the variance is not larger."""
    if mean <= 0:
        return 0
    variance = max(variance, mean * (1 + 1e-9))
    shape = mean**2 / variance
    if mean > COUNTED and shape < SKEWED:  # a few heavy lots: the cube root fails, and counting in larger units does not
        return round(quantile(COUNTED, variance * (COUNTED / mean) ** 2, probability) * mean / COUNTED)
    if mean > COUNTED:
        z = NormalDist().inv_cdf(probability)
        return max(0, round(mean * max(1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape)), 0) ** 3))
    size = mean**2 / (variance - mean)
    stay = (variance - mean) / variance  # the chance of one more
    log_mass, total, count = -size * math.log1p(mean / size), 0.0, 0
    while (total := total + math.exp(log_mass)) < probability and count < MOST:
        log_mass += math.log(size + count) - math.log(count + 1) + math.log(stay)
        count += 1
    return count


def _shared(unit: Floats, found: Floats, component: NDArray[np.int64], excess: Floats) -> float:
    """What dependence within components adds to the variance: over couples, the product of what they stand for, times the excess over the chance that both are found."""
    labels = np.unique(component, return_inverse=True)[1]
    total, square = np.bincount(labels, unit), np.bincount(labels, unit**2)
    count = np.bincount(labels)
    rate = np.bincount(labels, excess / np.maximum(found**2 + excess, 1e-12)) / count
    return float((np.maximum(rate, 0) * (total**2 - square)).sum())


def excess_missing(missed: Floats, together: Floats) -> Floats:
    """P(both missed) - P(missed)^2."""
    return np.maximum(together - missed**2, 0)


def both_bands_missed(p: Floats, rows: int, bands: int, correlation: float) -> Floats:
    """Two pairs whose samples agree with probability p each, and with this correlation, are both missed by so many bands."""
    one = p**rows
    both = (p**2 + correlation * p * (1 - p)) ** rows
    return np.asarray((1 - 2 * one + both) ** bands)


def both_scans_missed(missed: Floats, correlation: float) -> Floats:
    """Two pairs are both missed when two normal deviates of this correlation both exceed the limit that one exceeds with probability `missed`."""
    normal = NormalDist()
    root = math.sqrt(max(1 - correlation**2, 1e-12))
    result = np.empty(len(missed))
    for i, each in enumerate(missed.tolist()):
        limit = normal.inv_cdf(1 - min(max(each, 1e-15), 1 - 1e-15))
        x = np.linspace(limit, max(limit, 0) + 8, STEPS)
        beyond = np.array([normal.pdf(at) * (1 - normal.cdf((limit - correlation * at) / root)) for at in x.tolist()])
        result[i] = float((beyond[1:] + beyond[:-1]).sum() / 2 * (x[1] - x[0]))
    return result


def on_grid(values: Floats, lowest: float, function: Callable[[Floats], Floats]) -> Floats:
    """A smooth function of many similarities, evaluated at a few and read off between them."""
    points = np.linspace(lowest, 1, GRID)
    return np.asarray(np.interp(values, points, function(points)))
