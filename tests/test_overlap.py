"""Exact intersections equal those of Python's sets."""

import numpy as np
import pytest
import reference_sketch as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.documents.shingles import Shingles
from twinset.kernels.overlap import intersections

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


def test_no_pairs():
    none = np.empty(0, np.int64)
    assert shape(ROWS).shared(none, none).shape == (0,)
    assert shape([]).shared(none, none).shape == (0,)
