"""Intervals cover at their nominal rate, exactly counted: every outcome of a sketch is weighed with its probability."""

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from twinset.estimate.interval import cut_interval, likeliest, likelihood_interval, reach, solve, targets, where_deviate
from twinset.estimate.pivot import Evidence, deviate
from twinset.estimate.probability import agreement
from twinset.estimate.resemblance import estimate
from twinset.layout import parse

NAMES = (("1", 256), ("2", 256), ("8", 256), ("64", 256), ("1/2", 256), ("1/3", 256), ("1/4", 256), ("1.5", 64), ("3/4", 64), ("1:0.5+2:0.25+4:0.25", 32), ("64:0.5+1:0.5", 64))
# An exact interval would also cover at 0.95 on average only: counts are whole, so the rate of one R swings about it.
SWING, AVERAGE = 0.035, 0.006


def every_outcome(layout):
    grids = np.meshgrid(*(np.arange(part.samples + 1) for part in layout.components), indexing="ij")
    return np.stack([grid.reshape(-1) for grid in grids], axis=1)


def coverage(layout, truths, sizes=(1000, 1000), universe=0, level=0.95):
    """The probability, for each true resemblance, that the interval holds it."""
    counts = every_outcome(layout)
    found = estimate(layout, counts, np.full(len(counts), sizes[0]), np.full(len(counts), sizes[1]), universe=universe, level=level)
    r1, r2 = (sizes[0] / universe, sizes[1] / universe) if universe else (0.0, 0.0)
    rates = []
    for truth in truths:
        p = [float(agreement(part, truth, r1, r2)[0]) for part in layout.components]
        chance = np.prod([binom.pmf(counts[:, i], part.samples, p[i]) for i, part in enumerate(layout.components)], axis=0)
        rates.append(chance[(found.low <= truth + 1e-9) & (truth - 1e-9 <= found.high)].sum())
    return np.array(rates)


def possible(sizes, universe):
    """The range of the resemblance of two sets of these sizes."""
    shared = max(sum(sizes) - universe, 0) if universe else 0
    return shared / (sum(sizes) - shared), min(sizes) / max(sizes)


def evidence(layout, counts):
    counts = np.asarray(counts, np.float64)
    return Evidence(layout, np.ascontiguousarray(counts.T), np.zeros(len(counts)), np.zeros(len(counts)))


@pytest.mark.parametrize(("name", "samples"), NAMES)
def test_coverage_between_the_ends(name, samples):
    rates = coverage(parse(name, samples), np.linspace(0.01, 0.99, 99))
    assert rates.min() > 0.95 - SWING
    assert abs(rates.mean() - 0.95) < AVERAGE


@pytest.mark.parametrize(("name", "samples"), NAMES)
def test_coverage_at_the_ends(name, samples):
    """At R = 1 every sample agrees; at R = 0 the unified interval accepts what it must."""
    zero, one = coverage(parse(name, samples), [0.0, 1.0])
    assert one == pytest.approx(1)
    assert zero > 0.95 - SWING


@pytest.mark.parametrize("sizes", [(1000, 500), (900, 1000), (100, 20)])
@pytest.mark.parametrize(("name", "samples"), [("1", 256), ("64", 256), ("1/2", 256), ("1.5", 64)])
def test_coverage_up_to_the_largest_resemblance_that_the_sizes_allow(name, samples, sizes):
    rates = coverage(parse(name, samples), np.linspace(0, min(sizes) / max(sizes), 60), sizes)
    assert rates.min() > 0.95 - SWING
    assert rates.mean() > 0.95 - AVERAGE  # more where both ends of a short range are near


@pytest.mark.parametrize("sizes", [(900, 800), (500, 400), (50, 40)])
@pytest.mark.parametrize(("name", "samples"), [("1", 256), ("1/2", 256), ("1/3", 256), ("1.5", 64)])
def test_coverage_among_dense_sets(name, samples, sizes):
    rates = coverage(parse(name, samples), np.linspace(*possible(sizes, 1000), 60), sizes, universe=1000)
    assert rates.min() > 0.95 - SWING


def test_coverage_of_an_even_xor_beside_another_part_among_dense_sets():
    rates = coverage(parse("3/4", 64), np.linspace(0, 0.8, 60), (500, 400), universe=1000)
    assert rates.min() > 0.95 - SWING


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99, 0.999])
def test_coverage_at_other_levels(level):
    rates = coverage(parse("1", 256), np.linspace(0.05, 0.9, 80), level=level)
    assert abs(rates.mean() - level) < 0.1 * (1 - level)


@pytest.mark.parametrize(("name", "samples"), NAMES)
def test_an_interval_holds_its_value_and_its_ends_grow_with_the_counts(name, samples):
    """From the counts typical of R = 0 to those of R = 1."""
    layout = parse(name, samples)
    blind = [float(agreement(part, 0.0)[0]) for part in layout.components]
    counts = np.array([[round(part.samples * (p + (1 - p) * i / 64)) for part, p in zip(layout.components, blind, strict=True)] for i in range(65)])
    found = estimate(layout, counts, np.full(65, 100), np.full(65, 90))
    assert (found.low >= 0).all()
    assert (found.high <= 0.9).all()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    for ends in (found.low, found.value, found.high):
        assert (np.diff(ends) >= -1e-9).all()


