"""When to stop comparing two sketches: how many samples may differ, part by part, before a pair at the threshold is given up.

The number of differing samples of a pair at resemblance R is a sum of binomials with 1 - p_i(R) (T1, T2), so every limit below is a quantile, and every
probability of a miss is stated beforehand. A pair above the threshold differs less, and is missed less often.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption
from twinset.estimate.probability import Floats, agreement
from twinset.layout import WORD, Component, Layout

SURVIVOR = 2000.0  # words that could be compared in a tile while one survivor is fetched and compared by itself
Stage = tuple[Component, ...]  # the samples that have been compared by then


@dataclass(frozen=True)
class Cut:
    """A sequential test. The head is the lowest `planes` bits of the samples of the first `blocks` blocks; `most` of its samples may differ.

    A pair that passes goes on block by block: after block i of the whole sketch at most limits[i] samples may differ. A limit binds nobody where it is the last.
    """

    layout: Layout
    threshold: float
    miss: float  # the probability at the threshold that a test before the last one gives a pair up
    density: float
    planes: int
    blocks: int
    most: int
    limits: NDArray[np.int64]

    @property
    def words(self) -> int:
        """Words of a head."""
        return self.planes * self.blocks

    def detection(self, resemblance: ArrayLike) -> Floats:
        """The probability that a pair passes, less at most `miss`."""
        flat = np.asarray(resemblance, np.float64)
        each, place = np.unique(flat, return_inverse=True)  # of millions of pairs, few differ
        passed = np.array([differing_cdf(self.layout.components, float(R), self.density)[self.limits[-1]] for R in each], np.float64)
        return np.maximum(passed[place].reshape(flat.shape) - self.miss, 0)


def cut(layout: Layout, threshold: float, recall: float = 0.99, miss: float = 1e-6, density: float = 0.0) -> Cut:
    """The test that passes a pair at the threshold with probability `recall`, less `miss`, for the least work on pairs that share nothing.

    With `miss` 0 a pair is given up early only when the last test would refuse it too. density: the largest r = f / D of the sets.
    """
    _check("threshold", threshold, 0 < threshold <= 1, "above 0 and at most 1")
    _check("recall", recall, 0 < recall < 1, "above 0 and below 1")
    _check("miss", miss, 0 <= miss < 1 - recall, "0, or less than 1 - recall")
    last = _quantile(differing_cdf(layout.components, threshold, density), recall)
    stages = _stages(layout)
    share = miss / (len(stages) + 1)  # and one for the head
    limits = np.full(sum(-(-part.samples // WORD) for part in layout.components), last, np.int64)
    for blocks, stage in stages.items():
        limits[blocks - 1] = min(last, _quantile(differing_cdf(stage, threshold, density), 1 - share) if share else last)
    planes, blocks, most = _head(layout.components[0], threshold, share, density, last)
    return Cut(layout, threshold, miss, density, planes, blocks, most, limits)


def differing_cdf(parts: Stage, resemblance: float, density: float = 0.0) -> Floats:
    """P(at most d samples differ) for d = 0 to all samples: a convolution of binomials."""
    mass = np.ones(1)
    for part in parts:
        p = float(agreement(part, resemblance, density, density)[0])
        mass = np.convolve(mass, binomial(part.samples, 1 - p))
    return np.asarray(np.minimum(np.cumsum(mass), 1))


def binomial(trials: int, p: float) -> Floats:
    """The probabilities of 0 to `trials` successes."""
    count = np.arange(trials + 1)
    if p <= 0 or p >= 1:
        return np.asarray(count == (0 if p <= 0 else trials), np.float64)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    return np.asarray(np.exp(factorial[-1] - factorial - factorial[::-1] + count * math.log(p) + (trials - count) * math.log1p(-p)))


def _quantile(cdf: Floats, probability: float) -> int:
    return min(int(np.searchsorted(cdf, probability)), len(cdf) - 1)


def _stages(layout: Layout) -> dict[int, Stage]:
    """What has been compared after 2, 4, 8 ... blocks in storage order; the last test comes after all of them."""
    blocks, total = {}, sum(-(-part.samples // WORD) for part in layout.components)
    count = 2
    while count < total:
        blocks[count] = _first(layout, count)
        count *= 2
    return blocks


def _first(layout: Layout, blocks: int) -> Stage:
    parts = []
    for part in layout.components:
        taken = min(blocks * WORD, part.samples)
        if taken > 0:
            parts.append(Component(taken, part.bits, part.xor))
        blocks -= -(-taken // WORD)
    return tuple(parts)


def _head(part: Component, threshold: float, share: float, density: float, last: int) -> tuple[int, int, int]:
    """(planes, blocks, most) of the cheapest head: words compared in the tile, and survivors among pairs that share nothing."""
    choices = []
    for planes in sorted({min(part.bits, each) for each in (1, 2, 3, 4, 6, 8)}):
        for blocks in range(1, min(-(-part.samples // WORD), 64 // planes) + 1):
            stage = (Component(min(blocks * WORD, part.samples), planes, part.xor),)
            most = min(last, _quantile(differing_cdf(stage, threshold, density), 1 - share) if share else last)
            survivors = differing_cdf(stage, 0.0, density)[min(most, stage[0].samples)]
            choices.append((planes * blocks + SURVIVOR * survivors, planes, blocks, most))
    return min(choices)[1:]


def _check(name: str, value: float, good: bool, allowed: str) -> None:
    if not good:
        raise BadOption(f"{name} is {value}; allowed: {allowed}")
