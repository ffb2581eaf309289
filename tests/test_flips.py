"""Flip probabilities: the curve of a sample, never 0 or 1, falling; and as many bits flip on held-out pairs as it says."""

from math import acos, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from specimens import PROSE

from twinset.errors import BadInput, BadOption
from twinset.estimate.flips import CELLS, Flips
from twinset.sketch.simhash import SimHash

BITS = 64


def near(n, s, seed):
    """Projections of n pairs of correlation s."""
    random = np.random.default_rng(seed)
    u, noise = random.normal(size=(2, n, BITS))
    return u, s * u + np.sqrt(1 - s * s) * noise


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.floats(0.7, 0.999), st.integers(0, 99), st.lists(st.floats(0, 1e6), min_size=2, max_size=20))
def test_the_curve_falls_from_a_half_and_is_never_0(n, s, seed, at):
    for curve in (Flips.learn(*near(n, s, seed)), Flips.normal(s)):
        p = curve.probability(sorted(at))
        assert (p > 0).all()
        assert (p <= 0.5).all()
        assert (np.diff(p) <= 0).all()
        assert np.array_equal(curve.probability(-np.array(at)), curve.probability(at))
        assert np.exp(curve.log(at)) == pytest.approx(curve.probability(at))


def test_one_value_or_infinity_is_far_beyond():
    curve = Flips.learn(*near(50, 0.95, 1))
    assert curve.probability(np.inf) == pytest.approx(1e-300, rel=1)
    assert curve.probability(0.0) == pytest.approx(0.5, abs=1e-3)
    assert curve.probability(np.zeros((3, BITS))).shape == (3, BITS)


def test_a_sample_by_hand():
    """Y = 0, 1, 2, 3 with r = 1: at 2, four of eight are as large; a half more, of nine; and half of that for the sign."""
    left = np.array([[5.0, 6, 7, 8, -5, -6, -7, -8]])
    right = left - [0, 1, 2, 3, 0, 1, 2, 3]  # deviations cancel: the product of left with them is 0
    assert (left * (left - right)).sum() == 0
    curve = Flips.learn(left, right)
    assert curve.sample == 8
    assert curve.probability([1.0, 2.0, 3.0]) == pytest.approx([6.5 / 18, 4.5 / 18, 2.5 / 18], rel=1e-3)  # a line within each step


def test_beyond_the_sample_the_curve_is_exponential():
    curve = Flips.learn(*near(100, 0.9, 3))
    end = curve.step * CELLS
    p = curve.log(end + np.arange(1, 5))
    assert np.diff(p) == pytest.approx(curve.slope, rel=1e-9)
    assert curve.slope < 0


@pytest.mark.parametrize("scale", [0.01, 1.0, 7.0])
def test_the_normal_curve_is_that_of_the_normal_law(scale):
    at = scale * np.linspace(0, 6, 77)
    assert Flips.normal(scale).probability(at) == pytest.approx(norm.sf(at / scale), rel=1e-4)


@pytest.mark.parametrize("s", [0.99, 0.95, 0.9, 0.8])
def test_as_many_bits_flip_as_predicted(s):
    """Held-out pairs: observed flips, and those among each fifth of the bits by p, within 5 standard deviations (false alarm 6e-7 each) plus 2 % for the sample's own error."""
    u, v = near(4000, s, 11)
    for curve in (Flips.learn(*near(4000, s, 10)), Flips.normal(np.sqrt(1 / s**2 - 1))):
        p, flipped = curve.probability(u), (u < 0) != (v < 0)
        assert p.mean() == pytest.approx(acos(s) / pi, rel=0.03)
        for chosen in np.array_split(np.argsort(p.reshape(-1)), 5):
            predicted, spread = p.reshape(-1)[chosen].sum(), np.sqrt((p * (1 - p)).reshape(-1)[chosen].sum())
            assert abs(flipped.reshape(-1)[chosen].sum() - predicted) < 5 * spread + 0.02 * predicted + 1


@pytest.mark.compiled
def test_texts_flip_as_predicted():
    """Edited texts: learned on one half of them, tried on the other. Bits are not independent within a pair, hence the wide bounds: 15 % of all flips."""
    random = np.random.default_rng(4)
    words = np.array(sorted({word for text in PROSE.values() for word in text.split()}) + [f"word{i}" for i in range(800)])
    chance = 1 / np.arange(1, len(words) + 1)
    documents = [random.choice(words, 150, p=chance / chance.sum()) for _ in range(800)]
    edited = [np.where(random.random(150) < 0.08, random.choice(words, 150), document) for document in documents]
    found = SimHash().sketch([" ".join(document) for document in documents + edited], keep=True)
    left, right = found.projections[:800], found.projections[800:]
    p = Flips.learn(left[:400], right[:400]).probability(left[400:])
    observed = (left[400:] >= 0) != (right[400:] >= 0)
    assert observed.sum() == pytest.approx(p.sum(), rel=0.15)
    likely = p > np.median(p)
    assert observed[likely].mean() == pytest.approx(p[likely].mean(), rel=0.15)
    assert observed[~likely].mean() < 0.25 * observed[likely].mean()


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (np.ones((2, 3)), np.ones((3, 3)), r"^projections have shapes \(2, 3\) and \(3, 3\); allowed: equal shapes"),
        (np.ones((2, 3)), np.ones((2, 3)), "^the 2 pairs have the same projections throughout; allowed: near pairs that differ somewhere, or Flips.normal"),
        (np.zeros((2, 3)), np.zeros((2, 3)), "^the projections of the 2 pairs are not positively correlated; allowed: near pairs$"),
        (np.ones((1, 2)), -np.ones((1, 2)), "are not positively correlated"),
        (np.ones((0, 64)), np.ones((0, 64)), "^the projections of the 0 pairs are not"),
        (np.ones((1, 2)), np.array([[1, np.nan]]), "^a projection is not finite"),
    ],
)
def test_samples_that_teach_nothing_are_refused(left, right, message):
    with pytest.raises(BadInput, match=message):
        Flips.learn(left, right)


@pytest.mark.parametrize("scale", [0, -1, np.inf, np.nan])
def test_bad_scales_are_refused(scale):
    with pytest.raises(BadOption, match=f"^scale is {scale}; allowed: more than 0, and finite$"):
        Flips.normal(scale)
