"""Intervals for R that cover at their nominal rate, near the ends of its range too.

The pivot. At a resemblance R0 the score, a weighted sum of the agreeing samples, has a known distribution: each count is binomial with p_i(R0). Its
tail probability, by the saddlepoint formula (Barndorff-Nielsen's r*), is turned into a standard normal deviate z(R0), which falls as R0 grows.
For one component this reproduces the binomial mid-p value; unlike the plain likelihood ratio it stays right when only a few samples disagree.

The targets. Far from the ends of [lower, upper] the interval is |z(R0)| <= 1.96 (at level 0.95). Near them the likelihood-ratio ordering of Feldman
and Cousins decides which deviates each R0 accepts, so that the interval is never empty and a true R at the end is covered at the nominal rate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.probability import Floats, agreement
from twinset.layout import Layout

Step = Callable[[NDArray[np.intp], Floats], Floats]

TOLERANCE = 1e-13
ROUNDS = 80
TILTS = 4  # Newton rounds for the tilt; the deviate depends on its error only in second order
NEAR_ZERO = 1e-4  # where an XOR of 64 still has weights that a float can hold
TINY = 1e-200
ALMOST_ONE = 1 - 2.0**-53


@dataclass(frozen=True)
class Evidence:
    """What a group of pairs shows: agreeing (n, components), densities r1 and r2 (n,), all float64, under one layout."""

    layout: Layout
    agreeing: Floats
    r1: Floats
    r2: Floats

    def take(self, rows: NDArray[np.intp]) -> "Evidence":
        return Evidence(self.layout, self.agreeing[rows], self.r1[rows], self.r2[rows])

    @property
    def samples(self) -> Floats:
        return np.array([part.samples for part in self.layout.components], np.float64)

    def agreement(self, resemblance: Floats) -> tuple[Floats, Floats]:
        """p and p' (n, components) at one resemblance for each pair."""
        parts = [agreement(part, resemblance, self.r1, self.r2) for part in self.layout.components]
        return np.stack([p for p, _ in parts], axis=1), np.stack([slope for _, slope in parts], axis=1)


def likelihood_step(evidence: Evidence, resemblance: Floats) -> Floats:
    """Fisher's scoring step towards the maximum of the likelihood: score over information; its sign is the score's."""
    p, slope = evidence.agreement(resemblance)
    weight = slope / np.maximum(p * (1 - p), TINY)
    score = (weight * (evidence.agreeing - evidence.samples * p)).sum(axis=1)
    return np.asarray(score / np.maximum((weight * slope * evidence.samples).sum(axis=1), TINY))


def solve(step: Step, low: Floats, high: Floats) -> Floats:
    """The root of a falling function on [low, high], given near-Newton steps towards it with the right sign; an end where the root lies beyond it.

    `step(rows, at)` answers for the rows that have not settled. A step that leaves its bracket, or is not half the one before, becomes a bisection.
    """
    everything, first = np.arange(len(low)), low
    root = np.where(step(everything, low) < 0, low, np.where(step(everything, high) >= 0, high, (low + high) / 2))
    rows = np.flatnonzero((root > low) & (root < high))
    low, high, previous = low.copy(), high.copy(), high - low
    for _ in range(ROUNDS):
        if not rows.size:
            break
        at = root[rows]
        move = step(rows, at)
        low[rows] = np.where(move > 0, at, low[rows])
        high[rows] = np.where(move > 0, high[rows], at)
        bottom, top = low[rows], high[rows]
        # A step of exactly 0 is below the resolution of p, as for an XOR near R = 0: go on to the lowest R that fits.
        tame = (move != 0) & (at + move >= bottom) & (at + move <= top) & (np.abs(move) <= previous[rows] / 2)
        root[rows] = np.where(tame, at + move, (bottom + top) / 2)
        previous[rows] = np.abs(root[rows] - at)
        rows = rows[(top - bottom > TOLERANCE) & (previous[rows] > TOLERANCE)]
    return np.where(root - first < 10 * TOLERANCE, first, root)


