"""A, C1, C2, T1 and T2: equal to their definitions in 60 digits, from infinite universes to full ones."""

import numpy as np
import pytest
import reference_estimate as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.estimate.probability import C1, C2, T1, T2, A, agreement, turning
from twinset.layout import Component

NEAR = {"rel": 1e-13, "abs": 1e-16}
DENSITIES = (0.0, 1e-30, 1e-17, 1e-10, 1e-9, 1e-6, 0.0031, 0.1, 0.5, 0.9, 0.999999)
PAIRS = ((0.0, 0.0), (1e-10, 1e-10), (1e-10, 0.9), (0.9, 0.9), (0.9, 0.8), (0.187, 0.172), (0.596, 0.035), (1e-6, 2e-6))
COMPONENTS = ((1, 1, 1), (1, 2, 1), (1, 8, 1), (1, 1, 2), (1, 1, 3), (1, 1, 8), (1, 1, 64))


@pytest.mark.parametrize("bits", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("r", DENSITIES)
def test_A_keeps_its_digits_at_every_density(r, bits):
    # log1p(-r) is good to half a unit in the last place, and 2^b r of those are what the exponential makes of it.
    assert float(A(r, bits)) == pytest.approx(float(reference.A(r, bits)), rel=1e-15 * (4 - 2**bits * np.log1p(-r)), abs=1e-300)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("r", [1e-19, 1e-10, 1e-9])
def test_A_of_wide_samples_keeps_its_digits(r, bits):
    assert float(A(r, bits)) == pytest.approx(float(reference.A(r, bits)), rel=1e-15 * (4 + 2.0**bits * r), abs=1e-300)


def test_the_printed_form_has_no_digits_left_where_the_papers_plot():
    r = 1e-17
    assert 1 - (1 - r) ** 2 == 0
    assert float(A(r, 1)) == pytest.approx(0.5, rel=1e-15)


@pytest.mark.parametrize(("r", "bits"), [(0.3, 1), (0.3, 2), (0.9, 3), (0.05, 1)])
def test_A_sums_the_positions_a_multiple_of_2_to_the_b_further_on(r, bits):
    assert float(A(r, bits)) == pytest.approx(reference.walked(r, bits, 2000), rel=1e-13)


@pytest.mark.parametrize("bits", [1, 2, 8, 32, 64])
def test_A_falls_from_2_to_the_minus_b_in_sparse_sets_to_0_in_full_ones(bits):
    values = A(np.array([0.0, 1e-6, 0.01, 0.1, 0.5, 1.0]), bits)
    assert values[0] == 2.0**-bits
    assert (np.diff(values) <= 0).all()
    assert values[-1] == 0
    assert float(A(1e-300, bits)) == pytest.approx(2.0**-bits, rel=1e-15)


@pytest.mark.parametrize(("r1", "r2"), PAIRS)
@pytest.mark.parametrize("component", COMPONENTS)
def test_agreement_is_the_definition_and_grows_as_it_says(component, r1, r2):
    part = Component(*component)
    most = min(r1, r2) / max(r1, r2) if r1 else 1.0
    for R in np.linspace(0, most, 7):
        p, slope = agreement(part, R, r1, r2)
        assert float(p) == pytest.approx(float(reference.agreement(component, R, r1, r2)), **NEAR)
        step = reference.Decimal("1e-20")
        exact = (reference.agreement(component, reference.Decimal(R) + step, r1, r2) - reference.agreement(component, reference.Decimal(R) - step, r1, r2)) / (2 * step)
        # A power of 2 E_1 - 1 loses the digits that 2 E_1 - 1 loses.
        assert float(slope) == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(1e-12, 1), st.floats(1e-12, 1), st.integers(1, 16), st.integers(1, 64))
def test_T1_and_T2_are_their_definitions(share, r1, r2, bits, xor):
    R = share * min(r1, r2) / max(r1, r2)
    assert float(T1(R, bits, r1, r2)) == pytest.approx(float(reference.T1(R, bits, r1, r2)), rel=1e-10, abs=1e-14)
    assert float(T2(R, xor, r1, r2)) == pytest.approx(float(reference.T2(R, xor, r1, r2)), abs=1e-13)
    assert float(T1(R, bits, r1, r2)) == float(C1(bits, r1, r2) + (1 - C2(bits, r1, r2)) * R)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(1e-12, 1), st.floats(1e-12, 1), st.integers(1, 64))
