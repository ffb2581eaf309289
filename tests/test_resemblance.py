"""Estimates against E1 to E4 in 60 digits, exact tail probabilities, and the laws of sets."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import reference_estimate as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from twinset.errors import BadInput, BadOption
from twinset.estimate.resemblance import BLOCK, estimate
from twinset.layout import parse

# Sizes of both sets and the universe: r = 0, 0.3 beside 0.2, 1e-10 beside 9e-11, and 0.9 beside 0.8.
PLACES = {"sparse": (1000, 900, 0), "unequal": (30_000, 20_000, 100_000), "tiny r": (100, 90, 10**12), "dense": (900, 800, 1000)}
WHOLE = (("64", 64), ("8", 64), ("2", 64), ("1", 64), ("1.5", 64), ("10.4", 60), ("1:0.5+2:0.25+4:0.25", 64))
XORED = (("1/2", 64), ("1/3", 64), ("1/8", 256))
MIXED = (("1/3:0.5+1:0.5", 64), ("1/2:0.25+2:0.75", 64))


def pairs(name, samples, sizes_left, sizes_right, agreeing, universe=0, **options):
    agreeing = np.atleast_2d(agreeing)
    whole = np.ones(len(agreeing))
    return estimate(parse(name, samples), agreeing, sizes_left * whole, sizes_right * whole, universe=universe, **options)


def parts_of(name, samples):
    return [(part.samples, part.bits, part.xor) for part in parse(name, samples).components]


def densities(place):
    left, right, universe = PLACES[place]
    return (Decimal(left) / universe, Decimal(right) / universe) if universe else (Decimal(0), Decimal(0))


def possible(place):
    """The least and the largest resemblance of sets of these sizes."""
    left, right, universe = PLACES[place]
    shared = max(left + right - universe, 0) if universe else 0
    return Decimal(shared) / (left + right - shared), Decimal(min(left, right)) / max(left, right)


def plausible(components, place, shifts):
    """Counts that lie some standard deviations beside what resemblances over the whole possible range predict."""
    low, high = possible(place)
    rows = []
    for i, shift in enumerate(shifts):
        R = low + (high - low) * i / (len(shifts) - 1)
        row = []
        for j, part in enumerate(components):
            p = float(reference.agreement(part, R, *densities(place)))
            row.append(round(part[0] * p + (-1) ** j * shift * (part[0] * p * (1 - p)) ** 0.5))
        rows.append(np.clip(row, 0, [part[0] for part in components]))
    return np.array(rows)


def inverse_variance_mean(components, agreeing, r1, r2):
    """Each part alone, weighted as if the common estimate were true: T (1 - T) / k times the squared growth of the estimate with T."""
    around = min(max(reference.E4(components, agreeing, 0, 1, r1, r2), Decimal("0.02")), Decimal("0.98"))
    total = weights = Decimal(0)
    for part, M in zip(components, agreeing, strict=True):
        T, step, many = reference.agreement(part, around, r1, r2), Decimal("1e-20"), 10**6
        one = (many, *part[1:])
        alone = (lambda count, part=one: reference.E2(part, count, r1, r2)) if part[2] > 1 else (lambda count, part=one: reference.E1([part], [count], r1, r2))
        rise = (alone(many * (T + step)) - alone(many * (T - step))) / (2 * step)
        weight = part[0] / (T * (1 - T) * rise**2)
        total, weights = total + weight * alone(many * Decimal(M) / part[0]), weights + weight
    return total / weights


def tolerance(components, expected, place):
    """1e-9, but where every part's chance of agreement is level, R is fixed to a root of its precision only."""
    level = components[0][2] > 1 and abs(2 * reference.T1(expected, 1, *densities(place)) - 1) < Decimal("1e-3")
    return 1e-5 if level and len(components) == 1 else 1e-9


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "samples"), [*WHOLE, *XORED, MIXED[0]])
def test_the_value_is_the_likeliest_resemblance(name, samples, place):
    """That of an even XOR lies above its turning point, where the chance of agreement starts to grow with R."""
    components = parts_of(name, samples)
    low, high = possible(place)
    if name in ("1/2", "1/8"):
        start, growth = reference.line(1, *densities(place))
        low = min(max((Decimal("0.5") - start) / growth, low), high)
    counts = plausible(components, place, (0, -1, 2, 0.5))
    found = pairs(name, samples, *PLACES[place][:2], counts, PLACES[place][2])
    for row, value in zip(counts.tolist(), found.value, strict=True):
        expected = reference.E4(components, row, low, high, *densities(place))
        assert value == pytest.approx(float(expected), abs=tolerance(components, expected, place))