def deviate(evidence: Evidence, resemblance: Floats) -> Floats:
    """z(R0): the standard normal deviate of the score's mid-tail probability at R0. Positive when more samples agree than R0 predicts."""
    p, _ = evidence.agreement(resemblance)
    p = np.clip(p, TINY, ALMOST_ONE)
    weight = _weights(evidence, resemblance)
    samples, agreeing = evidence.samples, evidence.agreeing
    full = (agreeing == samples).all(axis=1)
    none = (agreeing == 0).all(axis=1)
    result = _saddlepoint(agreeing, samples, p, weight)
    result[full] = _half_tail((samples * np.log(p[full])).sum(axis=1))
    result[none] = -_half_tail((samples * np.log1p(-p[none])).sum(axis=1))
    return result


def likelihood_interval(evidence: Evidence, lower: Floats, upper: Floats, level: float) -> tuple[Floats, Floats]:
    """Both ends of the interval on [lower, upper]. An upper end of 1 needs no care of its own: all samples agree there."""
    below = deviate(evidence, lower)
    above = np.where(upper < 1, -deviate(evidence, upper), np.inf)
    low, high = targets(below, above, level)
    return where_deviate(evidence, low, lower, upper), where_deviate(evidence, high, lower, upper)


def where_deviate(evidence: Evidence, target: Floats, lower: Floats, upper: Floats) -> Floats:
    """The resemblance on [lower, upper] whose deviate is `target`."""

    def step(rows: NDArray[np.intp], at: Floats) -> Floats:
        some = evidence.take(rows)
        p, slope = some.agreement(at)
        # The deviate falls by about the root of the information for each unit of R.
        information = (some.samples * slope**2 / np.maximum(p * (1 - p), TINY)).sum(axis=1)
        return np.asarray((deviate(some, at) - target[rows]) / np.sqrt(np.maximum(information, TINY)))

    return solve(step, lower, upper)


def reach(level: float) -> float:
    """A boundary further than this from the estimate, in deviates, leaves the interval as it is."""
    return 2 * NormalDist().inv_cdf((1 + level) / 2)


def targets(below: Floats, above: Floats, level: float) -> tuple[Floats, Floats]:
    """The deviates at which an interval starts and ends, given how many deviates the estimate lies above the lower and below the upper end."""
    near_low, near_high = _bounded(below, level)
    far_low, far_high = _bounded(above, level)
    return np.where(above >= 0, near_low, -far_high), np.where(below >= 0, -far_low, near_high)


def _bounded(distance: Floats, level: float) -> tuple[Floats, Floats]:
    """The deviates at both ends of the interval when only a boundary `distance` deviates below the estimate is near; infinite: at the boundary."""
    delta, accepted_above, accepted_below = _acceptance(level)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    start = np.interp(distance, delta + accepted_above, delta, left=0.0)
    stop = np.interp(distance, delta + accepted_below, delta)
    first = np.where(start > 0, distance - start, np.inf)
    return np.where(distance < reach(level), first, normal), np.where(distance < 0, distance - stop, -normal)


@cache
def _acceptance(level: float) -> tuple[Floats, Floats, Floats]:
    """For a mean delta >= 0 of a unit normal deviate: delta, and the highest and lowest deviate from it that the unified interval accepts."""
    normal = NormalDist().inv_cdf((1 + level) / 2)
    delta = np.geomspace(1e-4, normal, 1000)
    root = np.array([_critical(float(d), level) for d in delta])
    return delta, root, _lowest(root, delta)


def _critical(delta: float, level: float) -> float:
    """The root of c(delta): Phi(sqrt c) - Phi(lowest) = level."""
    cdf = NormalDist().cdf
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        if cdf(middle) - cdf(float(_lowest(np.float64(middle), np.float64(delta)))) < level:
            low = middle
        else:
            high = middle
    return high


