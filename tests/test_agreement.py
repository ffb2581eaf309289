"""Agreeing samples equal their definition, pair by pair and tile by tile, for every number of bits and every tail."""

import numpy as np
import pytest
import reference_sketch as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.kernels.agreement import TOGETHER, WIDE, agree_pairs, agree_rows, transpose

pytestmark = pytest.mark.compiled

BITS = [*range(1, 33), 64]
SAMPLES = [1, 64, 65, 130, 512, 641]
COLUMNS = [1, 31, 32, 33, 64, 70]
MIXTURES = [
    [(64, 1, 1), (64, 2, 1)],
    [(512, 1, 1), (512, 2, 1)],
    [(120, 10, 1), (80, 11, 1)],
    [(65, 1, 2), (600, 1, 1)],
    [(300, 1, 1), (150, 2, 1), (150, 4, 1)],
    [(70, 8, 1), (1, 64, 1), (520, 1, 4)],
]
MARK = -77
WORD = np.uint64(0xFEDCBA9876543210)


def sketches(components, rows, seed=0):
    """Rows of minima (one for each sample) that agree with row 0 in about half of their samples and differ elsewhere in one bit or many; and their words."""
    random = np.random.Generator(np.random.PCG64(seed))
    stored = [(samples, bits, 1) for samples, bits, _ in components]
    limits = np.concatenate([np.full(samples, bits, np.uint64) for samples, bits, _ in stored])
    first = random.integers(0, 2**64, len(limits), np.uint64)
    one_bit = np.uint64(1) << random.integers(0, limits, (rows, len(limits)), np.uint64)
    change = np.where(random.random((rows, len(limits))) < 0.5, one_bit, random.integers(0, 2**64, (rows, len(limits)), np.uint64))
    change[random.random(change.shape) < 0.5] = 0
    change[0] = 0
    minima = (first ^ change).tolist()
    return minima, np.array([reference.pack(row, stored) for row in minima], np.uint64), stored


def parts_of(components):
    return np.array(components, np.int64)


def tiled(words, columns):
    """The first rows as the columns of a tile with a group to spare, which holds what is not to be counted."""
    tile = np.full((-(-columns // WIDE) + 1, words.shape[1], WIDE), WORD)
    transpose(words, 0, columns, tile)
    return tile


def by_pairs(words, left, right, components):
    out = np.full((len(left), len(components)), MARK, np.int32)
    agree_pairs(words, np.array(left, np.int64), words, np.array(right, np.int64), parts_of(components), out)
    return out


def by_tile(query, words, columns, components):
    """What `agree_rows` writes for a row, whether it shares its loads or not, and the columns it must leave alone."""
    out = np.full((TOGETHER + 1, columns + WIDE, len(components)), MARK, np.int32)
    agree_rows(
        np.stack([query] * (TOGETHER + 1)), 0, TOGETHER + 1, tiled(words, columns), columns, parts_of(components), np.empty((len(components), TOGETHER * WIDE), np.int32), out, 0
    )
    assert (out == out[0]).all()
    return out[0, :columns].tolist(), out[:, columns:]


def check(components, columns, seed=0):
    """Both kernels against the definition: all columns by pairs, then by tile."""
    minima, words, stored = sketches(components, columns + 1, seed)
    expected = [reference.agree(minima[0], row, stored) for row in minima]
    assert by_pairs(words, [0] * (columns + 1), range(columns + 1), components).tolist() == expected
    found, beyond = by_tile(words[0], words[1:], columns, components)
    assert found == expected[1:]
    assert (beyond == MARK).all()


@pytest.mark.parametrize("bits", BITS)
def test_every_number_of_bits(bits):
    """No whole block, one, and one that is not full; two groups of columns."""
    for samples in (1, 64, 65, 130):
        check([(samples, bits, 1)], 37, seed=samples)


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("samples", SAMPLES)
def test_every_tail_of_a_tile(samples, bits):
    """Blocks and groups of columns, full and not."""
    minima, words, stored = sketches([(samples, bits, 1)], max(COLUMNS) + 1)
    expected = [reference.agree(minima[0], row, stored) for row in minima[1:]]
    for columns in COLUMNS:
        found, beyond = by_tile(words[0], words[1:], columns, stored)
        assert found == expected[:columns]
        assert (beyond == MARK).all()


@pytest.mark.parametrize("components", MIXTURES, ids=str)
def test_mixtures(components):
    for columns in (3, WIDE, 2 * WIDE + 3):
        check(components, columns, seed=columns)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 530), st.sampled_from([1, 1, 2, 3, 4, 5, 8, 11]), st.just(1)), min_size=1, max_size=3), st.integers(1, 40), st.integers(0, 99))
