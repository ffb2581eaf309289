"""Sketches are selected, compared and merged row by row as their definition says, and refuse what does not fit by named errors."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import reference_sketch as reference
from reference_families import splitmix64

from twinset.config import Config
from twinset.errors import BadOption, CannotMerge, IncompatibleSketches
from twinset.estimate.resemblance import estimate
from twinset.estimate.sizes import ceiling, decode, encode
from twinset.sketch.minhash import MinHash
from twinset.sketch.sketches import TILE

pytestmark = pytest.mark.compiled

KINDS = ("exact", "8", "4")
FIELDS = ("value", "low", "high", "raw", "sizes_left", "sizes_right")
POOL = splitmix64(3, 400)
SETS = [POOL[:200], POOL[50:260], POOL[:100], [], POOL[10:210], POOL[399:], POOL[300:400]]


def sketched(sets, bits="1.5", samples=140, **options):
    return MinHash(bits=bits, samples=samples, **options).sketch_sets(sets)


def named(sketches):
    return replace(sketches, ids=pa.array([f"document {row}" for row in range(len(sketches))]))


def many(rows, seed=0, **options):
    """Sketches of overlapping windows: a mixture of near and far pairs."""
    begin = np.random.Generator(np.random.PCG64(seed)).integers(0, 60, rows)
    return sketched([range(b, b + 30) for b in begin.tolist()], "1:0.5+2:0.25+4:0.25", 80, **options)


def definition(left, right):
    """Agreeing samples of every row of both (left, right, components), in plain Python."""
    stored = [(part.samples, part.bits, 1) for part in left.config.layout.components]
    return [[reference.agree(a, b, stored) for b in right.samples().tolist()] for a in left.samples().tolist()]


def same(left, right):
    return np.array_equal(left.words, right.words) and np.array_equal(left.sizes.stored, right.sizes.stored) and left.config == right.config


def equal(left, right):
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in FIELDS)


# Selecting


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (slice(None), [0, 1, 2, 3, 4, 5, 6]),
        (slice(1, 6, 2), [1, 3, 5]),
        (slice(None, None, -1), [6, 5, 4, 3, 2, 1, 0]),
        (slice(4, 4), []),
        ([5, 0, 0, -1], [5, 0, 0, 6]),
        ([], []),
        (np.array([True, False] * 3 + [True]), [0, 2, 4, 6]),
    ],
    ids=str,
)
def test_a_selection_is_the_sketches_of_the_selected_sets(kind, rows, wanted):
    found = named(sketched(SETS, sizes=kind))[rows]
    assert same(found, sketched([SETS[row] for row in wanted], sizes=kind))
    assert found.ids.to_pylist() == [f"document {row}" for row in wanted]
    assert found.sizes.counts().tolist() == sketched(SETS, sizes=kind).sizes.counts()[wanted].tolist()
    assert (len(found), found.nbytes) == (len(wanted), len(wanted) * 8 * found.config.layout.words)


@pytest.mark.parametrize("row", [0, -1, None, [[0, 1]]])
def test_a_single_sketch_is_selected_as_a_list_of_one(row):
    with pytest.raises(BadOption, match=r"^sketches are selected by a slice or an array of rows; a single sketch is sketches\[\[row\]\]$"):
        sketched(SETS)[row]
    assert len(sketched(SETS)[[0]]) == 1


def test_samples_are_what_was_packed():
    sketches = sketched(SETS, "10.4", 80)
    parts = [(part.samples, part.bits, part.xor) for part in sketches.config.layout.components]
    found = sketches.samples()
    assert [reference.pack(row, parts) for row in found.tolist()] == sketches.words.tolist()
    assert np.array_equal(sketches.samples([4, 0, 4]), found[[4, 0, 4]])
    assert np.array_equal(sketches.samples(2), found[[2]])
    with pytest.raises(BadOption, match="^a row is 7; allowed: whole numbers from 0 to 6$"):
        sketches.samples([0, 7])


# Comparing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", ["64", "10.4", "1.5", "1/4", "3/4", "1:0.5+2:0.25+4:0.25"])
def test_a_matrix_estimates_every_pair_from_its_agreeing_samples_and_sizes(bits, kind):
    sketches = sketched(SETS, bits, sizes=kind)
    sizes = np.array([len(set(row)) for row in SETS])
    codes = None if kind == "exact" else encode(sizes, int(kind))
    known = sizes if kind == "exact" else decode(codes, int(kind))
    left, right = np.repeat(np.arange(len(SETS)), len(SETS)), np.tile(np.arange(len(SETS)), len(SETS))
    agreeing = np.array(definition(sketches, sketches)).reshape(len(left), -1)
    top = None if kind == "exact" else ceiling(codes[left], codes[right], int(kind))
    expected = estimate(sketches.config.layout, agreeing, known[left], known[right], ceiling=top)
    assert equal(sketches.matrix(), expected.reshape(len(SETS), len(SETS)))
    assert equal(sketches.resemblance(left, right), expected)


def test_in_a_finite_universe_the_densities_count():
    sets = [range(60), range(20, 80), []]
    sketches = sketched(sets, "2", 200, family="permutations", universe=100)
    found = sketches.resemblance([0, 0], [1, 2], level=0.9)
    agreeing = [definition(sketches, sketches)[0][1], definition(sketches, sketches)[0][2]]
    assert equal(found, estimate(sketches.config.layout, agreeing, [60, 60], [60, 0], universe=100, level=0.9))


def test_pairs_one_against_many_and_two_groups():
    left, right = sketched(SETS), sketched(SETS[::-1])
    whole = left.matrix(right)
    assert left.resemblance([1, 2, 4], [0, 6, 1], right).value.tolist() == whole.value[[1, 2, 4], [0, 6, 1]].tolist()
    assert left.resemblance(2, range(7), right).value.tolist() == whole.value[2].tolist()
    assert left.resemblance(range(7), [3], right).low.tolist() == whole.low[:, 3].tolist()
    assert left.resemblance(0, 6, right).value.tolist() == [1.0]
    assert equal(left.matrix(right[[2, 5]]), left.resemblance(np.repeat(range(7), 2), np.tile([2, 5], 7), right).reshape(7, 2))


def test_resemblance_is_symmetric_and_a_set_is_its_own_twin():
    found = sketched(SETS).matrix()
    assert np.array_equal(found.value, found.value.T)
    assert np.array_equal(found.high, found.high.T)
    assert found.value.diagonal().tolist() == [float(len(row) > 0) for row in SETS]


@pytest.mark.parametrize(("count", "rows"), [(50, 3), (50, 50), (2 * TILE + 37, 64), (2 * TILE + 37, TILE), (2 * TILE + 37, TILE + 100), (2 * TILE + 37, 10_000)])
def test_blocks_cover_every_pair_once(count, rows):
    """Up to two tiles and a piece of a third; within one group only blocks on and above the diagonal."""
    sketches, other = many(count), many(90, seed=1)
    whole, across = np.full((count, count, 3), -1), np.full((len(other), count, 3), -1)
    for i, j, agreeing in sketches.blocks(rows=rows):
        assert j >= i
        assert (whole[i : i + rows, j : j + rows] == -1).all()
        whole[i : i + rows, j : j + rows] = agreeing
    for i, j, agreeing in other.blocks(sketches, rows=rows):
        assert (across[i : i + rows, j : j + rows] == -1).all()
        across[i : i + rows, j : j + rows] = agreeing
    every, some = np.triu_indices(count), np.random.Generator(np.random.PCG64(2)).integers(0, count * (count + 1) // 2, 300)
    left, right = (side[some] for side in every)
    parts = [(part.samples, part.bits, 1) for part in sketches.config.layout.components]
    pairs = zip(sketches.samples(left).tolist(), sketches.samples(right).tolist(), strict=True)
    assert whole[left, right].tolist() == [reference.agree(a, b, parts) for a, b in pairs]
    assert (whole[every] >= 0).all()
    assert (across >= 0).all()
    assert across[:5].tolist() == definition(other[:5], sketches)


def test_threads_change_no_comparison():
    sketches, other = many(2 * TILE + 37), many(20, seed=1)
    whole = other.matrix(sketches, threads=1)
    for threads in (2, 5, None):
        assert equal(whole, other.matrix(sketches, threads=threads))
        for (_, _, one), (_, _, more) in zip(sketches.blocks(rows=700, threads=1), sketches.blocks(rows=700, threads=threads), strict=True):
            assert np.array_equal(one, more)


def test_nothing_compares_to_nothing():
    none, some = sketched([]), sketched(SETS)
    assert none.matrix().value.shape == (0, 0)
    assert some.matrix(none).value.shape == (7, 0)
    assert none.matrix(some).value.shape == (0, 7)
    assert len(some.resemblance([], [])) == 0
    assert list(none.blocks()) == list(none.blocks(some)) == []


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ([0, 7], [0, 1], "a row is 7; allowed: whole numbers from 0 to 6"),
        (0, [-1, 3], "a row is -1; allowed: whole numbers from 0 to 6"),
        ([0.0], [1], "rows have type float64; allowed: whole numbers"),
        ([True], [1], "rows have type bool; allowed: whole numbers"),
        ([0, 1], [0, 1, 2], r"rows have shapes \(2,\) and \(3,\); allowed: equal lengths, or one row against many"),
    ],
)
def test_rows_are_checked_before_they_are_compared(left, right, said):
    with pytest.raises(BadOption, match=f"^{said}$"):
        sketched(SETS).resemblance(left, right)


def test_rows_are_checked_against_their_own_group():
    few, all_of_them = sketched(SETS[:2]), sketched(SETS)
    assert len(few.resemblance(1, 6, all_of_them)) == 1
    with pytest.raises(BadOption, match="^a row is 6; allowed: whole numbers from 0 to 1$"):
        all_of_them.resemblance(1, 6, few)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 43}, "seed 42 and 43"),
        ({"bits": "1"}, "bits '1.5' and '1'"),
        ({"shingle": "chars:5"}, "shingle 'words:5' and 'chars:5'"),
        ({"sizes": "8", "samples": 70}, "samples 140 and 70, sizes 'exact' and '8'"),
    ],
)
def test_sketches_of_another_configuration_are_refused(change, said):
    sketches = sketched(SETS)
    other = replace(sketches, config=replace(sketches.config, **change))
    for act in (lambda: sketches.matrix(other), lambda: sketches.resemblance(0, 0, other), lambda: next(sketches.blocks(other)), lambda: sketches.merge(other)):
        with pytest.raises(IncompatibleSketches, match=f"^sketches differ in {said}; allowed: equal fingerprints .{sketches.fingerprint} is not {other.fingerprint}.$"):
            act()


def test_the_fingerprint_is_that_of_the_configuration():
    assert sketched(SETS).fingerprint == Config(bits="1.5", samples=140).fingerprint


# Merging


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", ["64", "32", "32:0.5+32:0.5"])
def test_a_merge_is_the_sketch_of_the_union(bits, kind):
    left, right = sketched(SETS, bits, sizes=kind), sketched(SETS[::-1], bits, sizes=kind)
    merged, unions = left.merge(right), sketched([{*a, *b} for a, b in zip(SETS, SETS[::-1], strict=True)], bits, sizes=kind)
    assert np.array_equal(merged.words, unions.words)
    assert merged.config == left.config
    rows = np.arange(len(SETS))
    pair = left.resemblance(rows, rows, right)
    assert np.array_equal(merged.sizes.stored, type(merged.sizes).store(np.rint((pair.sizes_left + pair.sizes_right) / (1 + pair.value)).astype(np.int64), kind).stored)


def test_merging_is_idempotent_and_commutes_and_an_empty_set_adds_nothing():
    sketches = sketched(SETS, "64")
    assert same(sketches.merge(sketches), sketches)
    assert same(sketches.merge(sketches[::-1]), sketches[::-1].merge(sketches))
    assert same(sketches.merge(sketched([[]] * len(SETS), "64")), sketches)
    assert len(sketches[[]].merge(sketches[[]])) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_union_never_outgrows_its_universe(kind):
    left, right = (sketched([part], "32", 64, family="permutations", universe=1000, sizes=kind) for part in (range(990), range(10, 1000)))
    merged = left.merge(right)
    assert np.array_equal(merged.words, sketched([range(1000)], "32", 64, family="permutations", universe=1000).words)
    assert 950 <= merged.sizes.counts()[0] <= 1000


@pytest.mark.parametrize("bits", ["31", "8", "1.5", "1/2", "32:0.5+1:0.5", "64:0.5+32:0.5"])
def test_parts_of_minima_cannot_merge(bits):
    sketches = sketched(SETS, bits)
    escaped = bits.replace("+", r"\+")
    with pytest.raises(CannotMerge, match=rf"^layout '{escaped}' keeps too few bits of each minimum to merge; allowed: '32' or '64'$"):
        sketches.merge(sketches)


def test_a_merge_needs_as_many_rows_on_both_sides():
    sketches = sketched(SETS, "64")
    with pytest.raises(BadOption, match="^merge pairs rows, but there are 7 and 2; allowed: equal numbers$"):
        sketches.merge(sketches[:2])
