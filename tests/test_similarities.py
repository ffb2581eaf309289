"""Distributions of resemblance as they are stated, and precision and recall against every outcome of a sketch."""

import numpy as np
import pytest
import reference_estimate as reference
from scipy.stats import beta, binom

from twinset.errors import BadOption
from twinset.estimate.probability import agreement
from twinset.estimate.similarities import Similarities, precision_recall, reaching
from twinset.layout import parse

ALLOWED = "allowed: resemblances from 0 to 1 in an array, points and their shares ('0:0.9+0.5:0.05+0.85:0.05'), or 'beta:A,B' with A and B above 0"
PLACES = ((0.0, 0.0), (0.3, 0.25), (1e-10, 1e-10))


def exactly_reaching(layout, threshold, values, r1, r2):
    """The probability that the count of the one component is at least what the threshold predicts."""
    (part,) = layout.components
    needed = np.ceil(part.samples * float(reference.agreement((1, part.bits, part.xor), threshold, r1, r2)) - 1e-9)
    return binom.sf(needed - 1, part.samples, agreement(part, values, r1, r2)[0])


def test_points_keep_their_values_and_shares():
    found = Similarities.read("0.85:0.05+0:0.9+0.5:0.05", 0.8)
    assert found.values == pytest.approx([0, 0.5, 0.85])
    assert found.shares == pytest.approx([0.9, 0.05, 0.05])
    assert found.true.tolist() == [False, False, True]


def test_an_array_of_resemblances_counts_each_once_whatever_its_shape():
    values = np.array([[0.1, 0.9], [0.85, 0.1]])
    found = Similarities.read(values, 0.85)
    assert found.values == pytest.approx([0.1, 0.85, 0.9])
    assert found.shares == pytest.approx([0.5, 0.25, 0.25])
    assert found.true.tolist() == [False, True, True]


def test_a_thousand_bins_keep_the_mean_and_never_mix_both_sides_of_the_threshold():
    values = np.random.default_rng(1).random(20_000)
    threshold = 0.70035  # inside a bin
    found = Similarities.read(values, threshold)
    assert len(found.values) == 1001
    assert (found.values * found.shares).sum() == pytest.approx(values.mean(), rel=1e-12)
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares[found.true].sum() == pytest.approx((values >= threshold).mean(), rel=1e-12)
    assert found.values[~found.true].max() < threshold <= found.values[found.true].min()


@pytest.mark.parametrize(("a", "b"), [(0.5, 5), (1, 1), (2, 3), (8, 0.3), (0.05, 0.05), (40, 60)])
def test_a_beta_distribution_has_the_mass_of_its_bins(a, b):
    found = Similarities.read(f"beta:{a},{b}", 0.5)
    edges = np.linspace(0, 1, 1001)
    assert found.shares == pytest.approx(np.diff(beta.cdf(edges, a, b)), abs=2e-5)
    assert (found.shares * found.values).sum() == pytest.approx(a / (a + b), abs=2e-5)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("", f"similarities '': '' is not a number; {ALLOWED}"),
        ("most", f"similarities 'most': 'most' is not a number; {ALLOWED}"),
        ("0.9", f"similarities '0.9': '' is not a number; {ALLOWED}"),
        ("-1:1", f"similarities '-1:1': '-1' is not a number; {ALLOWED}"),
        ("nan:1", f"similarities 'nan:1': 'nan' is not a number; {ALLOWED}"),
        ("0.9:0.5+0.1:0.4", "similarities '0.9:0.5+0.1:0.4': the shares add up to 0.9; allowed: shares that add up to 1"),
        ("0.5:0.5+1.5:0.5", f"similarities run from 0.5 to 1.5; {ALLOWED}"),
        ("beta:0,5", f"similarities are 'beta:0,5'; {ALLOWED}"),
        ("beta:.,5", f"similarities 'beta:.,5': '.' is not a number; {ALLOWED}"),
        ("beta:1", f"similarities 'beta:1': 'beta' is not a number; {ALLOWED}"),
        ([-0.1, 0.9], f"similarities run from -0.1 to 0.9; {ALLOWED}"),
        ([np.nan, 0.9], f"similarities run from nan to nan; {ALLOWED}"),
        ("0:1", "similarities have no pair at or above the threshold 0.8, so precision has no meaning; allowed: some share there"),
        ("0.3:1+0.9:0", "similarities have no pair at or above the threshold 0.8, so precision has no meaning; allowed: some share there"),
    ],
)
def test_what_is_no_distribution_is_named(stated, message):
    with pytest.raises(BadOption) as caught:
        Similarities.read(stated, 0.8)
    assert str(caught.value) == message


