"""The deviate of counts against exact tail probabilities, and its laws."""

from fractions import Fraction

import numpy as np
import pytest
import reference_estimate as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.estimate.pivot import IMPOSSIBLE, Evidence, deviate, deviate_step, likelihood_step, saddlepoint
from twinset.layout import Component, Layout

MIXTURES = (  # components, R, and whole numbers in the proportion of the score's weights p' / (p (1 - p)) there
    (((40, 1, 1), (40, 2, 1)), 1 / 5, (2, 3)),
    (((40, 1, 1), (24, 2, 1)), 3 / 5, (7, 8)),
    (((32, 1, 2), (32, 1, 1)), 1 / 2, (4, 5)),
    (((64, 1, 2), (16, 1, 1)), 1 / 4, (8, 17)),
)


def evidence(components, counts, r1=0.0, r2=0.0):
    counts = np.atleast_2d(np.asarray(counts, np.float64))
    n = len(counts)
    return Evidence(Layout("", tuple(Component(*part) for part in components)), np.ascontiguousarray(counts.T), np.full(n, r1), np.full(n, r2))


def exact(components, counts, weights, R, r1=0.0, r2=0.0):
    chances = [Fraction(reference.agreement(part, R, r1, r2)).limit_denominator(10**12) for part in components]
    return reference.normal_deviate(float(reference.mid_tail(components, counts, weights, chances)))


@pytest.mark.parametrize(("samples", "error"), [(64, 0.08), (256, 0.03)])
@pytest.mark.parametrize(("bits", "xor", "r1", "r2"), [(1, 1, 0, 0), (4, 1, 0, 0), (1, 2, 0, 0), (1, 4, 0, 0), (1, 1, 0.6, 0.5), (2, 1, 1e-10, 1e-10)])
def test_one_component_is_close_to_the_mid_p_value(bits, xor, r1, r2, samples, error):
    """Within three deviates, also where few samples disagree.

    The saddlepoint takes counts for continuous; the tail on whole counts differs by a share of t^2 / 12, t being the tilt: 0.08 deviates if one of 64 disagrees.
    """
    part = (samples, bits, xor)
    for R in (0.3, 0.7, 0.8):
        p = float(reference.agreement(part, R, r1, r2))
        spread = (samples * p * (1 - p)) ** 0.5
        counts = np.unique(np.clip(np.round(samples * p + spread * np.linspace(-2.8, 2.8, 9)), 0, samples)).astype(int)
        found = deviate(evidence([part], counts[:, None], r1, r2), np.full(len(counts), R))
        expected = [exact([part], [int(M)], [1], R, r1, r2) for M in counts]
        assert found == pytest.approx(expected, abs=error)


@pytest.mark.parametrize(("components", "R", "weights"), MIXTURES)
def test_a_mixture_is_close_to_the_mid_p_value_of_its_weighted_count(components, R, weights):
    centre = np.array([part[0] * float(reference.agreement(part, R)) for part in components])
    counts = np.unique(np.round(centre + np.array([[-4, -4], [-2, 1], [0, 0], [1, -2], [2, 3], [4, 4]])), axis=0).astype(int)
    counts = counts[(counts < [part[0] for part in components]).any(axis=1)]
    counts = np.minimum(counts, [part[0] for part in components])
    found = deviate(evidence(components, counts), np.full(len(counts), R))
    assert found == pytest.approx([exact(components, [int(M) for M in row], weights, R) for row in counts], abs=0.04)


@pytest.mark.parametrize("components", [((64, 1, 1),), ((64, 1, 1), (64, 2, 1)), ((8, 4, 1), (8, 1, 2))])
def test_no_sample_or_every_sample_agreeing_has_half_its_exact_probability(components):
    whole = [part[0] for part in components]
    for R in (0.01, 0.4, 0.9, 0.999):
        full, none = deviate(evidence(components, [whole, [0] * len(whole)]), np.full(2, R))
        chances = [reference.agreement(part, R) for part in components]
        everything = np.prod([float(p) ** part[0] for part, p in zip(components, chances, strict=True)])
        nothing = np.prod([float(1 - p) ** part[0] for part, p in zip(components, chances, strict=True)])
        for z, chance in ((full, everything), (-none, nothing)):
            if chance > 1e-250:
                assert z == pytest.approx(reference.normal_deviate(chance / 2), abs=1e-4)


def test_at_resemblance_1_one_disagreeing_sample_is_impossible():
    z = deviate(evidence([(64, 1, 1)], [[63], [64]]), np.ones(2))
    assert z[0] == -IMPOSSIBLE
    assert z[1] == pytest.approx(0, abs=1e-9)  # half of a probability of 1 lies above


