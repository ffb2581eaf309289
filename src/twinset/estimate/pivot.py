"""How far the counts lie from what a resemblance R0 predicts, as a standard normal deviate z(R0).

The score at R0 is a weighted sum of the agreeing samples, each count binomial with p_i(R0), so its distribution is known. Its tail probability, by the
saddlepoint formula (Barndorff-Nielsen's r*), is turned into a deviate, which falls as R0 grows. For one component this is close to the binomial mid-p
value; unlike the plain likelihood ratio it stays right when only a few samples disagree.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.probability import Floats, agreement
from twinset.layout import Layout

TILTS = 3  # Newton rounds for the tilt of a mixture; the deviate depends on its error in second order only
NEAR_ZERO = 1e-4  # where an XOR of 64 still has weights that a float can hold
CENTRAL = 1e-3
RARE = 1e-9  # odds of an agreement so small that Newton's first step from 0 goes astray: 32 and 64 bits near R = 0
TINY = 1e-200
IMPOSSIBLE = 1e9
ALMOST_ONE = 1 - 2.0**-53


@dataclass(frozen=True)
class Evidence:
    """What a group of pairs shows: agreeing (components, n), densities r1 and r2 (n,), all float64, under one layout."""

    layout: Layout
    agreeing: Floats
    r1: Floats
    r2: Floats

    def take(self, rows: NDArray[np.intp]) -> "Evidence":
        return Evidence(self.layout, self.agreeing[:, rows], self.r1[rows], self.r2[rows])

    @cached_property
    def samples(self) -> Floats:
        """Samples of each component (components, 1)."""
        return np.array([[part.samples] for part in self.layout.components], np.float64)

    def agreement(self, resemblance: Floats) -> tuple[Floats, Floats]:
        """p and p' (components, n) at one resemblance for each pair."""
        parts = [agreement(part, resemblance, self.r1, self.r2) for part in self.layout.components]
        return np.stack([p for p, _ in parts]), np.stack([slope for _, slope in parts])


def log_likelihood(evidence: Evidence, resemblance: Floats) -> Floats:
    """The logarithm of the likelihood, up to a constant of the counts."""
    p = np.clip(evidence.agreement(resemblance)[0], TINY, ALMOST_ONE)
    return np.asarray((evidence.agreeing * np.log(p) + (evidence.samples - evidence.agreeing) * np.log1p(-p)).sum(axis=0))


def likelihood_step(evidence: Evidence, resemblance: Floats) -> Floats:
    """Fisher's scoring step towards the maximum of the likelihood: score over information; its sign is the score's."""
    p, slope = evidence.agreement(resemblance)
    weight = slope / np.maximum(p * (1 - p), TINY)
    score = (weight * (evidence.agreeing - evidence.samples * p)).sum(axis=0)
    return np.asarray(score / np.maximum((weight * slope * evidence.samples).sum(axis=0), TINY))


def deviate_step(evidence: Evidence, resemblance: Floats, target: Floats) -> Floats:
    """From R0 towards the R0 whose deviate is `target`: z falls by about the root of the information for each unit of R."""
    p, slope = evidence.agreement(resemblance)
    information = (evidence.samples * slope**2 / np.maximum(p * (1 - p), TINY)).sum(axis=0)
    return np.asarray((_deviate(evidence, resemblance, p, slope) - target) / np.sqrt(np.maximum(information, TINY)))


def deviate(evidence: Evidence, resemblance: Floats) -> Floats:
    """z(R0): the standard normal deviate of the score's mid-tail probability at R0. Positive when more samples agree than R0 predicts."""
    return _deviate(evidence, resemblance, *evidence.agreement(resemblance))


def _deviate(evidence: Evidence, resemblance: Floats, p: Floats, slope: Floats) -> Floats:
    samples, agreeing = evidence.samples, evidence.agreeing
    p = np.clip(p, TINY, ALMOST_ONE)
    full = (agreeing == samples).all(axis=0)
    none = (agreeing == 0).all(axis=0)
    result = saddlepoint(agreeing, samples, p, _weights(evidence, resemblance, p, slope))
    # At the ends of the score's range the saddlepoint runs away, and the probability is simple.
    result[(p >= ALMOST_ONE).all(axis=0)] = -IMPOSSIBLE  # R0 = 1, and yet a sample disagrees
    result[full] = _half_tail((samples * np.log(p[:, full])).sum(axis=0))
    result[none] = -_half_tail((samples * np.log1p(-p[:, none])).sum(axis=0))
    return result


