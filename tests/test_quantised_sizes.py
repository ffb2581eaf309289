"""Sizes in 8 or 4 bits: what a code covers, what it decodes to, and how little that costs an estimate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.errors import BadInput, BadOption
from twinset.estimate.probability import C1, C2, T1
from twinset.estimate.sizes import BITS, LARGEST, bounds, ceiling, decode, encode, relative_error
from twinset.sketch.sizes import Sizes

UNIVERSES = [0, 1, 7, 15, 16, 200, 255, 256, 1000, 65_536, 1 << 26]

every_scale = pytest.mark.parametrize(("bits", "universe"), [(bits, universe) for bits in BITS for universe in UNIVERSES])
sizes_of_sets = st.one_of(st.integers(0, 40), st.integers(0, 1 << 26), st.integers(0, LARGEST), st.integers(0, 32).map(lambda power: 1 << power))


def used(bits, universe):
    """The codes that a scale uses: a universe smaller than their number leaves some over."""
    return np.arange(min(1 << bits, universe + 1) if universe else 1 << bits)


# Codes


@every_scale
def test_codes_divide_all_sizes_without_gap_or_overlap(bits, universe):
    codes = used(bits, universe)
    low, high = bounds(codes, bits, universe)
    assert (low[0], high[0], high[-1]) == (0, 0, universe or LARGEST)
    assert (low[1:] == high[:-1] + 1).all()
    assert (low <= high).all()
    assert np.array_equal(encode(low, bits, universe), codes)
    assert np.array_equal(encode(high, bits, universe), codes)


@every_scale
def test_a_decoded_size_lies_within_its_code_and_only_the_empty_set_is_0(bits, universe):
    codes = used(bits, universe)
    low, high = bounds(codes, bits, universe)
    sizes = decode(codes, bits, universe)
    assert ((low <= sizes) & (sizes <= high)).all()
    assert np.flatnonzero(sizes == 0).tolist() == [0]
    assert np.flatnonzero(encode(np.arange(min(universe or 100, 100) + 1), bits, universe) == 0).tolist() == [0]


@pytest.mark.parametrize("bits", BITS)
def test_a_decoded_size_encodes_to_its_code_again(bits):
    codes = used(bits, 0)
    assert np.array_equal(encode(decode(codes, bits), bits), codes)
    for universe in UNIVERSES[1:]:
        middles = np.floor(decode(used(bits, universe), bits, universe))
        assert np.array_equal(encode(middles, bits, universe), used(bits, universe))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(sizes_of_sets, min_size=2, max_size=20), st.sampled_from(BITS), st.sampled_from(UNIVERSES))
def test_a_size_lies_within_the_bounds_of_its_code_and_larger_sizes_never_get_smaller_codes(sizes, bits, universe):
    sizes = np.sort(np.minimum(sizes, universe or LARGEST))
    codes = encode(sizes, bits, universe)
    low, high = bounds(codes, bits, universe)
    assert codes.dtype == np.uint8
    assert codes.max() < 1 << bits
    assert ((low <= sizes) & (sizes <= high)).all()
    assert (np.diff(codes.astype(int)) >= 0).all()


def test_small_sizes_are_exact():
    """All sizes up to 15 in 8 bits, up to 1 in 4 bits, and in a universe with no more elements than codes."""
    for bits, last in ((8, 15), (4, 1)):
        assert decode(encode(np.arange(last + 1), bits), bits).tolist() == list(range(last + 1))
    for bits, universe in ((8, 255), (8, 100), (4, 15), (4, 3)):
        assert decode(encode(np.arange(universe + 1), bits, universe), bits, universe).tolist() == list(range(universe + 1))


def test_the_relative_error_in_an_infinite_universe():
    """In 8 bits 1/16, for 16 is decoded as 17, and below 4.2 % from 100 elements on; in 4 bits a factor of 2.21."""
    for bits in BITS:
        (low, high), middle = bounds(used(bits, 0)[1:], bits), decode(used(bits, 0)[1:], bits)
        assert relative_error(bits) == max((middle / low).max(), (high / middle).max()) - 1
    assert relative_error(8) == 1 / 16
    assert round(relative_error(4), 2) == 1.21
    edges = np.concatenate(bounds(used(8, 0), 8))
    large = edges[edges >= 100]
    assert (np.abs(decode(encode(large, 8), 8) - large) / large).max() < 0.042


@pytest.mark.parametrize(("bits", "error"), [(8, 1 / 510), (4, 1 / 30)])
@pytest.mark.parametrize("universe", [256, 1000, 65_536, 1 << 20])
def test_the_error_of_the_density_in_a_finite_universe(bits, error, universe):
    sizes = np.arange(universe + 1)
    assert np.abs(decode(encode(sizes, bits, universe), bits, universe) - sizes).max() / universe < error


# What they do to an estimate


@settings(max_examples=300, deadline=None, derandomize=True)
@given(sizes_of_sets, sizes_of_sets, st.sampled_from(BITS), st.sampled_from(UNIVERSES))
def test_the_ceiling_is_never_below_the_largest_resemblance_of_the_true_sizes(left, right, bits, universe):
    left, right = (min(size, universe or LARGEST) for size in (left, right))
    codes = encode([left], bits, universe), encode([right], bits, universe)
    top = ceiling(*codes, bits, universe)[0]
    assert min(left, right) / max(left, right, 1) <= top <= 1
    assert top == ceiling(*codes[::-1], bits, universe)[0]
    assert (top == 0) == (0 in (left, right))


@pytest.mark.parametrize("bits", BITS)
def test_the_ceiling_is_reached_by_some_sizes_of_its_codes(bits):
    codes = used(bits, 0)
    left, right = (side.reshape(-1) for side in np.meshgrid(codes, codes, indexing="ij"))
    (low_left, high_left), (low_right, high_right) = bounds(left, bits), bounds(right, bits)
    best = np.where(left == right, 1.0, np.where(left < right, high_left / np.maximum(low_right, 1), high_right / np.maximum(low_left, 1)))
    best[(left == 0) | (right == 0)] = 0
    assert np.array_equal(ceiling(left, right, bits), best)


def bias(bits, sizes, universe, quantised_in):
    """The largest |bias| of E1 over all pairs of these sizes and all their resemblances, when A(r) is taken at the decoded sizes."""
    left, right = (side.reshape(-1, 1) for side in np.meshgrid(sizes, sizes, indexing="ij"))
    shared = np.maximum(left + right - universe, 0)
    least, most = shared / (left + right - shared), np.minimum(left, right) / np.maximum(left, right)
    resemblance = least + (most - least) * np.linspace(0, 1, 9)
    agreeing = T1(resemblance, bits, left / universe, right / universe)
    r1, r2 = (decode(encode(side, quantised_in, universe), quantised_in, universe) / universe for side in (left, right))
    return float(np.abs((agreeing - C1(bits, r1, r2)) / (1 - C2(bits, r1, r2)) - resemblance).max())


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8, 16, 32])
@pytest.mark.parametrize("universe", [1000, 1 << 20])
def test_eight_bits_for_a_size_bias_the_resemblance_by_less_than_1_in_256(bits, universe):
    """The claim of the b-bit paper (section 5.2), for every pair of sizes and not only for equal ones; four bits: less than 1 in 16."""
    sizes = np.unique(np.concatenate([np.linspace(1, universe, 150), np.geomspace(1, universe, 100)]).astype(np.int64))
    assert bias(bits, sizes, universe, 8) < 1 / 256
    assert bias(bits, sizes, universe, 4) < 1 / 16


# Errors


@pytest.mark.parametrize("call", [lambda: encode([1], 5), lambda: decode([1], 5), lambda: bounds([1], 5), lambda: ceiling([1], [1], 5)])
def test_other_numbers_of_bits_are_refused(call):
    with pytest.raises(BadOption, match="^bits of a size is 5; allowed: 4 or 8$"):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: encode([3, -1], 8), "sizes run from -1 to 3; allowed: 0 to 4294967296"),
        (lambda: encode([0, LARGEST + 1], 4), "sizes run from 0 to 4294967297; allowed: 0 to 4294967296"),
        (lambda: encode([5, 101], 8, 100), "sizes run from 5 to 101; allowed: 0 to 100"),
        (lambda: decode([0, 16], 4), "codes of sizes run from 0 to 16; allowed: 0 to 15"),
        (lambda: bounds([-1, 3], 8, 100), "codes of sizes run from -1 to 3; allowed: 0 to 255"),
        (lambda: Sizes.store(np.array([LARGEST + 1]), "8"), "sizes run from 4294967297 to 4294967297; allowed: 0 to 4294967296"),
    ],
)
def test_sizes_and_codes_out_of_range_are_refused(call, said):
    with pytest.raises(BadInput, match=f"^{said}$"):
        call()


# Sizes beside sketches


COUNTS = np.array([0, 1, 5, 12, 13, 100, 99_999, 3, LARGEST])
SMALL = np.array([0, 1, 5, 12, 13, 100, 500, 3, 1000])


@pytest.mark.parametrize("rows", range(len(COUNTS) + 1))
@pytest.mark.parametrize(("counts", "universe"), [(COUNTS, 0), (SMALL, 1000)])
def test_stored_sizes_take_their_bytes_and_come_back(counts, universe, rows):
    """Two codes of 4 bits share a byte; the last of an odd number shares it with nothing."""
    counts = counts[:rows]
    for kind, size in (("exact", 8 * rows), ("8", rows), ("4", (rows + 1) // 2)):
        sizes = Sizes.store(counts, kind, universe)
        known = counts if kind == "exact" else decode(encode(counts, int(kind), universe), int(kind), universe)
        assert (len(sizes), sizes.nbytes, sizes.kind, sizes.universe) == (rows, size, kind, universe)
        assert sizes.counts().tolist() == known.tolist()
        if kind != "exact":
            assert np.array_equal(sizes.codes(), encode(counts, int(kind), universe))
            assert np.array_equal(Sizes.of_codes(sizes.codes(), kind, universe).stored, sizes.stored)


@pytest.mark.parametrize("kind", ["exact", "8", "4"])
@pytest.mark.parametrize("rows", [[], [8], [1, 0, 7, 7], [2, 3, 4, 5, 6]], ids=str)
def test_sizes_of_selected_rows(kind, rows):
    rows = np.array(rows, np.int64)
    for counts, universe in ((COUNTS, 0), (SMALL, 1000)):
        whole = Sizes.store(counts, kind, universe)
        expected = Sizes.store(counts[rows], kind, universe)
        assert np.array_equal(whole[rows].stored, expected.stored)
        assert (len(whole[rows]), whole[rows].universe) == (len(rows), universe)
        assert np.array_equal(whole.counts(rows), expected.counts())


@pytest.mark.parametrize("universe", [0, 1000])
def test_only_quantised_sizes_have_a_ceiling_of_their_own(universe):
    left, right = SMALL, SMALL[::-1]
    assert Sizes.store(left, "exact", universe).ceiling(Sizes.store(right, "exact", universe)) is None
    for kind in ("8", "4"):
        codes = [encode(side, int(kind), universe) for side in (left, right)]
        assert np.array_equal(Sizes.store(left, kind, universe).ceiling(Sizes.store(right, kind, universe)), ceiling(*codes, int(kind), universe))