def _lowest(root: Floats | np.float64, delta: Floats | np.float64) -> Floats:
    """The lowest accepted deviate: below the boundary the likelihood ratio is measured from the boundary, not from the data."""
    return np.where(root <= delta, -root, -(root**2 + delta**2) / (2 * delta))


def _weights(evidence: Evidence, resemblance: Floats) -> Floats:
    """The score's weight p' / (p (1 - p)) of each component, scaled so that the largest is 1."""
    p, slope = evidence.agreement(np.clip(resemblance, NEAR_ZERO, 1 - 1e-12))
    weight = np.abs(slope) / np.maximum(p * (1 - p), TINY)
    return np.asarray(weight / np.maximum(weight.max(axis=1, keepdims=True), TINY))


def _saddlepoint(agreeing: Floats, samples: Floats, p: Floats, weight: Floats) -> Floats:
    """r* of the weighted count s: r + log(u / r) / r, where r^2 / 2 = t s - K(t), u = t sqrt K''(t), and t solves K'(t) = s."""
    tilt = _tilt(agreeing, samples, p, weight)
    tilted = _tilted(p, weight * tilt[:, None])
    spread = (samples * weight**2 * tilted * (1 - tilted)).sum(axis=1)
    # t K' - K is the divergence of the tilted samples from the untilted; this form does not cancel.
    deviance = (samples * (tilted * np.log(tilted / p) + (1 - tilted) * np.log((1 - tilted) / (1 - p)))).sum(axis=1)
    root = np.sign(tilt) * np.sqrt(2 * np.maximum(deviance, 0))
    wald = tilt * np.sqrt(spread)
    skewness = (samples * weight**3 * tilted * (1 - tilted) * (1 - 2 * tilted)).sum(axis=1) / np.maximum(spread, TINY) ** 1.5
    central = np.abs(root) < 1e-3  # r* is 0/0 at 0, where it tends to a sixth of the skewness
    safe = np.where(central, 1.0, root)
    return np.asarray(np.where(central, wald + skewness / 6, root + np.log(np.where(central, 1.0, wald / safe)) / safe))


def _tilt(agreeing: Floats, samples: Floats, p: Floats, weight: Floats) -> Floats:
    """t that makes the tilted mean equal the count: Newton on the logit of the mean, exact at once for one component."""
    total = (samples * weight).sum(axis=1)
    wanted = _logit((agreeing * weight).sum(axis=1) / total)
    tilt = np.zeros(len(p))
    for _ in range(TILTS if p.shape[1] > 1 else 1):
        tilted = _tilted(p, weight * tilt[:, None])
        mean = (samples * weight * tilted).sum(axis=1) / total
        spread = (samples * weight**2 * tilted * (1 - tilted)).sum(axis=1) / total
        tilt = tilt + (wanted - _logit(mean)) * mean * (1 - mean) / np.maximum(spread, TINY)
    return tilt


def _logit(p: Floats) -> Floats:
    p = np.clip(p, TINY, ALMOST_ONE)
    return np.asarray(np.log(p / (1 - p)))


def _tilted(p: Floats, exponent: Floats) -> Floats:
    """p after tilting: its logit moved by `exponent`."""
    odds = p / (1 - p) * np.exp(np.clip(exponent, -600, 600))
    return np.clip(odds / (1 + odds), TINY, ALMOST_ONE)


@cache
def _normal_tails() -> tuple[Floats, Floats]:
    """Deviates from 38 down to 0, and the logarithm of the probability above each."""
    z = np.linspace(38, 0, 4001)
    return np.array([math.log(math.erfc(x / math.sqrt(2)) / 2) for x in z]), z


def _half_tail(logarithm: Floats) -> Floats:
    """The deviate above which half of a probability lies, given by its logarithm."""
    tails, z = _normal_tails()
    return np.interp(logarithm - math.log(2), tails, z)
