"""Pairs by their true resemblance, and how many of those that a sketch puts at or above a threshold belong there."""

import math
import re
from dataclasses import dataclass
from itertools import starmap

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption
from twinset.estimate.pivot import ALMOST_ONE, TINY, saddlepoint
from twinset.estimate.probability import Floats, agreement
from twinset.layout import Layout

BINS = 1000
ALLOWED = "allowed: resemblances from 0 to 1 in an array, points and their shares ('0:0.9+0.5:0.05+0.85:0.05'), or 'beta:A,B' with A and B above 0"


@dataclass(frozen=True)
class Similarities:
    """Pairs on both sides of a threshold: `values` are resemblances, `shares` how common they are, `true` whether they reach the threshold."""

    values: Floats
    shares: Floats
    true: NDArray[np.bool_]

    @classmethod
    def read(cls, stated: str | ArrayLike, threshold: float) -> "Similarities":
        """From an array of resemblances, or a text: points with shares, or a beta distribution. Binned to 1/1000, each side of the threshold apart."""
        values, shares = _parsed(stated) if isinstance(stated, str) else _sampled(stated)
        if not values.size or not ((values >= 0) & (values <= 1)).all():
            raise BadOption(f"similarities run from {values.min(initial=1):g} to {values.max(initial=0):g}; {ALLOWED}")
        true = values >= threshold
        if not shares[true].sum() > 0:
            raise BadOption(f"similarities have no pair at or above the threshold {threshold:g}, so precision has no meaning; allowed: some share there")
        keys, place = np.unique(2 * np.floor(values * BINS) + true, return_inverse=True)
        total = np.bincount(place, shares)
        return cls(np.bincount(place, shares * values) / np.where(total > 0, total, 1), total / total.sum(), keys % 2 == 1)


def reaching(layout: Layout, threshold: float, values: Floats, r1: float = 0.0, r2: float = 0.0) -> Floats:
    """The chance that the estimate E4 of a pair of each resemblance is at least `threshold`.

    The likelihood has one maximum, so it lies at or above the threshold exactly when the score there is not negative: a weighted sum of binomial counts.
    """
    samples = np.array([[part.samples] for part in layout.components], np.float64)
    at, slope = (np.array(each).reshape(-1, 1) for each in zip(*(agreement(part, threshold, r1, r2) for part in layout.components), strict=True))
    p = np.stack([agreement(part, values, r1, r2)[0] for part in layout.components])
    counts = samples * at
    if len(samples) == 1:
        counts = np.ceil(counts - 1e-9) - 0.5  # half-way between the last count that does not reach the threshold and the first that does
    weight = slope / (at * (1 - at))
    same = np.ones_like(values)
    z = saddlepoint(counts * same, samples, np.clip(p, TINY, ALMOST_ONE), weight / weight.max() * same)
    return np.where(values < 1, [math.erfc(x / math.sqrt(2)) / 2 for x in z], 1.0)


def precision_recall(layout: Layout, threshold: float, similarities: Similarities, r1: float = 0.0, r2: float = 0.0) -> tuple[float, float]:
    """Of the pairs whose estimate reaches the threshold the share that truly does, and of those that truly do the share whose estimate does."""
    found = similarities.shares * reaching(layout, threshold, similarities.values, r1, r2)
    right = float(found[similarities.true].sum())
    return right / float(found.sum()), right / float(similarities.shares[similarities.true].sum())


def _sampled(stated: ArrayLike) -> tuple[Floats, Floats]:
    values = np.asarray(stated, np.float64).reshape(-1)
    return values, np.ones(len(values))


def _parsed(text: str) -> tuple[Floats, Floats]:
    if match := re.fullmatch(r"beta:([0-9.]+),([0-9.]+)", text):
        return _beta(_number(match[1], text), _number(match[2], text), text)
    points = [piece.partition(":")[::2] for piece in text.split("+")]
    values, shares = np.array([[_number(each, text) for each in point] for point in points]).T
    if abs(shares.sum() - 1) > 1e-9:
        raise BadOption(f"similarities {text!r}: the shares add up to {shares.sum():g}; allowed: shares that add up to 1")
    return values, shares


def _beta(a: float, b: float, text: str) -> tuple[Floats, Floats]:
    """The middles of 10 000 cells and the mass of each: the factor with the pole at the nearer end is integrated exactly, the other taken at the middle."""
    if not (a > 0 and b > 0):
        raise BadOption(f"similarities are {text!r}; {ALLOWED}")
    edge = np.linspace(0, 1, 10 * BINS + 1)
    middle = (edge[1:] + edge[:-1]) / 2
    left, right = starmap(_cells, ((edge, a, b), (edge, b, a)))
    mass = np.where(middle < 0.5, left, right[::-1])
    return middle, mass / mass.sum()


def _cells(edge: Floats, a: float, b: float) -> Floats:
    middle = (edge[1:] + edge[:-1]) / 2
    return np.asarray(np.diff(edge**a) / a * (1 - middle) ** (b - 1))


def _number(text: str, whole: str) -> float:
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text):
        raise BadOption(f"similarities {whole!r}: {text!r} is not a number; {ALLOWED}")
    return float(text)
