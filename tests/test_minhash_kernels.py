"""Minima and their finish equal the definitions, for every number of elements in a block, and write nothing else."""

import numpy as np
import pytest
import reference_sketch as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_families import splitmix64

from twinset.kernels.minhash import finish32, finish64, minima32, minima64

MARK = 0xA5A5A5A5
EDGES = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 2**32, 2**64 - 1]
ROWS = [[], *(splitmix64(size, size) for size in range(1, 20)), [], EDGES, [0], [2**64 - 1], splitmix64(99, 200)]
WIDTHS = {32: (np.uint32, minima32, reference.minima32, finish32, reference.finish32), 64: (np.uint64, minima64, reference.minima64, finish64, reference.finish64)}

both_widths = pytest.mark.parametrize("width", WIDTHS)


def shape(rows):
    return np.array([x for row in rows for x in row], np.uint64), np.cumsum([0, *map(len, rows)], dtype=np.int64)


def odd(width, lanes):
    """Multipliers, the smallest and the largest among them."""
    return [1, 2**width - 1, *(word % 2**width | 1 for word in splitmix64(5, lanes - 2))]


def minima(width, rows, multipliers, first=0, last=None, spare=2):
    """What the kernel writes for some rows into a marked array, and the rows it must leave alone."""
    kind, kernel, *_ = WIDTHS[width]
    last = len(rows) if last is None else last
    out = np.full((last - first + spare, len(multipliers)), MARK, kind)
    kernel(*shape(rows), first, last, np.array(multipliers, kind), out)
    return out[: last - first], out[last - first :]


@pytest.mark.compiled
@pytest.mark.parametrize("lanes", [16, 48])
@both_widths
def test_minima_equal_the_definition(width, lanes):
    multipliers = odd(width, lanes)
    found, beyond = minima(width, ROWS, multipliers)
    assert found.tolist() == WIDTHS[width][2](ROWS, multipliers)
    assert (beyond == MARK).all()


@pytest.mark.compiled
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.one_of(st.sampled_from(EDGES), st.integers(0, 2**64 - 1)), max_size=18), max_size=4), st.integers(0, 2**64 - 1))
def test_minima_of_random_sets_equal_the_definition(rows, seed):
    for width in WIDTHS:
        multipliers = [word % 2**width | 1 for word in splitmix64(seed, 16)]
        assert minima(width, rows, multipliers)[0].tolist() == WIDTHS[width][2](rows, multipliers)


@pytest.mark.compiled
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 5), (7, 8), (3, 20), (len(ROWS), len(ROWS))])
@both_widths
def test_only_the_rows_asked_for_are_sketched(width, first, last):
    multipliers = odd(width, 16)
    found, beyond = minima(width, ROWS, multipliers, first, last)
    assert found.tolist() == WIDTHS[width][2](ROWS[first:last], multipliers)
    assert (beyond == MARK).all()


@pytest.mark.compiled
@both_widths
def test_order_and_repeats_change_no_minimum_and_a_union_has_the_smaller_of_two(width):
    multipliers, left, right = odd(width, 16), splitmix64(1, 37), splitmix64(2, 50)
    found, _ = minima(width, [left, right, left + right, left[::-1] + left[:9]], multipliers)
    assert np.array_equal(found[2], np.minimum(found[0], found[1]))
    assert np.array_equal(found[3], found[0])


@pytest.mark.filterwarnings("ignore:overflow encountered")  # only with NUMBA_DISABLE_JIT=1
@pytest.mark.parametrize(("begin", "end", "rows"), [(0, 24, 3), (5, 19, 3), (23, 24, 2), (8, 8, 3), (0, 24, 0)])
@both_widths
def test_the_finish_equals_the_definition_and_touches_no_other_lane(width, begin, end, rows):
    kind, _, _, kernel, definition = WIDTHS[width]
    values = [[x % 2**width for x in [*EDGES, *splitmix64(row, 16)]] for row in range(3)]
    multipliers = odd(width, 24)
    out = np.array(values, kind)
    kernel(out, rows, begin, end, np.array(multipliers, kind))
    expected = [[definition(z, multipliers[j]) if begin <= j < end and d < rows else z for j, z in enumerate(row)] for d, row in enumerate(values)]
    assert out.tolist() == expected


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("width", "published"), [(32, 0x514E28B7), (64, 0xB456BCFC34C2CB2C)])
def test_the_finish_is_the_one_of_murmurhash3(width, published):
    """fmix32(1) and fmix64(1), from a minimum and a multiplier that differ in the lowest bit."""
    kind, _, _, kernel, definition = WIDTHS[width]
    out = np.array([[6]], kind)
    kernel(out, 1, 0, 1, np.array([7], kind))
    assert out[0, 0] == published == definition(6, 7)


@both_widths
def test_the_finish_frees_the_lowest_bits(width):
    """An odd multiple has the lowest bit of its element; finished, its lowest bit falls either way: 2^-64 for all 65 lanes alike."""
    multipliers = odd(width, 65)
    plain = WIDTHS[width][2]([[0x9E3779B97F4A7C15]], multipliers)[0]
    assert {z % 2 for z in plain} == {1}
    assert {WIDTHS[width][4](z, a) % 2 for z, a in zip(plain, multipliers, strict=True)} == {0, 1}
