"""`bands` finds the pairs that its rule says: against the quadratic twin, whatever the layout, the threads, the groups of equal rows and the size of a bucket."""

import numpy as np
import pytest
import reference_bands as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from twinset.config import Config
from twinset.errors import BadOption, IncompatibleSketches, TooManyPairs, UnreachableRecall
from twinset.estimate.banding import Banding, choose_banding
from twinset.kernels import packing
from twinset.search import buckets
from twinset.search.bands import Bands, banded_samples
from twinset.sketch.minhash import MinHash
from twinset.sketch.sizes import Sizes
from twinset.sketch.sketches import Sketches, parts_of

pytestmark = pytest.mark.compiled

LAYOUTS = [("64", 70), ("32", 64), ("8", 130), ("2", 192), ("1", 256), ("1.5", 260), ("1/2", 192), ("1:0.5+2:0.25+1/2:0.25", 512)]
EVERYTHING = 0.0  # a miss of 0: no pair that shares a band is refuted


def sketches(minima, sizes, bits, samples):
    """Packed sketches of given minima (rows, lanes) and set sizes."""
    config = Config(bits=bits, samples=samples)
    words = np.empty((len(minima), config.layout.words), np.uint64)
    packing.pack(np.ascontiguousarray(minima, np.uint64), len(minima), parts_of(config), words)
    return Sketches(words, Sizes.store(np.asarray(sizes, np.int64), "exact"), config)


def families(rows, bits, samples, seed=0, families=4, copies=0.2):
    """Rows around a few centres, each sample that of the centre with a probability from 0.5 to 1; some rows repeated, some of size 0."""
    random = np.random.Generator(np.random.PCG64(seed))
    lanes = Config(bits=bits, samples=samples).layout.lanes
    centres, own = random.integers(0, 2**64, (families, lanes), np.uint64), random.integers(0, 2**64, (rows, lanes), np.uint64)
    minima = np.where(random.random((rows, lanes)) < random.uniform(0.5, 1, (rows, 1)), centres[random.integers(0, families, rows)], own)
    again = random.random(rows) < copies
    minima[again] = minima[random.integers(0, rows, again.sum())]
    return sketches(minima, np.where(random.random(rows) < 0.1, 0, 50), bits, samples)


def planted(pairs, R, bits, samples, seed):
    """Rows i and i + pairs resemble each other by R, sample by sample."""
    random = np.random.Generator(np.random.PCG64(seed))
    lanes = Config(bits=bits, samples=samples).layout.lanes
    one, other = random.integers(0, 2**64, (2, pairs, lanes), np.uint64)
    return sketches(np.concatenate([one, np.where(random.random((pairs, lanes)) < R, one, other)]), np.full(2 * pairs, 99), bits, samples)


def pairs_of(candidates):
    return list(zip(candidates.left.tolist(), candidates.right.tolist(), strict=True))


def twin(data, banding):
    layout = data.config.layout
    return reference.join(data.samples().tolist(), data.sizes.stored.tolist(), reference.bands(banding.parts, [part.samples for part in layout.components]))