def _weights(evidence: Evidence, resemblance: Floats, p: Floats, slope: Floats) -> Floats:
    """The score's weight p' / (p (1 - p)) of each component, scaled so that the largest is 1."""
    if len(p) == 1:
        return np.ones_like(p)
    weight = slope / (p * (1 - p))
    # All weights vanish at R = 0 in a mixture of XORs: those a little above serve as well. They vanish at a turning point too.
    flat = np.flatnonzero(resemblance < NEAR_ZERO)
    if flat.size:
        p, slope = evidence.take(flat).agreement(np.full(len(flat), NEAR_ZERO))
        weight[:, flat] = slope / (p * (1 - p))
    return np.asarray(np.maximum(weight, 0) / np.maximum(weight.max(axis=0), TINY))


def saddlepoint(agreeing: Floats, samples: Floats, p: Floats, weight: Floats) -> Floats:
    """r* of the weighted count s: r + log(u / r) / r, where r^2 / 2 = t s - K(t), u = t sqrt K''(t), and t solves K'(t) = s."""
    odds = p / (1 - p)
    tilt = _tilt(agreeing, samples, odds, weight)
    tilted = _tilted(odds, weight * tilt)
    spread = samples * weight**2 * tilted * (1 - tilted)
    # t K' - K is the divergence of the tilted samples from the untilted; this form does not cancel.
    deviance = (samples * (tilted * np.log(tilted / p) + (1 - tilted) * np.log((1 - tilted) / (1 - p)))).sum(axis=0)
    root = np.sign(tilt) * np.sqrt(2 * np.maximum(deviance, 0))
    wald = tilt * np.sqrt(spread.sum(axis=0))
    central = np.abs(root) < CENTRAL
    safe = np.where(central, 1.0, root)
    result = root + np.log(np.where(central, 1.0, wald / safe)) / safe
    rows = np.flatnonzero(central)
    # Here r* is 0/0, and tends to a sixth of the skewness.
    spread, weight, tilted = spread[:, rows], weight[:, rows], tilted[:, rows]
    result[rows] = wald[rows] + (spread * weight * (1 - 2 * tilted)).sum(axis=0) / np.maximum(spread.sum(axis=0), TINY) ** 1.5 / 6
    return np.asarray(result)


def _tilt(agreeing: Floats, samples: Floats, odds: Floats, weight: Floats) -> Floats:
    """t that makes the tilted mean equal the count: Newton on the logit of the mean, exact at once for one component."""
    weighted = samples * weight
    total = weighted.sum(axis=0)
    wanted = _logit((agreeing * weight).sum(axis=0) / total)
    tilt = _start(agreeing, samples, odds, weight)
    for _ in range(TILTS if len(samples) > 1 else 1):
        tilted = _tilted(odds, weight * tilt)
        each = weighted * tilted
        mean = each.sum(axis=0) / total
        spread = (each * weight * (1 - tilted)).sum(axis=0) / total
        tilt = tilt + (wanted - _logit(mean)) * mean * (1 - mean) / np.maximum(spread, TINY)
    return tilt


def _start(agreeing: Floats, samples: Floats, odds: Floats, weight: Floats) -> Floats:
    """0, or the tilt of the component that weighs most, alone, where one of a mixture's components agrees too rarely by chance."""
    start = np.zeros(agreeing.shape[1])
    rows = np.flatnonzero((odds < RARE).any(axis=0)) if len(samples) > 1 else np.empty(0, np.intp)
    heaviest = weight[:, rows].argmax(axis=0)
    start[rows] = _logit(agreeing[heaviest, rows] / samples[heaviest, 0]) - np.log(odds[heaviest, rows])
    return start


def _tilted(odds: Floats, exponent: Floats) -> Floats:
    """The probabilities of these odds after their logits moved by `exponent`."""
    moved = odds * np.exp(np.clip(exponent, -600, 600))
    return np.clip(moved / (1 + moved), TINY, ALMOST_ONE)


def _logit(p: Floats) -> Floats:
    p = np.clip(p, TINY, ALMOST_ONE)
    return np.asarray(np.log(p / (1 - p)))


@cache
def _normal_tails() -> tuple[Floats, Floats]:
    """Deviates from 38 down to 0, and the logarithm of the probability above each."""
    z = np.linspace(38, 0, 4001)
    return np.array([math.log(math.erfc(x / math.sqrt(2)) / 2) for x in z]), z


def _half_tail(logarithm: Floats) -> Floats:
    """The deviate above which half of a probability lies, given by its logarithm."""
    tails, z = _normal_tails()
    return np.interp(logarithm - math.log(2), tails, z)
