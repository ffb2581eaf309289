"""Block-permuted search equals the quadratic definition, whatever the blocks."""

import numpy as np
import pytest
import reference_hamming as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.config import SimConfig
from twinset.errors import BadOption, IncompatibleSketches
from twinset.search import runs
from twinset.search.blocks import Blocks, layouts
from twinset.sketch.fingerprints import Fingerprints

pytestmark = pytest.mark.compiled


def crowd(rows, bits=64, changes=4, seed=0, centres=None):
    """Fingerprints in clusters: copies of a few with up to `changes` bits flipped, some in the same places."""
    random = np.random.Generator(np.random.PCG64(seed))
    middle = random.integers(0, 2**64, (centres or max(rows // 5, 1), bits // 64), np.uint64)
    words = middle[random.integers(0, len(middle), rows)]
    for _ in range(changes):
        bit, on = random.integers(0, bits, rows), random.random(rows) < 0.6
        words[np.arange(rows), bit // 64] ^= np.where(on, np.uint64(1) << (bit % 64).astype(np.uint64), np.uint64(0))
    return words


def fingerprints(words, **options):
    return Fingerprints(words, SimConfig(bits=64 * words.shape[1], weights="constant"), **options)


def pairs(found):
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_equals_the_quadratic_twin(data):
    bits, most = data.draw(st.sampled_from([64, 128])), data.draw(st.integers(0, 5))
    blocks = data.draw(st.integers(most + 1, 9))
    header = data.draw(st.integers(1, blocks - most))
    rows, table = data.draw(st.integers(0, 90)), data.draw(st.booleans())
    words, asked = crowd(rows, bits, seed=rows), crowd(30, bits, seed=rows + 1)
    asked[: min(15, rows)] = words[: min(15, rows)]
    asked[:15, 0] ^= np.uint64(data.draw(st.integers(0, 2**63)) & 0x10001)
    search = Blocks(fingerprints(words), most, blocks=blocks, header=header, table=table)
    assert pairs(search.query(fingerprints(asked), threads=1)) == reference.matches(asked.tolist(), words.tolist(), most)
    assert pairs(search.join(threads=1)) == reference.within(words.tolist(), most)


@pytest.mark.parametrize("table", [True, False])
def test_first_gives_each_query_that_has_one_a_match(table):
    words, asked = crowd(300), crowd(100, seed=0)
    search = Blocks(fingerprints(words), first=True, table=table)
    expected = reference.matches(asked.tolist(), words.tolist(), 3)
    found = pairs(search.query(fingerprints(asked)))
    assert set(found) <= set(expected)
    assert [left for left, _ in found] == sorted({left for left, _ in expected})
    joined, every = pairs(search.join()), reference.within(words.tolist(), 3)
    assert set(joined) <= set(every)
    assert {row for pair in joined for row in pair} == {row for pair in every for row in pair}


@pytest.mark.parametrize("table", [True, False])
def test_join_is_query_without_the_diagonal(table):
    data = fingerprints(crowd(200))
    search = Blocks(data, 3, blocks=5, header=2, table=table)
    assert pairs(search.join()) == [pair for pair in pairs(search.query(data)) if pair[0] < pair[1]]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("bits", [64, 128])
def test_threads_change_nothing(bits, first, monkeypatch):
    monkeypatch.setattr("twinset.search.blocks.chunks", lambda count: [(i, min(i + 64, count)) for i in range(0, count, 64)])
    words = crowd(3000, bits)
    search = Blocks(fingerprints(words), first=first)
    for ask in (search.join, lambda **options: search.query(fingerprints(words[::3].copy()), **options)):
        one, two = ask(threads=1), ask(threads=2)
        assert np.array_equal(one.left, two.left)
        assert np.array_equal(one.right, two.right)


def test_removed_rows_are_not_found():
    words = crowd(200)
    search = Blocks(fingerprints(words))
    gone = np.arange(0, 200, 3)
    search.remove(gone[:40])
    search.remove(gone[40:])
    kept = [pair for pair in reference.within(words.tolist(), 3) if pair[0] % 3 and pair[1] % 3]
    assert pairs(search.join()) == kept
    assert all(right % 3 for _, right in pairs(search.query(fingerprints(words))))
    with pytest.raises(BadOption, match="a row is 200"):
        search.remove([200])


def test_removal_with_first():
    """A row that is removed is no match, and has none."""
    words = crowd(200)
    search = Blocks(fingerprints(words), first=True)
    search.remove(np.arange(0, 200, 3))
    joined = pairs(search.join())
    assert all(left % 3 and right % 3 for left, right in joined)
    kept = [pair for pair in reference.within(words.tolist(), 3) if pair[0] % 3 and pair[1] % 3]
    assert {row for pair in joined for row in pair} == {row for pair in kept for row in pair}


def test_many_equal_rows_and_a_small_buffer(monkeypatch):
    """A run longer than the buffer: the buffer grows, and nothing is lost or repeated."""
    monkeypatch.setattr(runs, "ROOM", 4)
    words = np.zeros((150, 1), np.uint64)
    words[100:, 0] = np.uint64(7)
    assert pairs(Blocks(fingerprints(words)).join()) == [(i, j) for i in range(150) for j in range(i + 1, 150)]
    assert pairs(Blocks(fingerprints(words), 2, blocks=3, table=False).join()) == reference.within(words.tolist(), 2)


def test_empty_documents_match_nothing():
    words = np.full((6, 1), 2**64 - 1, np.uint64)
    empty = np.array([True, False, True, False, False, True])
    data = fingerprints(words, empty=empty)
    search = Blocks(data)
    assert pairs(search.join()) == [(1, 3), (1, 4), (3, 4)]
    assert sorted({left for left, _ in pairs(search.query(data))}) == [1, 3, 4]


def test_cancelling_stops_the_search():
    def cancel(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Blocks(fingerprints(crowd(5000))).join(progress=cancel)


def test_progress_ends_at_the_total():
    seen = []
    Blocks(fingerprints(crowd(500)), 3, blocks=5, header=2).join(threads=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5000, 5000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": 64}, "distance is 64; allowed: 0 to 63"),
        ({"distance": -1}, "distance is -1"),
        ({"blocks": 3}, "header is 1 of 3 blocks; allowed at distance 3"),
        ({"blocks": 5, "header": 3}, "header is 3 of 5 blocks"),
        ({"header": 0}, "header is 0"),
        ({"blocks": 65}, "blocks is 65; allowed: 1 to 64"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(BadOption, match=message):
        Blocks(fingerprints(crowd(10)), **options)


def test_other_fingerprints_are_refused():
    with pytest.raises(IncompatibleSketches):
        Blocks(fingerprints(crowd(10))).query(fingerprints(crowd(10, 128)))


@pytest.mark.parametrize(("bits", "blocks", "header"), [(64, 4, 1), (64, 5, 2), (128, 5, 2), (128, 7, 3), (64, 64, 1)])
def test_a_layout_is_a_permutation(bits, blocks, header):
    for masks, moves in layouts(bits, blocks, header):
        covered = sum(int(mask).bit_count() for mask in moves[:, 2])
        targets = {(int(word), int(shift) + i) for _, _, mask, word, shift in moves for i in range(int(mask).bit_count())}
        assert covered == len(targets) == bits
        assert bits * header // blocks - header <= sum(int(word).bit_count() for word in masks[0]) <= bits * header // blocks + header


def test_what_it_says():
    search = Blocks(fingerprints(crowd(64)), blocks=5, header=2)
    assert search.about == "blocks: all pairs within 3 bits, by 2 of 5 blocks leading in 10 sorted copies and a table of headers; nothing is missed"
    assert search.nbytes == 10 * (64 * 8 + 64 * 4 + 65 * 4)
    assert search.detection([0, 3, 4]).tolist() == [1, 1, 0]