def some_banding(layout, seed):
    random = np.random.Generator(np.random.PCG64(seed))
    parts = []
    for part in layout.components:
        rows = int(random.integers(1, min(part.samples, 60 // part.bits + 4) + 1))
        parts.append((int(random.integers(1, part.samples // rows + 1)), rows))
    return Banding(layout, tuple(parts))


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 32 columns, so that a bucket of 33 rows is a large one, and pieces of work of a few rows."""
    for name, value in (("FEWEST", 32), ("MOST", 32), ("CHUNK", 64)):
        monkeypatch.setattr(buckets, name, value)


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
def test_join_is_the_rule(bits, samples, seed):
    data = families(150, bits, samples, seed)
    banding = some_banding(data.config.layout, seed)
    assert pairs_of(Bands(data, 0.8, banding=banding, miss=EVERYTHING).join()) == twin(data, banding)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(LAYOUTS), st.integers(0, 90), st.integers(1, 5), st.integers(0, 10**6))
def test_join_is_the_rule_for_random_bandings(layout, rows, centres, seed):
    data = families(rows, *layout, seed, centres)
    banding = some_banding(data.config.layout, seed)
    assert pairs_of(Bands(data, 0.8, banding=banding, miss=EVERYTHING).join(threads=1 + seed % 3)) == twin(data, banding)


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
def test_query_is_the_rule(bits, samples):
    data, new = families(120, bits, samples, 1), families(90, bits, samples, 1)[np.arange(20, 90)]
    banding = some_banding(data.config.layout, 2)
    banded = reference.bands(banding.parts, [part.samples for part in data.config.layout.components])
    expected = reference.query(new.samples().tolist(), new.sizes.stored.tolist(), data.samples().tolist(), data.sizes.stored.tolist(), banded)
    found = Bands(data, 0.8, banding=banding, miss=EVERYTHING).query(new)
    assert pairs_of(found) == expected
    assert found.left.dtype == np.int64


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
@pytest.mark.parametrize("miss", [EVERYTHING, 1e-6])
def test_join_is_the_query_of_itself_without_the_diagonal(bits, samples, miss):
    data = families(300, bits, samples, 3)
    searcher = Bands(data, 0.8, miss=miss)
    both = pairs_of(searcher.query(data))
    assert pairs_of(searcher.join()) == [(i, j) for i, j in both if i < j]
    assert {(j, i) for i, j in both} == set(both)
    assert [i for i, j in both if i == j] == np.flatnonzero(data.sizes.stored).tolist()


@pytest.mark.parametrize("miss", [EVERYTHING, 1e-6])
def test_threads_change_nothing(miss, small_tiles):
    data = families(2000, "1.5", 260, 5, families=3)
    answers = [Bands(data, 0.8, miss=miss).join(threads=threads) for threads in (1, 2, 5)]
    for other in answers[1:]:
        assert np.array_equal(answers[0].left, other.left)
        assert np.array_equal(answers[0].right, other.right)
    reports = []
    for threads in (1, 4):
        searcher = Bands(data, 0.8, miss=miss)
        searcher.query(data, threads=threads)
        reports.append(searcher.report)
    assert reports[0] == reports[1]


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
def test_large_buckets_are_compared_in_full_when_nothing_may_be_missed(bits, samples, small_tiles):
    data = families(400, bits, samples, 7, families=2)
    banding = Banding(data.config.layout, tuple((2, 2) for _ in data.config.layout.components))
    searcher = Bands(data, 0.8, banding=banding, miss=EVERYTHING)
    assert pairs_of(searcher.join()) == twin(data, banding)
    assert searcher.report.compared > 0
    assert searcher.report.refined == 0
    new = data[np.arange(0, 400, 3)]
    banded = reference.bands(banding.parts, [part.samples for part in data.config.layout.components])
    expected = reference.query(new.samples().tolist(), new.sizes.stored.tolist(), data.samples().tolist(), data.sizes.stored.tolist(), banded)
    assert pairs_of(searcher.query(new)) == expected


def boilerplate(rows, seed=0):
    """Rows that share the samples of the first band and hardly any other, but for some pairs of 0.9."""
    data = planted(rows // 2, 0.9, "64", 128, seed)
    minima = data.samples()
    minima[:, :4] = minima[0, :4]
    return sketches(minima, data.sizes.stored, "64", 128)


def test_a_large_bucket_of_unlike_rows_is_split_and_loses_nothing(small_tiles):
    data = boilerplate(3000)
    banding = Banding.of(data.config.layout, 9, 4)
    searcher = Bands(data, 0.8, banding=banding)
    found = searcher.join()
    assert pairs_of(found) == [(i, i + 1500) for i in range(1500)]
    assert searcher.report.refined == 1
    assert searcher.report.largest == 3000
    assert "1 split by further samples" in searcher.about
    # and alike when the other side is new
    searcher.query(data[np.arange(1500, 3000)])
    assert searcher.report.refined == 1
    assert len(searcher.query(data[np.arange(1500, 3000)])) == 3000


@pytest.mark.parametrize(("bits", "samples"), [("64", 128), ("8", 128), ("1.5", 1024), ("1/2", 512)])
def test_refuted_pairs_are_those_that_differ_too_much(bits, samples):
    """With a filter the answer is that without, less the pairs that differ in more samples than the limit."""
    data = families(400, bits, samples, 11, families=6)
    searcher = Bands(data, 0.8)
    stored = data.samples().tolist()
    allowed = [pair for pair in twin(data, searcher.banding) if reference.differing(stored[pair[0]], stored[pair[1]]) <= searcher.room]
    assert pairs_of(searcher.join()) == allowed
    assert len(allowed) < len(twin(data, searcher.banding))


def test_a_miss_smaller_than_a_float_can_tell_refutes_nothing_at_the_threshold():
    data = families(200, "8", 128, 4)
    room = Bands(data, 0.8, miss=1e-15).room
    assert Bands(data, 0.8).room < room <= Bands(data, 0.8, miss=1e-30).room <= 128


@pytest.mark.parametrize(("bits", "samples"), [("64", 128), ("2", 256), ("1.5", 512), ("1/2", 512)])
@pytest.mark.parametrize("R", [0.5, 0.7, 0.8, 0.9])
def test_the_curve_is_what_is_found(bits, samples, R):
    """Found pairs among 4000 planted ones are binomial with the stated probability: false alarm 1e-6 for each of the 16 cases; a bias of 0.04 is missed with p < 1e-2."""
    count, alarm = 4000, 1e-6
    data = planted(count, R, bits, samples, seed=int(100 * R))
    banding = choose_banding(data.config.layout, 0.8, 0.9, documents=10**5)
    answer = Bands(data, 0.8, banding=banding, miss=EVERYTHING)
    found = sum(j == i + count for i, j in pairs_of(answer.join()))
    p = float(answer.detection(R))
    assert binom.ppf(alarm / 2, count, p) <= found <= binom.ppf(1 - alarm / 2, count, p)
    if R >= 0.8:  # the filter may lose a millionth
        filtered = Bands(data, 0.8, banding=banding)
        assert sum(j == i + count for i, j in pairs_of(filtered.join())) >= binom.ppf(alarm / 2, count, float(filtered.detection(R)))


def test_recall_on_texts():
    """Sketches of the production hash: pairs of resemblance 0.8 to 1 are found with the recall asked for. 600 pairs; false alarm below 1e-6."""
    random = np.random.Generator(np.random.PCG64(3))
    sets = []
    for _ in range(600):
        shared, own = random.integers(0, 2**63, 160), random.integers(0, 2**63, (2, 20))
        sets += [np.concatenate([shared, own[0]]), np.concatenate([shared, own[1]])]
    data = MinHash(bits="64", samples=128).sketch_sets(sets)
    searcher = Bands(data, 0.8, recall=0.95)
    found = set(pairs_of(searcher.join()))
    count = sum((2 * i, 2 * i + 1) in found for i in range(600))
    assert count >= binom.ppf(1e-6, 600, float(searcher.detection(0.8)))
    assert len(found) < 700


def test_equal_rows_are_joined_once_and_put_back():
    base = planted(50, 0.9, "8", 128, 2)
    rows = np.concatenate([np.zeros(300, np.int64), np.arange(100), np.full(200, 50)])
    data = base[rows]
    searcher = Bands(data, 0.8, miss=EVERYTHING)
    found = searcher.join()
    assert pairs_of(found) == twin(data, searcher.banding)
    assert searcher.report.identical == 500
    stars = searcher.join(expand=False)
    assert all(i == 0 for i, j in pairs_of(stars) if j < 300)
    assert sum(j < 300 for _, j in pairs_of(stars)) == 299
    whole = {(i, j) for i, j in pairs_of(found)}
    assert set(pairs_of(stars)) < whole
    assert len(searcher.query(base)) == len(twin(data, searcher.banding)[:0]) + len(
        reference.query(base.samples().tolist(), [1] * 100, data.samples().tolist(), [1] * 600, banded_samples(searcher.banding))
    )


def test_a_million_equal_rows_are_refused_before_they_are_paired():
    one = planted(1, 0.9, "1", 64, 0)
    data = one[np.zeros(1_000_000, np.int64)]
    searcher = Bands(data, 0.9)
    with pytest.raises(TooManyPairs, match=r"499999500000 pairs, and the largest group of equal sketches 1000000 rows; allowed: 1073741824 pairs"):
        searcher.join()
    assert len(searcher.join(expand=False)) == 999_999
    with pytest.raises(TooManyPairs, match="allowed: 5 pairs"):
        Bands(planted(10, 1.0, "64", 64, 0), 0.9, most=5).join()


def test_empty_documents_match_nothing():
    data = MinHash(bits="8", samples=64).sketch(["", "one two three", "", "one two three"])
    assert pairs_of(Bands(data, 0.5).join()) == [(1, 3)]
    assert pairs_of(Bands(data, 0.5).query(data)) == [(1, 1), (1, 3), (3, 1), (3, 3)]
    for rows in ([], [0], [0, 2], [1]):
        assert len(Bands(data[np.array(rows, np.int64)], 0.5).join()) == 0


def test_coded_sizes_tell_empty_documents_too():
    for sizes in ("8", "4"):
        data = MinHash(bits="8", samples=64, sizes=sizes).sketch(["", "one two three", "", "one two three"])
        assert pairs_of(Bands(data, 0.5).join()) == [(1, 3)]


def test_dense_sets_are_banded_by_their_density():
    random = np.random.Generator(np.random.PCG64(1))
    data = MinHash(bits="2", samples=256, family="permutations", universe=2000).sketch_sets([random.choice(2000, 900, replace=False) for _ in range(20)])
    searcher = Bands(data, 0.8)
    assert searcher.density == 0.45
    assert float(searcher.detection(0.8)) >= 0.99
    assert float(searcher.banding.detection(0.8)) > float(searcher.detection(0.8))


def test_progress_counts_up_and_can_cancel():
    data = families(3000, "8", 128, 1)
    seen = []
    searcher = Bands(data, 0.8)
    searcher.join(progress=lambda done, total: seen.append((done, total)), threads=1)
    assert {total for _, total in seen} == {3000 * (1 + searcher.banding.bands)}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]

    class Cancelled(Exception):
        pass

    def cancel(done, total):
        if done > 4000:
            raise Cancelled

    for threads in (1, 3):
        with pytest.raises(Cancelled):
            searcher.join(progress=cancel, threads=threads)


def test_options_and_sketches_that_do_not_fit():
    data = families(20, "8", 128)
    with pytest.raises(BadOption, match="threshold is 1.5"):
        Bands(data, 1.5)
    with pytest.raises(BadOption, match="threshold is 0"):
        Bands(data, 0, banding=Banding.of(data.config.layout, 4, 4))
    with pytest.raises(BadOption, match="miss is 1"):
        Bands(data, 0.8, miss=1)
    with pytest.raises(BadOption, match="the banding is for layout '8' of 64 samples"):
        Bands(data, 0.8, banding=Banding.of(Config(bits="8", samples=64).layout, 4, 4))
    with pytest.raises(UnreachableRecall):
        Bands(families(20, "64", 64, 0)[np.arange(3)], 0.01, recall=0.999)
    with pytest.raises(IncompatibleSketches, match="bits '8' and '4'"):
        Bands(data, 0.8).query(families(20, "4", 128))


def test_about_says_what_was_done():
    data = families(500, "1.5", 260, 2)
    searcher = Bands(data, 0.8)
    assert searcher.about.startswith("bands: ")
    assert "a pair at 0.8 is found with probability 0.99" in searcher.about
    searcher.join()
    assert (
        f"500 rows, {(data.sizes.stored == 0).sum()} of them empty, {searcher.report.identical} identical to an earlier one; no large bucket; {searcher.report.pairs} pairs"
        in searcher.about
    )