@pytest.mark.parametrize(("r1", "r2"), PLACES)
@pytest.mark.parametrize(("name", "samples"), [("1", 64), ("1", 1024), ("8", 64), ("64", 200), ("1/2", 256), ("1/4", 100)])
def test_the_chance_of_reaching_the_threshold_is_the_binomial_tail(name, samples, r1, r2):
    """The saddlepoint is off by 0.003 at most, and by less among more samples."""
    layout, values = parse(name, samples), np.linspace(0.5, 0.83, 34)
    for threshold in (0.6, 0.8):
        expected = exactly_reaching(layout, threshold, values, r1, r2)
        assert reaching(layout, threshold, values, r1, r2) == pytest.approx(expected, abs=0.2 / samples)


@pytest.mark.parametrize(("name", "samples", "threshold"), [("1.5", 16, 0.5), ("3/4", 16, 0.6), ("1:0.5+4:0.5", 16, 0.7)])
def test_the_chance_of_a_mixture_is_that_of_its_likeliest_estimate(name, samples, threshold):
    """Every outcome of a tiny sketch, counted where its likelihood is greatest at or above the threshold: the score there is not negative."""
    layout = parse(name, samples)
    components = [(part.samples, part.bits, part.xor) for part in layout.components]
    step = reference.Decimal("1e-20")
    at = reference.Decimal(str(threshold))
    for truth in (0.3, 0.6, 0.8):
        expected = 0.0
        for agreeing, chance in reference.outcomes(components, truth):
            rise = reference.likelihood(components, agreeing, at + step) - reference.likelihood(components, agreeing, at - step)
            expected += float(chance) if rise >= 0 else 0.0
        # Outcomes of so few samples are lumps, of which the smooth tail takes half.
        assert reaching(layout, threshold, np.array([truth]))[0] == pytest.approx(expected, abs=0.06)


def test_every_pair_of_resemblance_1_is_found():
    for name in ("1", "1.5", "1/2"):
        assert reaching(parse(name, 64), 0.9, np.array([1.0])).tolist() == [1]


@pytest.mark.parametrize(("r1", "r2"), PLACES)
def test_precision_and_recall_are_weighted_sums_over_the_pairs(r1, r2):
    layout = parse("1", 512)
    stated = Similarities.read("0.2:0.6+0.65:0.25+0.72:0.1+0.8:0.05", 0.7)
    tails = exactly_reaching(layout, 0.7, stated.values, r1, r2)
    right = (tails * stated.shares)[stated.true].sum()
    precision, recall = precision_recall(layout, 0.7, stated, r1, r2)
    assert precision == pytest.approx(right / (tails * stated.shares).sum(), abs=0.002)
    assert recall == pytest.approx(right / 0.15, abs=0.002)
    assert 0.6 < precision < 0.95  # no corner case
    assert 0.6 < recall < 0.95


def test_more_samples_tell_pairs_better_apart():
    stated = Similarities.read("beta:0.5,5", 0.7)
    found = [precision_recall(parse("1", 1 << i), 0.7, stated) for i in range(8, 15, 2)]
    assert (np.diff(found, axis=0) > 0).all()
    assert found[-1][0] > 0.8
