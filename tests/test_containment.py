"""The containment join against its definition, for sets of very different sizes and thresholds on the border."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_overlap import shape

from twinset.errors import BadOption
from twinset.kernels.containing import probe
from twinset.search.containment import ContainmentJoin

THRESHOLDS = [0.1, 0.5, 2 / 3, 0.8, 1.0]


def holding(rows, threshold, border=0):
    sets = [set(row) for row in rows]
    return [
        (i, j, len(sets[i] & sets[j]))
        for i in range(len(sets))
        for j in range(i + 1, len(sets))
        if j >= border and sets[i] and sets[j] and len(sets[i] & sets[j]) / min(len(sets[i]), len(sets[j])) >= threshold
    ]


def found(rows, threshold, border=0, threads=1):
    got = ContainmentJoin(shape(rows), threshold).join_shared(border=border, threads=threads)
    return list(zip(got.pairs.left.tolist(), got.pairs.right.tolist(), got.shared.tolist(), strict=True))


@pytest.mark.compiled
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.integers(0, 25), max_size=15), max_size=14), st.sampled_from(THRESHOLDS), st.integers(0, 14))
def test_any_sets(rows, threshold, border):
    assert found(rows, threshold, min(border, len(rows))) == holding(rows, threshold, min(border, len(rows)))


@pytest.mark.compiled
def test_a_small_part_of_large_sets(monkeypatch):
    random = np.random.default_rng(3)
    parts = [random.integers(10**6, size=20).tolist() for _ in range(30)]
    rows = parts + [[*random.integers(10**6, size=3000).tolist(), *parts[int(random.integers(30))][:15]] for _ in range(100)]
    expected = holding(rows, 0.7)
    assert len(expected) >= 100
    assert found(rows, 0.7) == expected == found(rows, 0.7, threads=3)
    monkeypatch.setattr("twinset.search.containment.ROOM", 1)
    assert found(rows, 0.7) == expected


def test_the_kernel_as_plain_python():
    rows = [[0, 1, 2, 3], [2, 3], [3], [], [0, 3]]
    tokens, offsets = np.concatenate([np.array(row, np.int64) for row in rows]), np.cumsum([0, *map(len, rows)])
    heads = np.concatenate([[0], np.cumsum(np.bincount(tokens))])
    postings = np.repeat(np.arange(5), list(map(len, rows)))[np.argsort(tokens, kind="stable")]
    out, needs = np.empty((3, 50), np.int64), np.array([2, 1, 1, 1, 1])
    row, filled = probe(0, 5, tokens, offsets, needs, heads, postings, 0, np.full(5, -1), np.empty(5, np.int64), out, 0)
    sets = list(map(set, rows))
    expected = {(a, b, len(sets[a] & sets[b])) for a in range(5) for b in range(5) if a != b and len(sets[a] & sets[b]) >= needs[a] and sets[a]}
    assert (row, {tuple(each) for each in out[:, :filled].T.tolist()}) == (5, expected)


@pytest.mark.parametrize("threshold", [0, 1.01, float("nan")])
def test_thresholds_out_of_range(threshold):
    with pytest.raises(BadOption, match="threshold"):
        ContainmentJoin(shape([[1]]), threshold)