def test_the_centre_is_a_sixth_of_the_skewness():
    """Where r* is 0/0, and beside it, it joins smoothly."""
    p, k = 0.9, 1000
    skewness = (1 - 2 * p) / (k * p * (1 - p)) ** 0.5
    # An increasing probability below the mean makes the mid-tail there differ from a half by this much.
    for count in (900, 900 + 1e-3, 900 - 1e-3, 900 + 0.02, 900 - 0.02):
        one = np.ones((1, 1))
        z = saddlepoint(one * count, one * k, one * p, one)[0]
        assert z == pytest.approx((count - 900) / (k * p * (1 - p)) ** 0.5 + skewness / 6, abs=2e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 64), st.integers(0, 64), st.sampled_from([((64, 1, 1), (64, 2, 1)), ((64, 1, 1), (64, 4, 1)), ((64, 1, 1),), ((64, 1, 2),)]))
def test_the_deviate_falls_as_the_supposed_resemblance_grows(M, N, components):
    """Parts that contradict each other beyond chance are left out: an XOR and one bit that do can have likelihoods of two maxima."""
    R = np.linspace(0.02, 0.98, 60)
    z = deviate(evidence(components, [[M, N][: len(components)]] * 60), R)
    assert np.isfinite(z).all()
    assert (np.diff(z)[np.abs(z[1:]) < 6] < 0).all()
    assert z[0] > z[-1]


@settings(max_examples=50, deadline=None)
@given(st.floats(0.2, 0.95), st.floats(-3, 3), st.floats(-3, 3), st.sampled_from([((256, 1, 2), (256, 1, 1)), ((256, 3, 1), (256, 1, 3))]))
def test_the_deviate_falls_among_resemblances_that_the_counts_allow(R, first, second, components):
    counts = []
    for part, z in zip(components, (first, second), strict=True):
        p = float(reference.agreement(part, R))
        counts.append(min(max(round(part[0] * p + z * (part[0] * p * (1 - p)) ** 0.5), 0), part[0]))
    tried = np.linspace(0.05, 0.98, 60)
    z = deviate(evidence(components, [counts] * 60), tried)
    assert (np.diff(z)[np.abs(z[1:]) < 3] < 0).all()


@pytest.mark.parametrize("components", [((64, 1, 1),), ((64, 2, 1),), ((64, 1, 2),), ((64, 64, 1),)])
def test_one_more_agreeing_sample_raises_the_deviate(components):
    z = deviate(evidence(components, np.arange(65)[:, None]), np.full(65, 0.6))
    assert (np.diff(z) > 0).all()


@pytest.mark.parametrize("components", [((64, 1, 1),), ((64, 1, 1), (32, 2, 1)), ((64, 1, 2), (64, 1, 1))])
def test_the_likelihood_step_is_score_over_information(components):
    counts = [part[0] * 3 // 4 for part in components]
    for R, r1, r2 in ((0.3, 0, 0), (0.6, 0.5, 0.4), (0.95, 0.0, 0.0)):
        step = reference.Decimal("1e-12")
        around = [reference.likelihood(components, counts, reference.Decimal(R) + shift, r1, r2) for shift in (-step, step)]
        score = (around[1] - around[0]) / (2 * step)
        small = [(1, *part[1:]) for part in components]
        information = sum(part[0] * reference.information([one], R, r1, r2) for part, one in zip(components, small, strict=True))
        found = likelihood_step(evidence(components, [counts], r1, r2), np.array([R]))[0]
        assert found == pytest.approx(float(score / information), rel=1e-7)


def test_deviate_steps_point_at_their_target():
    some = evidence([(256, 1, 1)], [[200]])
    for R in (0.2, 0.5, 0.7):
        z = deviate(some, np.array([R]))
        for target in (-2.0, 0.0, 2.0):
            assert np.sign(deviate_step(some, np.array([R]), np.array([target]))[0]) == np.sign(z[0] - target)
    near = deviate(some, np.array([0.5]))
    assert deviate_step(some, np.array([0.5]), near)[0] == pytest.approx(0, abs=1e-12)


def test_take_keeps_the_rows_asked_for():
    some = evidence([(8, 1, 1), (8, 2, 1)], [[1, 2], [3, 4], [5, 6]], 0.25, 0.5)
    taken = some.take(np.array([2, 0]))
    assert taken.agreeing.tolist() == [[5, 1], [6, 2]]
    assert deviate(taken, np.full(2, 0.4)).tolist() == deviate(some, np.full(3, 0.4))[[2, 0]].tolist()