@pytest.mark.parametrize(("name", "samples"), NAMES)
def test_a_higher_level_gives_a_wider_interval(name, samples):
    layout = parse(name, samples)
    counts = np.array([[part.samples * i // 16 for part in layout.components] for i in range(17)])
    found = [estimate(layout, counts, np.full(17, 100), np.full(17, 80), level=level) for level in (0.5, 0.9, 0.95, 0.999)]
    for narrow, wide in pairwise(found):
        assert (wide.low <= narrow.low + 1e-9).all()
        assert (wide.high >= narrow.high - 1e-9).all()


def test_far_from_the_ends_the_interval_is_where_the_deviate_lies_within_1_96():
    some, zeros, ones = evidence(parse("1.5", 1024), [[360, 310], [400, 380]]), np.zeros(2), np.ones(2)
    normal = NormalDist().inv_cdf(0.975)
    low, high = likelihood_interval(some, zeros, ones, 0.95)
    assert deviate(some, low) == pytest.approx(np.full(2, normal), abs=1e-8)
    assert deviate(some, high) == pytest.approx(np.full(2, -normal), abs=1e-8)
    assert where_deviate(some, np.full(2, normal), zeros, ones) == pytest.approx(low, abs=1e-10)


def accepted(level):
    """For means from 0 on, the ends of the deviates that Feldman and Cousins accept, counted off a grid: likeliest first against the best mean that is allowed."""
    x = np.arange(-12, 16, 0.005)
    means = np.arange(0, 8, 0.01)
    ends = []
    for mean in means:
        density = np.exp(-((x - mean) ** 2) / 2)
        order = np.argsort(-density / np.exp(-((x - np.maximum(x, 0)) ** 2) / 2), kind="stable")
        mass = np.cumsum(density[order])
        kept = x[order[: np.searchsorted(mass, level * mass[-1]) + 1]]
        ends.append((kept.min(), kept.max()))
    return means, np.array(ends)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_near_an_end_the_interval_is_that_of_feldman_and_cousins(level):
    means, ends = accepted(level)
    observed = np.array([-3.0, -1.0, -0.3, 0.0, 0.5, 1.0, 2.0, 2.6])
    low, high = targets(observed, np.full(len(observed), np.inf), level)
    for x, start, stop in zip(observed, low, high, strict=True):
        holding = means[(ends[:, 0] <= x) & (x <= ends[:, 1])]
        # The deviate at a mean of delta is x - delta; an infinite one stands for the end itself.
        assert max(x - start, 0) == pytest.approx(holding.min(), abs=0.03)
        assert x - stop == pytest.approx(holding.max(), abs=0.03)


def test_an_end_far_away_changes_nothing():
    normal = NormalDist().inv_cdf(0.975)
    far = np.array([reach(0.95) + 0.01, 6.0, 1e9])
    low, high = targets(far, np.full(3, np.inf), 0.95)
    assert low == pytest.approx(np.full(3, normal), abs=1e-6)
    assert high == pytest.approx(np.full(3, -normal), abs=2e-3)


@settings(max_examples=50, deadline=None)
@given(st.floats(-6, 6), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_two_ends_of_the_range_are_mirror_images(distance, level):
    near, far = np.array([distance]), np.array([1e6])
    low, high = targets(near, far, level)
    mirrored_low, mirrored_high = targets(far, near, level)
    assert mirrored_low[0] == -high[0]
    assert mirrored_high[0] == -low[0]
    assert low[0] >= 0 or distance < 0
    assert low[0] > high[0]


@pytest.mark.parametrize("name", ["1", "1.5", "1/2"])
def test_cutting_an_interval_equals_solving_it_on_the_shorter_range(name):
    layout = parse(name, 256)
    counts = np.array([[part.samples * i // 12 for part in layout.components] for i in range(6, 13)])
    some, zeros = evidence(layout, counts), np.zeros(7)
    whole = likelihood_interval(some, zeros, np.ones(7), 0.95)
    for bound in (0.3, 0.6, 0.9):
        upper = np.full(7, bound)
        cut = np.stack(cut_interval(some, *whole, upper, 0.95))
        assert cut == pytest.approx(np.stack(likelihood_interval(some, zeros, upper, 0.95)), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=8), st.floats(0.2, 5))
def test_solve_finds_the_root_of_a_falling_function_however_long_its_steps(roots, scale):
    wanted = np.array(roots)
    found = solve(lambda rows, at: scale * (wanted[rows] - at) * (1 + at**2), np.zeros(len(wanted)), np.ones(len(wanted)))
    assert found == pytest.approx(wanted, abs=1e-10)


def test_solve_answers_an_end_where_the_root_lies_beyond_it():
    wanted = np.array([-0.5, 0.0, 0.4, 1.0, 1.5])
    low, high = np.full(5, 0.0), np.full(5, 1.0)
    assert solve(lambda rows, at: wanted[rows] - at, low, high) == pytest.approx([0, 0, 0.4, 1, 1], abs=1e-10)
    started = solve(lambda rows, at: wanted[rows] - at, low, high, np.full(5, 0.9))
    assert started[2] == pytest.approx(0.4, abs=1e-10)


def test_a_range_of_one_point_is_its_own_answer():
    some = evidence(parse("1", 64), [[40]])
    point = np.array([0.5])
    assert likeliest(some, point, point).tolist() == [0.5]
    low, high = likelihood_interval(some, point, point, 0.95)
    assert low.tolist() == high.tolist() == [0.5]
