"""The scan finds what its rule says, and the rule misses as often as it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_scan import differing, scanned
from scipy.stats import binom

from twinset import MinHash
from twinset.errors import BadOption, IncompatibleSketches
from twinset.estimate.sequential import binomial, cut, differing_cdf
from twinset.layout import parse
from twinset.search.scan import Scan

pytestmark = pytest.mark.compiled

LAYOUTS = [("1", 64), ("1", 100), ("1", 512), ("2", 128), ("3", 130), ("8", 64), ("64", 64), ("32", 70), ("1.5", 256), ("1/2", 256), ("3/4", 256), ("1:0.5+2:0.25+4:0.25", 256)]


def related(rows, seed=1, size=60):
    """Sets of which neighbours share much, some are empty, some equal, and sizes differ up to eightfold."""
    random = np.random.default_rng(seed)
    sets = [set(random.integers(1 << 40, size=int(random.integers(size // 4, 2 * size))).tolist()) for _ in range(rows // 2)]
    while len(sets) < rows:
        one = list(sets[int(random.integers(len(sets)))])
        keep = int(len(one) * random.choice([0.5, 0.8, 0.9, 1.0]))
        sets.append(set(one[:keep]) | set(random.integers(1 << 40, size=int((len(one) - keep) * random.random())).tolist()))
    sets[rows // 3] = sets[2 * rows // 3] = set()
    return sets


@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
def test_join_is_the_quadratic_twin(bits, samples, threshold):
    sketches = MinHash(bits=bits, samples=samples).sketch_sets(related(150))
    for miss in (0, 1e-3):
        scan = Scan(sketches, threshold, miss=miss)
        found = scan.join(threads=2)
        expected = scanned(sketches, sketches, scan.cut, threshold)
        assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(i, j) for i, j in expected if i < j]
        assert len(found) > 5


@pytest.mark.parametrize("sizes", ["exact", "8", "4"])
def test_query_is_the_quadratic_twin(sizes):
    sketcher = MinHash(bits="2", samples=128, sizes=sizes)
    old, new = sketcher.sketch_sets(related(70)), sketcher.sketch_sets(related(70)[20:59])
    scan = Scan(old, 0.6)
    found = scan.query(new, threads=1)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == scanned(new, old, scan.cut, 0.6)


def test_a_join_is_a_query_of_itself():
    sketches = MinHash(bits="1", samples=256).sketch_sets(related(300))
    scan = Scan(sketches, 0.7)
    joined, asked = scan.join(), scan.query(sketches)
    one_way = asked[asked.left < asked.right]
    assert (joined.left.tolist(), joined.right.tolist()) == (one_way.left.tolist(), one_way.right.tolist())
    both = asked[asked.left != asked.right]
    assert len(both) == 2 * len(joined)


def test_threads_and_small_buffers_change_nothing(monkeypatch):
    sketches = MinHash(bits="1", samples=128).sketch_sets(related(700))
    expected = Scan(sketches, 0.5).join(threads=1)
    monkeypatch.setattr("twinset.search.scan.CAPACITY", 128)  # room for one group of columns: every group is resumed
    monkeypatch.setattr("twinset.search.scan.QUERIES", 37)
    monkeypatch.setattr("twinset.search.scan.TILE", 1)
    found = Scan(sketches, 0.5).join(threads=2)
    assert (found.left.tolist(), found.right.tolist()) == (expected.left.tolist(), expected.right.tolist())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sets(st.integers(0, 30), max_size=12), max_size=30), st.sampled_from([0.2, 0.5, 1.0]))
def test_any_sets(sets, threshold):
    sketches = MinHash(bits="4", samples=64).sketch_sets(sets)
    scan = Scan(sketches, threshold)
    found = scan.join(threads=1)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(i, j) for i, j in scanned(sketches, sketches, scan.cut, threshold) if i < j]


def test_nothing_in_nothing_out():
    for sets in ([], [set()], [set(), set()], [{1}]):
        assert len(Scan(MinHash(bits="1", samples=64).sketch_sets(sets), 0.5).join()) == 0


@pytest.mark.parametrize(("bits", "samples"), [("1", 512), ("1.5", 256), ("8", 64), ("1/2", 512)])
def test_a_pair_at_the_threshold_is_found_as_often_as_detection_says(bits, samples):
    # Model: pairs of independent sets of resemblance 0.8 (160 of 200 shared), each found with probability p. False alarm 1e-6 a layout; a loss of 0.03 is missed with p < 1e-9.
    pairs, alarm = 4000, 1e-6
    elements = np.random.default_rng(5).integers(1 << 62, size=(pairs, 200))
    sets = [row for each in elements for row in (each[:180], each[20:])]
    scan = Scan(MinHash(bits=bits, samples=samples).sketch_sets(sets), 0.8, recall=0.95)
    found = scan.join()
    planted = int(((found.right == found.left + 1) & (found.left % 2 == 0)).sum())
    p = float(scan.detection(0.8))
    assert p >= 0.95 - 1e-6
    assert binom.ppf(alarm / 2, pairs, p) <= planted <= binom.isf(alarm / 2, pairs, min(p + scan.cut.miss, 1))


def test_early_limits_keep_their_promise():
    """Every limit but the last is a quantile of what a pair at the threshold shows by then: together they miss at most `miss`."""
    test = cut(parse("1", 1024), 0.8, 0.99, 1e-4)
    stages = np.flatnonzero(test.limits < test.limits[-1])
    missed = [1 - binom.cdf(test.limits[i], 64 * (i + 1), 0.1) for i in stages]
    head = 1 - binom.cdf(test.most, 64 * test.blocks, 0.1)
    assert 0 < sum(missed) + head <= 1e-4
    assert binom.cdf(test.limits[-1], 1024, 0.1) >= 0.99 > binom.cdf(test.limits[-1] - 1, 1024, 0.1)


def test_the_sum_of_binomials_is_theirs():
    assert np.allclose(binomial(40, 0.3), binom.pmf(np.arange(41), 40, 0.3), rtol=1e-10)
    both = differing_cdf(parse("1=1:0.5+1:0.5", 80).components, 0.4)
    assert np.allclose(both, binom.cdf(np.arange(81), 80, 0.3), rtol=1e-10)


def test_without_abandoning_no_pair_that_the_last_test_takes_is_lost():
    sketches = MinHash(bits="1", samples=512).sketch_sets(related(200))
    scan = Scan(sketches, 0.5, miss=0)
    found = scan.join()
    expected = {(i, j) for i, j in scanned(sketches, sketches, scan.cut, 0.5) if i < j}
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected
    assert all(differing(sketches, i, sketches, j)[-1] <= scan.cut.limits[-1] for i, j in expected)


@pytest.mark.parametrize(("threshold", "recall", "miss"), [(0, 0.99, 0), (1.1, 0.99, 0), (float("nan"), 0.9, 0), (0.5, 1, 0), (0.5, 0.99, 0.02), (0.5, 0.99, -1)])
def test_options_out_of_range(threshold, recall, miss):
    with pytest.raises(BadOption, match="allowed"):
        Scan(MinHash(bits="1", samples=64).sketch_sets([{1}]), threshold, recall=recall, miss=miss)


def test_other_sketches_are_refused():
    with pytest.raises(IncompatibleSketches):
        Scan(MinHash(bits="1", samples=64).sketch_sets([{1}]), 0.5).query(MinHash(bits="1", samples=64, seed=1).sketch_sets([{1}]))
