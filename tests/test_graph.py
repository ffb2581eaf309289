"""Components and stars equal their twins."""

import numpy as np
import pytest
import reference_graph as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.kernels.graph import adjacency, components, independent, witnesses

ROWS = 12
ALIKE = [0.5, 0.75, 1.0]


@st.composite
def graphs(draw):
    """(pairs with resemblances, ascending; an order of the rows)."""
    found = draw(st.dictionaries(st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)).filter(lambda pair: pair[0] < pair[1]), st.sampled_from(ALIKE), max_size=25))
    return dict(sorted(found.items())), draw(st.permutations(range(ROWS)))


def sides(pairs):
    both = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])


def links(pairs):
    found = np.empty(ROWS + 1, np.int64), np.empty(2 * len(pairs), np.int64), np.empty(2 * len(pairs), np.int64)
    adjacency(*sides(pairs), *found)
    return found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(graphs())
def test_components(graph):
    pairs, _ = graph
    root = np.empty(ROWS, np.int64)
    components(*sides(pairs), root)
    assert root.tolist() == reference.components(ROWS, pairs)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(graphs())
def test_adjacency(graph):
    pairs, _ = graph
    offsets, neighbours, numbers = links(pairs)
    every = list(pairs)
    for i in range(ROWS):
        mine = list(zip(neighbours[offsets[i] : offsets[i + 1]].tolist(), numbers[offsets[i] : offsets[i + 1]].tolist(), strict=True))
        assert mine == [(sum(pair) - i, number) for number, pair in enumerate(every) if i in pair]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(graphs())
def test_stars(graph):
    pairs, order = graph
    rank = np.argsort(np.array(order))
    kept, witness = np.empty(ROWS, bool), np.empty(ROWS, np.int64)
    offsets, neighbours, numbers = links(pairs)
    independent(np.array(order), offsets, neighbours, kept)
    resemblance = np.array(list(pairs.values()), np.float64)
    witnesses(rank, offsets, neighbours, numbers, resemblance, kept, kept, witness)
    expected, seen = reference.stars(order, pairs | {(j, i): alike for (i, j), alike in pairs.items()})
    assert set(np.flatnonzero(kept).tolist()) == expected
    every = list(pairs)
    assert {i: sum(every[witness[i]]) - i for i in range(ROWS) if witness[i] >= 0} == seen
    assert all((witness[i] < 0) == kept[i] for i in range(ROWS))


def test_a_long_chain_is_one_component():
    rows = np.arange(99_999)
    for left, right in ((rows, rows + 1), (rows[::-1].copy(), rows[::-1] + 1)):
        root = np.empty(100_000, np.int64)
        components(left, right, root)
        assert not root.any()


@pytest.mark.parametrize("rows", [0, 1])
def test_no_pairs(rows):
    nothing, root = np.empty(0, np.int64), np.empty(rows, np.int64)
    components(nothing, nothing, root)
    assert root.tolist() == list(range(rows))
