"""Packed words equal their definition for every number of bits, and unpack to the samples they were made of."""

from itertools import chain

import numpy as np
import pytest
import reference_sketch as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_families import splitmix64

from twinset.kernels.packing import pack, unpack

ONES = np.uint64(2**64 - 1)
COUNTS = [1, 63, 64, 65, 130]
MIXTURES = [
    [(64, 1, 1), (64, 2, 1)],
    [(70, 10, 1), (3, 11, 1)],
    [(65, 1, 2), (65, 1, 1)],
    [(10, 1, 1), (5, 2, 1), (5, 4, 1)],
    [(5, 1, 8), (129, 32, 1), (1, 1, 3)],
    [(2, 64, 1), (66, 7, 1)],
]


def minima(rows, components, kind):
    """Random finished minima, as many as the components consume, with all zeros and all ones among them."""
    lanes = sum(samples * xor for samples, _, xor in components)
    words = np.array(splitmix64(lanes, rows * lanes), np.uint64).reshape(rows, lanes)
    words[:, ::7], words[:, 1::11] = 0, ONES
    return words if kind is np.uint64 else (words >> np.uint64(32)).astype(np.uint32)


def packed(found, components, rows=None):
    """What the kernel writes over words full of ones."""
    rows = len(found) if rows is None else rows
    words = np.full((rows, sum(-(-samples // 64) * bits for samples, bits, _ in components)), ONES)
    pack(found, rows, np.array(components, np.int64), words)
    return words


def unpacked(words, components, rows):
    out = np.full((len(rows), sum(samples for samples, _, _ in components)), ONES)
    unpack(words, np.array(rows, np.int64), np.array(components, np.int64), out)
    return out.tolist()


def check(components, kind, rows=2):
    found = minima(rows, components, kind)
    words = packed(found, components)
    assert words.tolist() == [reference.pack(row, components) for row in found.tolist()]
    assert unpacked(words, components, range(rows)) == [list(chain.from_iterable(reference.samples(row, components))) for row in found.tolist()]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("bits", [*range(1, 33), 64])
def test_every_number_of_bits(bits, count):
    check([(count, bits, 1)], np.uint64 if bits == 64 else np.uint32)


@pytest.mark.parametrize("xor", [2, 3, 4, 8, 64])
@pytest.mark.parametrize("count", COUNTS)
def test_xors_of_lowest_bits(xor, count):
    check([(count, 1, xor)], np.uint32)


@pytest.mark.parametrize("components", MIXTURES, ids=str)
def test_mixtures(components):
    check(components, np.uint64)
    if all(bits <= 32 for _, bits, _ in components):
        check(components, np.uint32)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.tuples(st.integers(1, 70), st.integers(1, 32), st.just(1)), st.tuples(st.integers(1, 70), st.just(1), st.integers(2, 5))), min_size=1, max_size=4))
def test_random_mixtures(components):
    check(components, np.uint64)


@pytest.mark.parametrize("components", MIXTURES, ids=str)
def test_more_minima_than_needed_change_nothing(components):
    """Scratch space has more rows than documents, and lanes are padded to whole vectors."""
    found = minima(5, components, np.uint64)
    wider = np.concatenate([found, np.full((5, 9), ONES)], axis=1)
    assert np.array_equal(packed(wider, components, 3), packed(found[:3], components))
    assert packed(found, components, 0).shape[0] == 0


@pytest.mark.parametrize(("bits", "xor"), [(1, 1), (7, 1), (64, 1), (1, 3)])
def test_a_prefix_of_whole_blocks_is_the_smaller_sketch(bits, xor):
    found = minima(3, [(200, bits, xor)], np.uint64)
    whole = packed(found, [(200, bits, xor)])
    for count in (64, 128, 192):
        assert np.array_equal(whole[:, : count // 64 * bits], packed(found, [(count, bits, xor)]))


def test_rows_are_unpacked_in_the_order_asked_for():
    components = MIXTURES[0]
    words = packed(minima(4, components, np.uint64), components)
    each = unpacked(words, components, range(4))
    assert unpacked(words, components, [3, 0, 0, 2]) == [each[3], each[0], each[0], each[2]]
    assert unpacked(words, components, []) == []