@pytest.mark.parametrize("place", PLACES)
def test_raw_is_E1_for_whole_bits_E2_for_an_xor_and_E3_for_three_quarters(place):
    left, right, universe = PLACES[place]
    r1, r2 = densities(place)
    for name, samples in (*WHOLE, *XORED, ("3/4", 64)):
        components = parts_of(name, samples)
        counts = np.array([[part[0] * i // 5 for part in components] for i in range(6)])
        found = pairs(name, samples, left, right, counts, universe).raw
        for row, value in zip(counts.tolist(), found, strict=True):
            if name == "3/4":
                expected = reference.E3(samples, sum(row), r1, r2)
            elif name in dict(XORED):
                expected = reference.E2(components[0], row[0], r1, r2)
            else:
                expected = reference.E1(components, row, r1, r2)
            assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("place", ["sparse", "unequal"])
@pytest.mark.parametrize(("name", "samples"), MIXED)
def test_raw_of_another_mixture_is_the_inverse_variance_mean_of_its_parts(name, samples, place):
    components = parts_of(name, samples)
    counts = plausible(components, place, (0, 1, -1, 2, 0, -1))[2:]
    found = pairs(name, samples, *PLACES[place][:2], counts, PLACES[place][2]).raw
    expected = [float(inverse_variance_mean(components, row, *densities(place))) for row in counts.tolist()]
    assert found == pytest.approx(expected, rel=1e-8)


def test_raw_may_leave_the_range_and_value_never_does():
    found = pairs("1", 64, 100, 50, [[0], [10], [64]])
    assert found.raw.tolist() == [-1, -0.6875, 1]
    assert found.value.tolist() == [0, 0, 0.5]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["1", "8", "1/3"])
def test_both_ends_leave_half_of_the_rest_in_an_exact_tail(name, place):
    """Far from both ends of the range: the exact mid-p deviate of the count, seen from either end of the interval."""
    many = 1 << 17
    low, high = possible(place)
    part = (many, *parts_of(name, 64)[0][1:])
    M = round(many * float(reference.agreement(part, low / 4 + 3 * high / 4, *densities(place))))
    for level, deviate in ((0.5, 0.6744898), (0.95, 1.9599640), (0.999, 3.2905267)):
        found = pairs(name, many, *PLACES[place][:2], [[M]], PLACES[place][2], level=level)
        for end, wanted in ((found.low[0], deviate), (found.high[0], -deviate)):
            p = float(reference.agreement(part, end, *densities(place)))
            assert reference.normal_deviate(binom.sf(M, many, p) + binom.pmf(M, many, p) / 2) == pytest.approx(wanted, abs=1e-3)


def test_the_interval_knows_which_resemblances_the_sizes_allow():
    """R_max = smaller / larger, and in a finite universe what must overlap."""
    sizes = np.array([[100, 100], [100, 50], [50, 100], [100, 1]])
    some = estimate(parse("1", 64), [[64]] * 4, *sizes.T)
    assert some.value.tolist() == some.high.tolist() == [1, 0.5, 0.5, 0.01]
    dense = pairs("1", 64, 900, 800, [[0], [64]], 1000)
    assert dense.value == pytest.approx([700 / 1000, 800 / 900], abs=1e-9)
    assert (dense.low >= 0.7 - 1e-12).all()
    assert (dense.high <= 8 / 9).all()
    # Two sets of which one is everything have one resemblance.
    for name in ("1", "1/2", "3/4"):
        full = pairs(name, 64, 1000, 700, [[part[0] // 2 for part in parts_of(name, 64)]], 1000)
        assert [full.value[0], full.low[0], full.high[0]] == pytest.approx([0.7] * 3)


def test_a_ceiling_replaces_the_bound_by_sizes():
    assert pairs("1", 64, 100, 50, [[64]], ceiling=0.8).value.tolist() == [0.8]
    several = pairs("1", 64, 100, 100, [[64], [64], [0]], ceiling=[0.3, 1.0, 0.4])
    assert several.value.tolist() == [0.3, 1, 0]
    assert (several.high <= [0.3, 1, 0.4]).all()
    assert pairs("1", 64, 90, 80, [[64]], 100, ceiling=1.0).value[0] > 0.99  # the sizes allow 8/9


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 64), st.integers(1, 10**9), st.integers(1, 10**9))
def test_sizes_turn_a_resemblance_into_what_two_sets_share(M, left, right):
    """R2 to R4, as exact fractions of the resemblance: value and both ends."""
    found = pairs("1", 64, left, right, [[M]])
    for at, R in (("value", found.value), ("low", found.low), ("high", found.high)):
        R = Fraction(float(R[0]))
        shared = R * (left + right) / (1 + R)
        assert getattr(found.intersection, at)[0] == pytest.approx(float(shared), rel=1e-12)
        assert getattr(found.containment_left, at)[0] == pytest.approx(float(min(shared / left, 1)), rel=1e-12)
        assert getattr(found.containment_right, at)[0] == pytest.approx(float(min(shared / right, 1)), rel=1e-12)
        # More resemblance is less distance, so its ends change places.
        mirrored = {"value": "value", "low": "high", "high": "low"}[at]
        assert getattr(found.hamming, mirrored)[0] == pytest.approx(float(left + right - 2 * shared), rel=1e-9, abs=1e-9 * (left + right))
    for part in (found.intersection, found.containment_left, found.containment_right, found.hamming):
        assert 0 <= part.low[0] <= part.value[0] <= part.high[0]
    assert max(found.containment_left.high[0], found.containment_right.high[0]) <= 1
    assert found.intersection.high[0] <= min(left, right) * (1 + 1e-12)


def test_a_subset_is_contained_and_equal_sets_are_no_distance_apart():
    inside = pairs("64", 64, 200, 50, [[64]])
    assert inside.value.tolist() == [0.25]
    assert inside.intersection.value == pytest.approx([50])
    assert inside.containment_left.value == pytest.approx([0.25])
    assert inside.containment_right.value == pytest.approx([1])
    assert inside.hamming.value == pytest.approx([150])
    assert pairs("64", 64, 200, 200, [[64]]).hamming.value.tolist() == [0]


@pytest.mark.parametrize("universe", [0, 100])
@pytest.mark.parametrize("name", ["1", "1/2", "3/4", "64"])
def test_an_empty_set_resembles_nothing(name, universe):
    layout = parse(name, 64)
    sizes = np.array([[0, 5], [5, 0], [0, 0], [5, 5]])
    found = estimate(layout, [[part.samples for part in layout.components]] * 4, *sizes.T, universe=universe)
    for part in (found.value, found.low, found.high, found.raw, found.intersection.value, found.containment_left.value, found.containment_right.high):
        assert part[:3].tolist() == [0, 0, 0]
    assert found.hamming.low[:3].tolist() == found.hamming.high[:3].tolist() == [5, 5, 0]
    assert found.value[3] == pytest.approx(1)


def test_no_pairs_give_no_estimates():
    for universe in (0, 10):
        assert len(estimate(parse("1.5", 64), np.empty((0, 2), np.int32), [], [], universe=universe)) == 0


@pytest.mark.parametrize("universe", [0, 3000])
@pytest.mark.parametrize("name", ["1", "1.5", "1/2", "3/4"])
def test_a_pair_is_answered_alike_alone_among_others_and_turned_round(name, universe):
    layout, random = parse(name, 256), np.random.default_rng(5)
    # Repeats, bounds near and far, and empty sets: all that estimate() treats together.
    counts = np.stack([random.integers(part.samples // 3, part.samples + 1, 60) for part in layout.components], axis=1)
    left, right = random.integers(0, 1500, (2, 60))
    left[:20], right[:20], counts[40:50] = 1000, 900, counts[0]
    together = estimate(layout, counts, left, right, universe=universe)
    turned = estimate(layout, counts[::-1], right[::-1], left[::-1], universe=universe)
    for i in range(60):
        alone = estimate(layout, counts[i : i + 1], left[i : i + 1], right[i : i + 1], universe=universe)
        for part in ("value", "low", "high", "raw"):
            assert getattr(alone, part)[0] == pytest.approx(getattr(together, part)[i], abs=1e-8)
            assert getattr(turned, part)[59 - i] == pytest.approx(getattr(together, part)[i], abs=1e-8)


def test_more_distinct_pairs_than_a_block_are_all_answered():
    """Finite universe: each size is a problem of its own."""
    n = BLOCK + 100
    left = np.arange(1, n + 1)
    found = estimate(parse("64", 64), np.full((n, 1), 32), left, left, universe=10**9)
    assert found.value == pytest.approx(np.full(n, 0.5), abs=1e-8)
    assert found.low == pytest.approx(np.full(n, found.low[0]), abs=1e-6)


def test_estimates_take_another_shape_with_their_sizes():
    found = estimate(parse("1", 64), [[i] for i in range(32, 38)], np.arange(6) + 10, np.arange(6) + 11).reshape(2, 3)
    assert found.value.shape == found.intersection.high.shape == (2, 3)
    assert found.sizes_left.tolist() == [[10, 11, 12], [13, 14, 15]]
    assert (np.diff(found.raw.reshape(-1)) > 0).all()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([48], [1], [1]), {}, BadInput, r"agreeing has shape (1,); allowed for layout '1': (pairs, 1)"),
        (([[48, 3]], [1], [1]), {}, BadInput, r"agreeing has shape (1, 2); allowed for layout '1': (pairs, 1)"),
        (([[65]], [1], [1]), {}, BadInput, "agreeing has values from 65 to 65; allowed for layout '1': 0 to 64"),
        (([[3], [-1]], [1, 1], [1, 1]), {}, BadInput, "agreeing has values from -1 to 3; allowed for layout '1': 0 to 64"),
        (([[np.nan]], [1], [1]), {}, BadInput, "agreeing has values from nan to nan; allowed for layout '1': 0 to 64"),
        (([[48]], 1, [1]), {}, BadInput, "sizes_left has shape (); allowed: (1,), one size for each pair"),
        (([[48]], [1], [1, 1]), {}, BadInput, "sizes_right has shape (2,); allowed: (1,), one size for each pair"),
        (([[48]], [-1], [1]), {}, BadInput, "sizes_left has a size of -1; allowed: 0 and more"),
        (([[48]], [1], [np.nan]), {}, BadInput, "sizes_right has a size of nan; allowed: 0 and more"),
        (([[48]], [1], [1]), {"level": 1}, BadOption, "level is 1; allowed: more than 0 and less than 1"),
        (([[48]], [1], [1]), {"level": 0.0}, BadOption, "level is 0.0; allowed: more than 0 and less than 1"),
        (([[48]], [1], [1]), {"level": np.nan}, BadOption, "level is nan; allowed: more than 0 and less than 1"),
        (([[48]], [9], [1]), {"universe": 8}, BadOption, "universe is 8; allowed: 0 for no bound, or at least the size of the largest set"),
        (([[48]], [1], [1]), {"universe": -1}, BadOption, "universe is -1; allowed: 0 for no bound, or at least the size of the largest set"),
    ],
)
def test_what_does_not_fit_is_named(arguments, options, error, message):
    with pytest.raises(error) as caught:
        estimate(parse("1", 64), *arguments, **options)
    assert str(caught.value) == message