def test_random_mixtures(components, columns, seed):
    """Against pairs only, which other tests hold to the definition."""
    words = np.random.Generator(np.random.PCG64(seed)).integers(0, 2**64, (columns, sum(-(-samples // 64) * bits for samples, bits, _ in components)), np.uint64)
    for i, (samples, bits, _) in enumerate(components):
        begin = sum(-(-s // 64) * b for s, b, _ in components[:i])
        last = begin + samples // 64 * bits
        if samples % 64:
            words[:, last : last + bits] &= np.uint64(2 ** (samples % 64) - 1)
    assert by_tile(words[0], words, columns, components)[0] == by_pairs(words, [0] * columns, range(columns), components).tolist()


def test_pairs_take_any_rows_of_two_groups():
    components = MIXTURES[0]
    minima, words, stored = sketches(components, 12)
    left, right = [0, 4, 4, 1, 0], [3, 3, 4, 0, 6]
    out = np.full((6, 2), MARK, np.int32)
    agree_pairs(words[:5], np.array(left), words[5:], np.array(right), parts_of(components), out[:5])
    assert out[:5].tolist() == [reference.agree(minima[i], minima[5 + j], stored) for i, j in zip(left, right, strict=True)]
    assert (out[5] == MARK).all()
    assert by_pairs(words, [], [], components).shape == (0, 2)


@pytest.mark.parametrize(("first", "last"), [(0, 7), (2, 66), (6, 70), (69, 70), (3, 3)])
def test_transpose(first, last):
    words = np.arange(70 * 5, dtype=np.uint64).reshape(70, 5)
    tile = np.full((4, 5, WIDE), WORD)
    transpose(words, first, last, tile)
    groups = -(-(last - first) // WIDE)
    columns = tile[:groups].transpose(1, 0, 2).reshape(5, -1)
    assert np.array_equal(columns[:, : last - first], words[first:last].T)
    assert (columns[:, last - first :] == 0).all()
    assert (tile[groups:] == WORD).all()


@pytest.mark.parametrize(("first", "last", "column"), [(0, 9, 0), (2, 5, 3), (8, 9, 6), (4, 4, 0)])
@pytest.mark.parametrize("columns", [20, 45])
def test_rows_fill_their_block_and_nothing_else(first, last, column, columns):
    components = MIXTURES[0]
    minima, words, stored = sketches(components, 9 + columns)
    out = np.full((last - first + 1, column + columns + 2, 2), MARK, np.int32)
    counts = np.empty((2, TOGETHER * WIDE), np.int32)
    agree_rows(words[:9], first, last, tiled(words[9:], columns), columns, parts_of(components), counts, out, column)
    expected = [[reference.agree(minima[q], minima[9 + i], stored) for i in range(columns)] for q in range(first, last)]
    assert out[: last - first, column : column + columns].tolist() == expected
    out[: last - first, column : column + columns] = MARK
    assert (out == MARK).all()


@pytest.mark.parametrize("bits", [1, 2, 5, 8, 64])
def test_all_or_nothing(bits):
    """Equal rows agree everywhere, complements nowhere; unused bits count for neither."""
    for samples in (1, 100, 512):
        stored = [(samples, bits, 1)]
        minima = [[0] * samples, [2**bits - 1] * samples]
        words = np.array([reference.pack(row, stored) for row in minima], np.uint64)
        assert by_pairs(words, [0, 0, 1], [0, 1, 1], stored).tolist() == [[samples], [0], [samples]]
        assert by_tile(words[0], words, 2, stored)[0] == [[samples], [0]]
