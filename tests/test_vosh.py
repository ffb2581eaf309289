"""Subsets come in falling probability, each once: the heap, the tree of the paper, and the quick way for few subsets are one order."""

from itertools import combinations

import numpy as np
import pytest
import reference_hamming as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.estimate.flips import Flips
from twinset.kernels import vosh
from twinset.kernels.vosh import CELL, CELLS, LANES, MAGNITUDE, likeliest, order_bits
from twinset.search import probes
from twinset.search.probes import Probes, as_words, contenders, cost_table, every_subset, subset_count

pytestmark = pytest.mark.compiled

TABLE = cost_table(Flips.normal(0.3))


def emitted(costs, most, count):
    out, heap = np.zeros(count, np.uint64), np.zeros(count + most + 1, np.uint64)
    written = likeliest(np.array(costs, np.uint32), len(costs), most, count, heap, out)
    return out[:written].tolist()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**18 - 1)), min_size=1, max_size=20), st.integers(1, 4), st.integers(0, 10**4))
def test_every_subset_once_in_falling_probability(costs, most, count):
    costs = sorted(costs)
    expected = reference.subsets(costs, most)
    assert emitted(costs, most, count) == expected[:count]
    assert emitted(costs, most, len(expected) + 3) == expected


@pytest.mark.parametrize("bits", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_tree_of_the_paper_has_every_subset_once(size, bits):
    if size <= bits:
        assert sorted(reference.tree(size, bits)) == list(combinations(range(1, bits + 1), size))


def random_weights(rows, seed=0, bits=64):
    return np.random.Generator(np.random.PCG64(seed)).normal(size=(rows, bits)).astype(np.float32)


@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("bits", [0, 1, 5, 13, 24, 31])
def test_bits_are_ordered_by_magnitude(bits, width):
    weights = random_weights(40, bits, width)
    weights[0] = 0
    weights[1, ::2] = 1.5
    keys, ranks, places, costs = (np.zeros(LANES, np.uint32) for _ in range(4))
    for row in range(len(weights)):
        order_bits(as_words(weights), row, bits, TABLE, keys, ranks, places, costs)
        magnitude = [int(as_words(weights)[row, 64 - bits + j] & MAGNITUDE) for j in range(bits)]
        order = sorted(range(bits), key=lambda j: (magnitude[j], j))
        assert places[:bits].tolist() == [1 << j for j in order]
        assert costs[:bits].tolist() == [int(TABLE[magnitude[j] >> int(CELL)]) for j in order]
        assert not costs[bits:].any()


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("bits", [1, 3, 8, 17])
@pytest.mark.parametrize("count", [0, 1, 6, 18, 64, 65])
def test_picking_is_the_heap(bits, count, most, monkeypatch):
    weights, rows = as_words(random_weights(30, bits)), np.arange(30)
    chances = Probes(bits, most, TABLE)
    count = min(count, chances.every)
    one = chances.lister(weights, count)(rows).copy()
    monkeypatch.setattr(probes, "PICKED", 0)
    other = chances.lister(weights, count)(rows)
    assert one.tolist() == other.tolist()
    for row in one.tolist():
        assert row[0] == 0
        assert len(set(row)) == count + 1
        assert all(flips.bit_count() <= most for flips in row)


def test_ranks_tell_at_which_look_up_a_subset_comes():
    weights = as_words(random_weights(1))
    chances = Probes(9, 3, TABLE)
    lists = chances.lister(weights, chances.every)(np.array([0]))[0]
    assert chances.ranks(weights, np.zeros(len(lists), np.int64), lists).tolist() == list(range(len(lists)))
    assert sorted(lists.tolist()) == sorted(every_subset(9, 3).tolist())
    assert chances.every == subset_count(9, 3) == 9 + 36 + 84


def test_contenders_are_few_and_hold_the_likeliest():
    """Against any ascending costs; the counts are those that make picking cheap."""
    assert [len(contenders(24, 3, count)) for count in (5, 10, 18, 30, 64)] == [7, 18, 40, 76, 178]
    random = np.random.Generator(np.random.PCG64(1))
    for _ in range(50):
        costs = np.sort(random.integers(0, 1000, 12)).tolist()
        wanted = {key & 0xFFFFFFFF for key in reference.subsets(costs, 3)[:20]}
        held = {sum(1 << s for s in int(four).to_bytes(4, "little") if s != vosh.NOWHERE) for four in contenders(12, 3, 20)}
        assert wanted <= held


def test_costs_rise_with_the_magnitude():
    assert len(TABLE) == CELLS
    assert (np.diff(TABLE.astype(np.int64)) >= 0).all()
    assert TABLE[0] == 0  # a bit of no weight flips as often as not
    assert int(TABLE.max()) == vosh.DEAREST
    cell = int(np.float32(0.3).view(np.uint32) >> CELL)
    assert TABLE[cell] / probes.UNIT == pytest.approx(np.log((1 - 0.1587) / 0.1587), abs=0.03)