def test_the_two_sets_can_change_places(R, r1, r2, bits):
    assert float(C1(bits, r1, r2)) == pytest.approx(float(C1(bits, r2, r1)), rel=1e-14, abs=1e-300)
    assert float(T1(R, bits, r1, r2)) == pytest.approx(float(T1(R, bits, r2, r1)), rel=1e-14)


def test_C1_and_C2_differ_only_between_sets_of_unequal_density():
    assert float(C1(1, 0.3, 0.3)) == float(C2(1, 0.3, 0.3)) == float(A(0.3, 1))
    assert float(C1(1, 0.5, 0.1)) == pytest.approx((0.1 * float(A(0.5, 1)) + 0.5 * float(A(0.1, 1))) / 0.6, rel=1e-14)
    assert float(C2(1, 0.5, 0.1)) == pytest.approx((0.5 * float(A(0.5, 1)) + 0.1 * float(A(0.1, 1))) / 0.6, rel=1e-14)


def test_the_model_is_that_of_random_permutations():
    """Tiny sets in a universe of 4096 under 200 000 random permutations: the error of order 1/D is far below what this sees."""
    # False alarm 1e-6 over 6 checks: 5.2 standard errors each. It misses C1 taken for C2 (off by 0.018, 16 standard errors) with p < 1e-20.
    random = np.random.Generator(np.random.PCG64(3))
    r1, r2, a, trials = 0.5, 0.1, 0.05, 200_000
    kinds = np.array([a, r1 - a, r2 - a])
    R, union = a / kinds.sum(), kinds.sum()
    first = random.geometric(union, trials)
    kind = random.choice(3, trials, p=kinds / union)
    left = np.where(kind == 2, first + random.geometric(r1, trials), first)
    right = np.where(kind == 1, first + random.geometric(r2, trials), first)
    for bits in (1, 2, 3):
        agreed, p = ((left - right) % 2**bits == 0).mean(), float(T1(R, bits, r1, r2))
        assert abs(agreed - p) < 5.2 * (p * (1 - p) / trials) ** 0.5
    for xor in (2, 4, 5):
        differing = ((left - right) % 2)[: trials // xor * xor].reshape(-1, xor).sum(axis=1)
        agreed, p = (differing % 2 == 0).mean(), float(T2(R, xor, r1, r2))
        assert abs(agreed - p) < 5.2 * (p * (1 - p) / len(differing)) ** 0.5


def test_everything_agrees_at_resemblance_1():
    for component in COMPONENTS:
        for r in (0.0, 1e-10, 0.3, 1.0):
            assert float(agreement(Component(*component), 1.0, r, r)[0]) == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize(("r1", "r2"), [(0.5, 0.5), (0.187, 0.172), (0.9, 0.8)])
@pytest.mark.parametrize("xor", [2, 4, 64])
def test_an_even_xor_turns_where_one_bit_agrees_half_the_time(xor, r1, r2):
    part = Component(1, 1, xor)
    turn = float(turning(part, r1, r2))
    assert turn > 0
    assert float(T1(turn, 1, r1, r2)) == pytest.approx(0.5, rel=1e-15)
    above, below = (float(agreement(part, turn + shift, r1, r2)[0]) for shift in (0.05, -0.05))
    assert above == pytest.approx(below, rel=1e-13)


def test_nothing_else_turns():
    assert float(turning(Component(1, 1, 2))) == 0
    for part in (Component(1, 1, 1), Component(1, 2, 1), Component(1, 1, 3)):
        assert turning(part, np.array([0.5, 0.9]), 0.4).tolist() == [0, 0]


def test_arguments_broadcast():
    R, r1 = np.linspace(0, 0.5, 4)[:, None], np.array([0.2, 0.3])
    whole = T1(R, 2, r1, 0.25)
    assert whole.shape == (4, 2)
    assert all(whole[i, j] == T1(R[i, 0], 2, r1[j], 0.25) for i in range(4) for j in range(2))
    assert T2(R, 3, r1, 0.25).shape == agreement(Component(1, 1, 3), R, r1, 0.25)[1].shape == (4, 2)
