"""Exact intersections equal those of Python's sets."""

import numpy as np
import pytest
import reference_sketch as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.documents.shingles import Shingles
from twinset.kernels.overlap import digests, intersections

UNTOUCHED = -7
ROWS = [[], [0], [2**64 - 1], [0, 2**64 - 1], list(range(20)), list(range(10, 30)), list(range(0, 40, 3)), [2**63, 2**63 + 1], []]


def shape(rows):
    """Sets in the shingles shape."""
    ordered = [sorted(set(row)) for row in rows]
    values = np.array([x for row in ordered for x in row], np.uint64)
    return Shingles(values, np.cumsum([0, *map(len, ordered)], dtype=np.int64))


def every_pair(n):
    left, right = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    return left.reshape(-1), right.reshape(-1)


def shared(rows, left, right):
    return [reference.intersection(rows[i], rows[j]) for i, j in zip(left, right, strict=True)]


def test_every_pair_of_awkward_sets():
    left, right = every_pair(len(ROWS))
    found = shape(ROWS).shared(left, right)
    assert found.tolist() == shared(ROWS, left, right)
    assert found.dtype == np.int64


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.one_of(st.integers(0, 12), st.integers(2**64 - 6, 2**64 - 1))), min_size=1, max_size=6))
def test_random_sets(rows):
    left, right = every_pair(len(rows))
    assert shape(rows).shared(left, right).tolist() == shared(rows, left, right)


def test_it_is_symmetric_and_a_set_shares_all_with_itself():
    left, right = every_pair(len(ROWS))
    data = shape(ROWS)
    assert np.array_equal(data.shared(left, right), data.shared(right, left))
    rows = np.arange(len(ROWS))
    assert np.array_equal(data.shared(rows, rows), data.sizes)


@pytest.mark.parametrize(("first", "last"), [(0, 81), (0, 0), (5, 6), (40, 81)])
def test_only_the_pairs_asked_for_are_written(first, last):
    left, right = every_pair(len(ROWS))
    data, out = shape(ROWS), np.full(len(left), UNTOUCHED)
    intersections(data.values, data.offsets, left, right, first, last, out)
    assert out[first:last].tolist() == shared(ROWS, left, right)[first:last]
    assert (out[:first] == UNTOUCHED).all()
    assert (out[last:] == UNTOUCHED).all()


def test_digests_equal_their_definition():
    data, out = shape(ROWS), np.empty((len(ROWS), 2), np.uint64)
    digests(data.values, data.offsets, out)
    assert out.tolist() == [reference_digest(sorted(set(row))) for row in ROWS]
    assert data.first_equal().tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0]


def test_near_rows_have_other_digests():
    """A row, the row without its last value, with one value changed by one bit, and with one more: all 400 differ in both words."""
    rows = [row for i in range(100) for row in ([i, 2 * i + 300], [i], [i, (2 * i + 300) ^ (1 << 40)], [i, 2 * i + 300, 1000])]
    data, out = shape(rows), np.empty((len(rows), 2), np.uint64)
    digests(data.values, data.offsets, out)
    assert len(set(out[:, 0].tolist())) == len(set(out[:, 1].tolist())) == len({tuple(row) for row in rows}) == 400


def reference_digest(row):
    """Two chains of multiply and fold, modulo 2^64."""
    one, other = 0x243F6A8885A308D3, 0x243F6A8885A308D3 ^ (2**64 - 1)
    for x in row:
        one = (one ^ x) * 0x9FB21C651E98DF25 % 2**64
        one ^= one >> 32
        other = (other + x) * 0xD6E8FEB86659FD93 % 2**64
        other ^= other >> 32
    return [one, other]


@pytest.mark.parametrize("chosen", [[], [4], [8, 0], [5, 4, 4, 1]])
def test_taken_rows_are_those_rows(chosen):
    data = shape(ROWS)
    taken = data.take(np.array(chosen, np.int64))
    assert [taken.row(i).tolist() for i in range(len(taken))] == [data.row(d).tolist() for d in chosen]


def test_rows_that_follow_others():
    data = shape(ROWS)
    both = data.followed_by(data.take(np.array([4, 0, 1])))
    assert [both.row(i).tolist() for i in range(len(both))] == [data.row(d).tolist() for d in [*range(len(ROWS)), 4, 0, 1]]


def test_no_pairs():
    none = np.empty(0, np.int64)
    assert shape(ROWS).shared(none, none).shape == (0,)
    assert shape([]).shared(none, none).shape == (0,)
