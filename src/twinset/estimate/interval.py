"""Intervals for R on [lower, upper] that cover at their nominal rate, near the ends too.

Far from the ends the interval is where the deviate z(R0) of pivot.py lies within 1.96 (at level 0.95). Near them the likelihood-ratio ordering of
Feldman and Cousins decides which deviates each R0 accepts, so that the interval is never empty and a true R at the end is covered at the nominal rate.
"""

from collections.abc import Callable
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.pivot import Evidence, deviate, deviate_step, likelihood_step
from twinset.estimate.probability import Floats

Step = Callable[[NDArray[np.intp], Floats], Floats]

TOLERANCE = 1e-12
ROUNDS = 100
CLOSEST = 1e-4  # the nearest to a boundary, in deviates, for which the accepted range is tabulated


def likeliest(evidence: Evidence, lower: Floats, upper: Floats) -> Floats:
    """E4: the resemblance on [lower, upper] of the greatest likelihood."""
    return solve(lambda rows, at: likelihood_step(evidence.take(rows), at), lower, upper)


def where_deviate(evidence: Evidence, target: Floats, lower: Floats, upper: Floats, start: Floats | None = None) -> Floats:
    """The resemblance on [lower, upper] whose deviate is `target`; with a guess to start from, it must lie between."""
    return solve(lambda rows, at: deviate_step(evidence.take(rows), at, target[rows]), lower, upper, start)


def likelihood_interval(evidence: Evidence, lower: Floats, upper: Floats, level: float) -> tuple[Floats, Floats]:
    """Both ends of the interval on [lower, upper]. An upper end of 1 needs no care of its own: all samples agree there."""
    below = deviate(evidence, lower)
    above = np.where(upper < 1, -deviate(evidence, upper), np.inf)
    low, high = targets(below, above, level)
    return where_deviate(evidence, low, lower, upper), where_deviate(evidence, high, lower, upper)


def cut_interval(evidence: Evidence, low: Floats, high: Floats, upper: Floats, level: float) -> tuple[Floats, Floats]:
    """Both ends of the interval on [0, upper], given those on [0, 1]: only what the nearer end changes is solved again."""
    lower = np.zeros(len(upper))
    below, above = deviate(evidence, lower), -deviate(evidence, upper)
    low_target, high_target = targets(below, above, level)
    low = np.where(above < 0, lower, low)
    rows = np.flatnonzero((above < 0) & (low_target < below))
    low[rows] = where_deviate(evidence.take(rows), low_target[rows], lower[rows], upper[rows], upper[rows] * (1 - 1e-3))
    inside = high_target > -above
    high = np.where(inside, np.minimum(high, upper), upper)
    rows = np.flatnonzero(inside & (above < reach(level)))
    high[rows] = where_deviate(evidence.take(rows), high_target[rows], lower[rows], upper[rows], high[rows])
    return low, high


def reach(level: float) -> float:
    """A boundary further than this from the estimate, in deviates, leaves the interval as it is."""
    return 2 * NormalDist().inv_cdf((1 + level) / 2)


def targets(below: Floats, above: Floats, level: float) -> tuple[Floats, Floats]:
    """The deviates at which an interval starts and ends, given how many deviates the estimate lies above the lower and below the upper boundary."""
    near_low, near_high = _bounded(below, level)
    far_low, far_high = _bounded(above, level)
    return np.where(above >= 0, near_low, -far_high), np.where(below >= 0, -far_low, near_high)


def _bounded(distance: Floats, level: float) -> tuple[Floats, Floats]:
    """The deviates at both ends of the interval when only a boundary `distance` deviates below the estimate is near; infinite: at the boundary."""
    delta, accepted_above, accepted_below = _acceptance(level)
    normal = reach(level) / 2
    start = np.interp(distance, delta + accepted_above, delta, left=0.0)
    stop = np.interp(distance, delta + accepted_below, delta)
    first = np.where(start > 0, distance - start, np.inf)
    return np.where(distance < 2 * normal, first, normal), np.where(distance < 0, distance - stop, -normal)


@cache
def _acceptance(level: float) -> tuple[Floats, Floats, Floats]:
    """For a unit normal deviate of mean delta >= 0: delta, and how far above and below it the unified interval accepts."""
    delta = np.geomspace(CLOSEST, reach(level) / 2, 1000)
    root = np.array([_critical(float(d), level) for d in delta])
    return delta, root, np.array([_lowest(float(r), float(d)) for r, d in zip(root, delta, strict=True)])


def _critical(delta: float, level: float) -> float:
    """The root of c(delta): Phi(sqrt c) - Phi(lowest) = level."""
    cdf = NormalDist().cdf
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        if cdf(middle) - cdf(_lowest(middle, delta)) < level:
            low = middle
        else:
            high = middle
    return high


def _lowest(root: float, delta: float) -> float:
    """The lowest accepted deviate: data beyond the boundary are compared with the boundary, not with their own maximum."""
    return -root if root <= delta else -(root**2 + delta**2) / (2 * delta)


def solve(step: Step, low: Floats, high: Floats, start: Floats | None = None) -> Floats:
    """The root of a falling function on [low, high], given near-Newton steps towards it with the right sign; an end where the root lies beyond it.

    `step(rows, at)` answers for the rows that have not settled. Steps are scaled by the secant through the last two; one that leaves its bracket, or is
    not half the one before, becomes a bisection. A `start` spares the look at both ends.
    """
    lowest, everything = low, np.arange(len(low))
    if start is None:
        middle = (low + high) / 2
        start = np.where(step(everything, low) < 0, low, np.where(step(everything, high) >= 0, high, middle))
        everything = everything[(start == middle) & (low < high)]
    root, rows = start.copy(), everything
    low, high, stride = low.copy(), high.copy(), high - low
    last_at, last_move = np.full(len(root), np.nan), np.full(len(root), np.nan)
    for _ in range(ROUNDS):
        if not rows.size:
            break
        at = root[rows]
        move = step(rows, at)
        low[rows], high[rows] = np.where(move > 0, at, low[rows]), np.where(move > 0, high[rows], at)
        scaled = move * _secant(at - last_at[rows], last_move[rows] - move)
        # A step of exactly 0 is below the resolution of p, as for an XOR near R = 0: go on to the lowest R that fits.
        tame = (move != 0) & (at + scaled >= low[rows]) & (at + scaled <= high[rows]) & (np.abs(scaled) <= stride[rows] / 2)
        root[rows] = np.where(tame, at + scaled, (low[rows] + high[rows]) / 2)
        last_at[rows], last_move[rows], stride[rows] = at, move, np.abs(root[rows] - at)
        rows = rows[(high[rows] - low[rows] > TOLERANCE) & (stride[rows] > TOLERANCE)]
    return np.where(root - lowest < 10 * TOLERANCE, lowest, root)


def _secant(run: Floats, fall: Floats) -> Floats:
    """By how much a step fell short, judged from the last two; 1 where they do not tell."""
    ratio = run / np.where(fall == 0, np.nan, fall)
    return np.where((ratio > 0.1) & (ratio < 10), ratio, 1.0)
