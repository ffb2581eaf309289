"""The exact join equals comparing all with all, whatever the threshold, the sets, the threads; its kernels equal their definitions."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import reference_search as reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from twinset.documents.shingles import Shingles
from twinset.errors import BadOption
from twinset.kernels import joining
from twinset.kernels import tokens as kernels
from twinset.search import exact, tokens
from twinset.search.exact import ExactJoin

BORDERS = [0.5, 2 / 3, 0.8, 1.0, 1 / 3, 0.75, 0.6, 0.1, 1e-9, np.nextafter(0.8, 1), np.nextafter(0.5, 0)]
TOP = 2**64 - 1
MARK = -7

sets = st.sets(st.one_of(st.integers(0, 30), st.integers(TOP - 3, TOP)), max_size=34)
bases = st.lists(sets, min_size=1, max_size=4)
edits = st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 45), max_size=4)), max_size=14)


def shape(rows):
    """Sets in the shingles shape."""
    ordered = [sorted(row) for row in rows]
    return Shingles(np.array([x for row in ordered for x in row], np.uint64), np.cumsum([0, *map(len, ordered)], dtype=np.int64))


def triples(found):
    assert found.pairs.left.dtype == found.pairs.right.dtype == found.shared.dtype == np.int64
    return list(zip(found.pairs.left.tolist(), found.pairs.right.tolist(), found.shared.tolist(), strict=True))


def near(base, changes):
    """Sets that differ a little from those of `base`, or not at all."""
    return [*base, *(base[which % len(base)] ^ change for which, change in changes)]


def many(n, seed=1):
    """Sets of 0 to 40 elements: some alone, some copies, some near copies, and a template that hundreds have most of."""
    draw = np.random.default_rng(seed)
    template, rows = set(range(1000, 1025)), []
    for i in range(n):
        fresh = set(draw.integers(0, 800, draw.integers(0, 41)).tolist())
        kind = draw.integers(0, 5)
        if kind == 1 and i:
            fresh = rows[draw.integers(i)]
        elif kind == 2 and i:
            fresh = rows[draw.integers(i)] ^ set(draw.integers(0, 800, 3).tolist())
        elif kind == 3:
            fresh = template ^ set(draw.integers(1000, 1030, 2).tolist()) ^ set(draw.integers(0, 10**9, draw.integers(0, 15)).tolist())
        rows.append(fresh)
    return rows


@settings(max_examples=400, deadline=None, derandomize=True)
@given(bases, edits, st.sampled_from(BORDERS))
@example([set()], [], 0.5)
@example([{0, TOP}], [(0, set()), (0, set())], 1.0)
@example([set(range(4))], [(0, {4}), (0, {3, 4})], 0.8)
def test_join_equals_all_with_all(base, changes, threshold):
    rows = near(base, changes)
    assert triples(ExactJoin(shape(rows), threshold).join_shared(threads=1)) == reference.join(rows, threshold)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(bases, edits, bases, edits, st.sampled_from(BORDERS))
@example([set()], [], [set()], [], 0.5)
@example([{1, 2}], [(0, set())], [{1, 2}], [(0, set())], 1.0)
def test_query_equals_all_with_all(base, changes, other, more, threshold):
    rows, new = near(base, changes), near(other + base[:1], more)
    assert triples(ExactJoin(shape(rows), threshold).query_shared(shape(new), threads=1)) == reference.query(new, rows, threshold)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_two_thousand_rows(threshold):
    rows = many(2000)
    found = ExactJoin(shape(rows), threshold).join_shared()
    assert triples(found) == reference.join(rows, threshold)
    assert len(found.pairs) > 200


@pytest.mark.parametrize("threshold", [0.4, 0.7])
def test_join_is_the_query_of_itself_without_the_diagonal(threshold):
    shingles = shape(many(700, 2))
    join, query = ExactJoin(shingles, threshold).join_shared(), ExactJoin(shingles, threshold).query_shared(shingles)
    above = query.pairs.left < query.pairs.right
    assert triples(join) == [triple for triple, chosen in zip(triples(query), above, strict=True) if chosen]
    assert (query.pairs.left == query.pairs.right).sum() == (shingles.sizes > 0).sum()


def test_threads_change_nothing():
    shingles = shape(many(3000, 3))
    search = ExactJoin(shingles, 0.4)
    for answer in (search.join_shared, lambda threads: search.query_shared(shingles, threads=threads)):
        one, *more = (triples(answer(threads=threads)) for threads in (1, 2, 5, None))
        assert all(one == other for other in more)


def test_small_room_units_and_ranges_change_nothing(monkeypatch):
    """Results handed over often, values numbered in many units and spans."""
    rows = many(600, 4)
    expected = reference.join(rows, 0.2)
    for name, value in (("ROOM", 1), ("ROWS", 7)):
        monkeypatch.setattr(exact, name, value)
    for name, value in (("UNIT", 16), ("VISIT", 0), ("STEP", 50)):
        monkeypatch.setattr(tokens, name, value)
    assert triples(ExactJoin(shape(rows), 0.2).join_shared(threads=2)) == expected


def test_consecutive_numbers_as_well_as_hashes():
    """Elements that are no hashes: all in a narrow range, or at both ends of it."""
    rows = [set(range(i, i + 30)) for i in range(0, 300, 2)] + [{0, TOP, i} for i in range(20)]
    for threshold in (0.5, 0.8):
        assert triples(ExactJoin(shape(rows), threshold).join_shared()) == reference.join(rows, threshold)


def test_what_shares_gives_the_resemblance():
    shingles = shape(many(500, 5))
    found, sizes = ExactJoin(shingles, 0.3).join_shared(), shingles.sizes
    left, right = found.pairs.left, found.pairs.right
    assert np.array_equal(found.shared / (sizes[left] + sizes[right] - found.shared), shingles.resemblance(left, right))


def test_plain_answers_are_those_with_counts():
    shingles = shape(many(200, 6))
    search = ExactJoin(shingles, 0.5)
    for plain, full in ((search.join(), search.join_shared()), (search.query(shingles), search.query_shared(shingles))):
        assert np.array_equal(plain.left, full.pairs.left)
        assert np.array_equal(plain.right, full.pairs.right)


@pytest.mark.parametrize("rows", [[], [set()], [set(), set()], [{1}], [{1}, {2}]])
def test_nothing_to_find(rows):
    search = ExactJoin(shape(rows), 0.5)
    assert len(search.join()) == 0
    assert len(search.query(shape([]))) == len(search.query(shape([set()]))) == len(search.query(shape([{99}]))) == 0


def test_thousands_of_equal_rows_cost_no_more_than_their_pairs():
    rows = [set(range(300))] * 3000
    found = ExactJoin(shape(rows), 0.9).join_shared()
    left, right = np.triu_indices(3000, 1)
    assert np.array_equal(found.pairs.left, left)
    assert np.array_equal(found.pairs.right, right)
    assert (found.shared == 300).all()


def test_a_template_too_small_to_pair_costs_nothing(monkeypatch):
    """3000 forms of 100 elements, 60 of them the template: with all of it shared, a pair reaches 60/140, so no posting of the template is ever looked at."""
    rows = [{*range(60), *range(1000 * (i + 1), 1000 * (i + 1) + 40)} for i in range(3000)]
    seen = []
    monkeypatch.setattr(exact, "_probe", lambda sets, old, *rest, kept=exact._probe: (seen.append(exact._Plan.make(sets, old, 0.5)), kept(sets, old, *rest))[1])
    assert len(ExactJoin(shape(rows), 0.5).join()) == 0
    assert (seen[0].high <= seen[0].low).all()


def test_rows_of_one_hash_are_told_apart(monkeypatch):
    """Classes of equal rows come from a hash, but are compared."""
    monkeypatch.setattr(kernels, "hash_rows", lambda values, offsets, first, last, out: out[first:last].fill(7))
    rows = [{1, 2, 3}, {1, 2, 4}, {1, 2, 3}, {1, 2, 4}, {9}, set()]
    assert triples(ExactJoin(shape(rows), 0.5).join_shared()) == reference.join(rows, 0.5)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.0001, 80, float("nan"), float("inf")])
def test_a_threshold_outside_its_range(threshold):
    with pytest.raises(BadOption, match=r"^threshold is .*; allowed: above 0, at most 1$"):
        ExactJoin(shape([{1}]), threshold)


def test_threads_outside_their_range():
    with pytest.raises(BadOption, match="threads is 0"):
        ExactJoin(shape([{1}]), 0.5).join(threads=0)


def test_detection_and_about():
    search = ExactJoin(shape([{1}, {2}]), 0.5)
    assert search.detection([0, 0.4999, 0.5, 1]).tolist() == [0, 0, 1, 1]
    assert search.about == "exact join: every pair of 2 sets with a resemblance of 0.5 or more, found by prefix, length and positional filters and verified"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_progress_rises_to_its_total(threads, n):
    told = []
    shingles = shape(many(n, 7))
    ExactJoin(shingles, 0.5).join(threads=threads, progress=lambda *step: told.append(step))
    ExactJoin(shingles, 0.5).query(shingles, threads=threads, progress=lambda *step: told.append((step[0] + 4 * n, step[1])))
    done = [step[0] for step in told]
    assert done == sorted(done)
    assert {total for _, total in told} <= {4 * n, 8 * n}
    assert done[-1:] == [12 * n] or n == 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.9])
def test_progress_may_cancel(threads, share):
    class Cancelled(Exception):
        pass

    def progress(done, total):
        if done > share * total:
            raise Cancelled

    search, running = ExactJoin(shape(many(3000, 8)), 0.3), threading.active_count()
    start = time.perf_counter()
    with pytest.raises(Cancelled):
        search.join(threads=threads, progress=progress)
    assert time.perf_counter() - start < 1 or threads == 1  # the kernels may compile in a first run
    assert threading.active_count() == running
    assert triples(search.join_shared()) == triples(search.join_shared(threads=1))  # nothing is left behind


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from(BORDERS))
def test_needed_is_the_least_that_reaches(a, b, threshold):
    assert joining.needed(a, b, threshold) == reference.needed(a, b, threshold)
    any_size, same_size = tokens.demands(np.array([a]), threshold)
    assert any_size[0] == min(reference.needed(a, size, threshold) for size in range(1, 61) if reference.needed(a, size, threshold) <= min(a, size))
    assert same_size[0] == reference.needed(a, a, threshold)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(sets, max_size=8), st.integers(0, 8))
def test_number_gives_equal_values_one_number_and_useless_ones_none(rows, border):
    border = min(border, len(rows))
    shingles, kept = shape(rows), reference.useful(rows, border)
    ids, cells = np.full(len(shingles.values), MARK, np.int32), 512
    scratch = np.empty(cells, np.uint8), np.empty(cells, np.uint64), np.empty(cells, np.int32)
    numbers = kernels.number(shingles.values, shingles.offsets[:-1], shingles.offsets[1:], border, *scratch, 100, ids)
    given_to = dict(zip(shingles.values.tolist(), ids.tolist(), strict=True))
    assert [given_to[x] for x in shingles.values.tolist()] == ids.tolist()
    assert sorted(number for number in given_to.values() if number >= 0) == list(range(100, 100 + numbers))
    assert {x for x, number in given_to.items() if number != -1} == kept


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(sets, max_size=6), st.integers(0, TOP))
def test_find_and_reach_end_at_the_bound(rows, bound):
    shingles = shape(rows)
    begins, ends = shingles.offsets[:-1], shingles.offsets[1:]
    expected = [begin + sum(x < bound for x in row) for begin, row in zip(begins, rows, strict=True)]
    found, reached = np.full((2, len(rows)), MARK)
    kernels.find(shingles.values, begins, ends, np.uint64(bound), found)
    passed = kernels.reach(shingles.values, begins, ends, np.uint64(bound), reached)
    assert found.tolist() == reached.tolist() == expected
    assert passed == sum(expected) - begins.sum()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(sets, sets, st.integers(1, 40))
def test_merge_counts_or_gives_up(left, right, enough):
    both = shape([left, right])
    found = joining.merge(both.values, 0, len(left), len(left), len(left) + len(right), enough)
    shared = len(left & right)
    assert found == shared or (found < enough and shared < enough)


def test_forgetting_and_ranking():
    ids, offsets = np.array([0, 1, 2, 0, 1, -1, 1, 3], np.int32), np.array([0, 3, 6, 8])
    frequency, rows = np.zeros((4, 2), np.int32), np.arange(3)
    kernels.tally(ids, offsets[:-1], offsets[1:], 0, rows, 0, 3, frequency)
    assert frequency.tolist() == [[0, 2], [0, 3], [0, 1], [0, 1]]
    left = np.empty(3, np.int64)
    kernels.forget(ids, offsets[:-1], offsets[1:], 0, rows, 0, 3, frequency, left)
    assert ids.tolist() == [0, 1, -1, 0, 1, -1, 1, -1]
    assert left.tolist() == [2, 2, 1]
    rank = tokens.ranks(np.array([2, 3, 0, 1], np.int32))
    assert rank[[3, 0, 1]].tolist() == [0, 1, 2]
    out = np.full(5, MARK, np.int32)
    kernels.arrange(ids, offsets[:-1], offsets[1:], np.array([5, 4, 0, 0], np.int32), rows, 0, 3, np.array([0, 2, 4, 5]), out)
    assert out.tolist() == [4, 5, 4, 5, 4]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.integers(-1, 4), max_size=12), st.dictionaries(st.integers(0, 4), st.dictionaries(st.integers(0, 4), st.integers(1, 9))), st.booleans())
def test_expanding_equals_its_definition(of, paired, within):
    classes = np.array(of, np.int64)
    rows = np.flatnonzero(classes >= 0)
    order, starts = tokens.grouped(classes[rows], 5)
    keys = [(c, other, common) for c, others in paired.items() for other, common in others.items()]
    left, right, common = np.array(keys, np.int64).reshape(-1, 3).T
    chosen, bounds = tokens.grouped(np.ascontiguousarray(left), 5)
    places = np.zeros(len(of) + 1, np.int64)
    joining.count_partners(0, len(of), classes, bounds, right[chosen], within, starts, rows[order], places[1:])
    places = np.cumsum(places)
    out = np.full((3, places[-1]), MARK)
    joining.fill_partners(0, len(of), classes, bounds, right[chosen], common[chosen], within, starts, rows[order], 10, places, *out)
    members = {c: [d for d, own in enumerate(of) if own == c] for c in range(5)}
    expected = reference.partners(of, {c: list(others.items()) for c, others in paired.items()}, members, within)
    assert out.T.tolist() == [[d, e, common] for d, pairs in enumerate(expected) for e, common in pairs]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(sets, max_size=6))
def test_hashes_and_comparisons_of_rows(rows):
    shingles = shape(rows)
    out = np.full(len(rows), MARK, np.int64).view(np.uint64)
    kernels.hash_rows(shingles.values, shingles.offsets, 0, len(rows), out)
    assert out.tolist() == [sum(map(reference.mix, row)) % 2**64 for row in rows]
    left, right = (side.reshape(-1) for side in np.indices((len(rows), len(rows))))
    same = np.zeros(len(left), bool)
    kernels.compare_rows(shingles.values, shingles.offsets, left, right, 0, len(left), same)
    assert same.tolist() == [rows[i] == rows[j] for i, j in zip(left, right, strict=True)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.integers(0, 20)), max_size=40), st.data())
def test_postings_and_their_search(rows, data):
    rows = [sorted(row) for row in rows]
    prefix = [data.draw(st.integers(0, len(row))) for row in rows]
    expected = reference.postings(rows, prefix)
    flat, offsets = np.array([x for row in rows for x in row], np.int32), np.cumsum([0, *map(len, rows)])
    heads = np.zeros(len(expected) + 1, np.int64)
    joining.count_postings(flat, offsets, np.array(prefix, np.int64), heads)
    heads = np.cumsum(heads)
    found = np.full((heads[-1], 2), MARK, np.int32)
    joining.fill_postings(flat, offsets, np.array(prefix, np.int64), heads[:-1].copy(), found)
    assert [found[first:last].tolist() for first, last in pairwise(heads)] == [list(map(list, entries)) for entries in expected]
    row = data.draw(st.integers(0, 41))
    for (first, last), entries in zip(pairwise(heads), expected, strict=True):
        assert joining.seek(found, first, last, row) == first + sum(r < row for r, _ in entries)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sets(st.integers(0, 30), min_size=1), st.sets(st.integers(0, 30), min_size=1), st.data())
def test_sharing_from_where_prefixes_end(left, right, data):
    """Any prefixes that share something, and any number that is enough."""
    one, other = sorted(left), sorted(right)
    a, b = data.draw(st.integers(1, len(one))), data.draw(st.integers(1, len(other)))
    common = len(set(one[:a]) & set(other[:b]))
    if common:
        enough, shared = data.draw(st.integers(1, 31)), len(left & right)
        found = joining.shared_from(np.array(one + other, np.int32), 0, len(one), len(one), len(one) + len(other), a, b, common, enough)
        assert found == shared or (found < enough and shared < enough)


def test_closing_gaps():
    """Spans of values numbered from 0, 10 and 30, with 2, 0 and 3 numbers: those from 30 on become 2, 3 and 4."""
    ids, offsets = np.array([1, 31, -1, 32, 0, 30, -1], np.int32), np.array([0, 4, 6, 7, 7])
    out = np.full(4, MARK)
    kernels.close_gaps(ids, offsets[:-1], offsets[1:], np.array([0, 10, 30, 2**62]), np.array([0, 8, 28]), 0, 4, out)
    assert ids.tolist() == [1, 3, -1, 4, 0, 2, -1]
    assert out.tolist() == [3, 2, 0, 0]
