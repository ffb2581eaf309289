"""The certificate's formulas: unbiased, and intervals that hold the number missed."""

import numpy as np
import pytest
from scipy.stats import binom, multivariate_normal, nbinom, norm, poisson

from twinset.estimate.certificate import both_bands_missed, both_scans_missed, certify, missed_range, on_grid, quantile

SEED = 11


@pytest.mark.parametrize(("mean", "variance"), [(0.3, 0.4), (3, 3), (5, 30), (80, 400), (0.01, 0.01)])
@pytest.mark.parametrize("probability", [0.025, 0.5, 0.975])
def test_quantiles_are_those_of_the_negative_binomial(mean, variance, probability):
    expected = poisson.ppf(probability, mean) if variance <= mean else nbinom.ppf(probability, mean**2 / (variance - mean), mean / variance)
    assert quantile(mean, variance, probability) == expected


@pytest.mark.parametrize(("mean", "variance"), [(200, 500), (5000, 90_000), (1e6, 4e9), (300, 90_000), (1e4, 3e8)])
def test_large_quantiles_are_close(mean, variance):
    for probability in (0.025, 0.975):
        expected = nbinom.ppf(probability, mean**2 / (variance - mean), mean / variance)
        assert abs(quantile(mean, variance, probability) - expected) <= 0.02 * variance**0.5 + 1


def simulate(p, weight, rounds):
    """How often the interval held the number missed when pairs are found independently, and the mean error of the estimate over its scatter."""
    random = np.random.default_rng(SEED)
    held, errors = 0, []
    for _ in range(rounds):
        seen = random.random(len(p)) < p
        said = certify(0.8, float(p.min()), p[seen], weight[seen])
        missed = weight[~seen].sum()
        held += said.missed_low <= missed <= said.missed_high
        errors.append(said.missed - missed)
    return held, np.array(errors)


@pytest.mark.parametrize("count", [0, 1, 5, 60, 2000])
@pytest.mark.parametrize("lowest", [0.6, 0.9, 0.99])
def test_the_interval_holds_the_number_missed(count, lowest):
    # Model: independent misses. False alarm 1e-6 a case at a coverage of 0.95 less 0.02 for the discreteness of counts; a coverage of 0.85 is missed with p < 1e-6.
    rounds, alarm = 1500, 1e-6
    p = np.random.default_rng(1).uniform(lowest, 1, count) if count else np.array([lowest])[:0]
    if not count:
        assert certify(0.8, lowest, p, p).missed_low == 0
        return
    held, errors = simulate(p, np.ones(count), rounds)
    assert held >= binom.ppf(alarm, rounds, 0.93)
    assert abs(errors.mean()) < 5 * errors.std() / rounds**0.5 + 1e-9  # 5 standard errors: false alarm 6e-7


def test_pairs_of_repeats_are_missed_together():
    weight = np.random.default_rng(2).choice([1.0, 4.0, 25.0], 80)
    rounds = 1500
    held, _ = simulate(np.full(80, 0.9), weight, rounds)
    assert held >= binom.ppf(1e-6, rounds, 0.92)


def test_dependence_within_components_widens_the_interval():
    found, component = np.full(60, 0.9), np.repeat(np.arange(6), 10)
    alone = certify(0.8, 0.9, found, np.ones(60))
    together = certify(0.8, 0.9, found, np.ones(60), component=component, excess=np.full(60, 0.05))
    assert together.missed == alone.missed
    assert together.missed_high > alone.missed_high
    single = certify(0.8, 0.9, found, np.ones(60), component=np.arange(60), excess=np.full(60, 0.05))
    assert (single.missed_low, single.missed_high) == (alone.missed_low, alone.missed_high)


def test_nothing_missed_where_everything_is_found():
    said = certify(0.8, 1.0, np.ones(7), np.ones(7))
    assert (said.found, said.missed, said.missed_low, said.missed_high, said.recall) == (7, 0, 0, 0, 1)


def test_a_search_that_finds_nothing_knows_nothing():
    assert missed_range(0, 0, 0.0, 0.95)[1] > 1 << 60
    assert missed_range(0, 0, 0.5, 0.95)[1] > 0


def test_two_pairs_missed_by_bands():
    random = np.random.default_rng(SEED)
    p, rows, bands, shared = 0.8, 3, 5, 0.5
    trials = 200_000
    common = random.random((trials, bands, rows)) < shared  # where both pairs have the same luck
    lucks = [random.random((trials, bands, rows)) < p for _ in range(3)]
    one, other = (np.where(common, lucks[0], each).all(axis=2).any(axis=1) for each in lucks[1:])
    both = int((~one & ~other).sum())
    expected = float(both_bands_missed(np.array([p]), rows, bands, shared)[0])
    assert binom.ppf(1e-6, trials, expected) <= both <= binom.isf(1e-6, trials, expected)


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.9])
def test_two_pairs_missed_by_a_scan(correlation):
    missed = np.array([0.01, 0.2])
    for found, each in zip(both_scans_missed(missed, correlation), missed, strict=True):
        at = norm.isf(each)
        exact = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).cdf([-at, -at])
        assert abs(found - exact) < 2e-4


def test_the_grid_reads_smooth_functions():
    at = np.linspace(0.8, 1, 1000)
    assert np.abs(on_grid(at, 0.8, lambda x: x**6) - at**6).max() < 1e-3


def test_the_mean_of_one_heavy_lot_lies_above_its_interval():
    """The example of docs/certificate.md."""
    said = certify(0.8, 0.999, np.array([0.999]), np.array([1e6]))
    assert (round(said.missed), said.missed_low, said.missed_high) == (1001, 0, 0)
