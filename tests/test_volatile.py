"""Probabilistic SimHash matching finds exactly the pairs whose header differs in one of the likeliest subsets, and as many as it says."""

import numpy as np
import pytest
import reference_hamming as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from test_blocks import pairs

from twinset.config import SimConfig
from twinset.errors import BadInput, BadOption
from twinset.estimate.flips import Flips
from twinset.estimate.shares import share
from twinset.kernels.vosh import CELL, MAGNITUDE
from twinset.search import calibration, runs
from twinset.search.blocks import Blocks
from twinset.search.probes import as_words, cost_table
from twinset.search.volatile import Volatile
from twinset.sketch.fingerprints import Fingerprints

pytestmark = pytest.mark.compiled

NORMAL = Flips.normal(0.25)


def sketched(rows, bits=64, seed=0, spread=0.12, copies=3, keep=True):
    """Documents in clusters of about `copies`: projections of a centre plus noise, whose bits flip where the projection is small."""
    random = np.random.Generator(np.random.PCG64(seed))
    centres = random.normal(size=(max(rows // copies, 1), bits))
    w = (centres[random.integers(0, len(centres), rows)] + random.normal(size=(rows, bits)) * spread).astype(np.float32)
    words = ((w >= 0).reshape(rows, bits // 64, 64).astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
    return Fingerprints(words, SimConfig(bits=bits, weights="constant"), projections=w if keep else None)


def expected(asked, stored, most, header_bits, probes):
    """By definition, with costs refined by magnitude and bit, as ties are broken."""
    magnitude = as_words(asked.projections)[:, 64 - header_bits : 64] & MAGNITUDE
    table = cost_table(NORMAL)
    result = []
    for i in range(len(asked)):
        order = sorted(range(header_bits), key=lambda j: (magnitude[i, j], j))
        keys = reference.subsets([int(table[magnitude[i, j] >> CELL]) for j in order], most)[:probes]
        chosen = [sum(1 << order[s] for s in range(header_bits) if key >> s & 1) for key in [0, *keys]]
        headers = {reference.header(asked.words[i].tolist(), header_bits) ^ flips for flips in chosen}
        for j in range(len(stored)):
            near = reference.distance(asked.words[i].tolist(), stored.words[j].tolist()) <= most
            if near and reference.header(stored.words[j].tolist(), header_bits) in headers:
                result.append((i, j))
    return result


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from([64, 128]), st.integers(0, 4), st.integers(1, 70), st.integers(0, 30), st.integers(0, 99))
def test_equals_the_twin(bits, most, rows, probes, seed):
    stored, asked = sketched(rows, bits, seed), sketched(20, bits, seed)
    for header_bits in {0, (rows.bit_length() - 1) // 2, rows.bit_length() - 1}:
        search = Volatile(stored, most, flips=NORMAL, probes=probes, header_bits=header_bits)
        assert pairs(search.query(asked, threads=1)) == expected(asked, stored, most, header_bits, probes)


@pytest.mark.parametrize("bits", [64, 128])
def test_with_all_subsets_nothing_is_missed(bits):
    stored = sketched(300, bits)
    search = Volatile(stored, flips=NORMAL, probes=10**6)
    assert pairs(search.join()) == reference.within(stored.words.tolist(), 3)
    assert search.recall.value == 1
    assert search.detection([0, 1, 2, 3, 4]).tolist() == [1, 1, 1, 1, 0]


def test_join_is_query_either_way_round():
    data = sketched(400, spread=0.2)
    search = Volatile(data, flips=NORMAL, probes=6)
    either = {(min(pair), max(pair)) for pair in pairs(search.query(data)) if pair[0] != pair[1]}
    assert pairs(search.join()) == sorted(either)


def test_first_gives_each_query_that_finds_one_a_match():
    stored, asked = sketched(500), sketched(200)
    every = pairs(Volatile(stored, flips=NORMAL, probes=12).query(asked))
    found = pairs(Volatile(stored, flips=NORMAL, probes=12, first=True).query(asked))
    assert set(found) <= set(every)
    assert [left for left, _ in found] == sorted({left for left, _ in every})


@pytest.mark.parametrize("first", [False, True])
def test_threads_change_nothing(first, monkeypatch):
    monkeypatch.setattr("twinset.search.volatile.chunks", lambda count: [(i, min(i + 64, count)) for i in range(0, count, 64)])
    data = sketched(3000)
    search = Volatile(data, first=first)
    for ask in (search.join, lambda **options: search.query(data, **options)):
        one, two = ask(threads=1), ask(threads=2)
        assert np.array_equal(one.left, two.left)
        assert np.array_equal(one.right, two.right)


ALARM = 1e-6


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("recall", [0.8, 0.95])
def test_the_recall_is_what_was_measured(recall, first):
    """Other queries than the sample's, of the same law: the share found lies within binomial bounds of the measured interval.

    One pair a query, so that queries are independent. False alarm: 5e-6 (the interval at 1 - 4e-6, the binomial at 1e-6). With 750 matched queries in the measuring half and
    1000 more, a recall that is off by 0.12 goes unseen with probability below 1e-3.
    """
    both = sketched(60_000, spread=0.14, copies=2)
    stored, asked = both[:40_000], both[40_000:]
    search = Volatile(stored, recall=recall, first=first, sample=asked[:10_000])
    asked = asked[10_000:]
    every, found = Blocks(stored, first=first).query(asked), search.query(asked)
    once = np.isin(every.left, np.flatnonzero(np.bincount(every.left) == 1))
    distant = np.bitwise_count(stored.words[every.right, 0] ^ asked.words[every.left, 0]) > 0
    matches = set(zip(every.left[once & distant].tolist(), every.right[once & distant].tolist(), strict=True))
    got = len(matches & set(pairs(found)))
    measured = search._calibration.recall(search.probes, level=1 - 4e-6)
    low, high = binom.ppf(ALARM / 2, len(matches), measured.low), binom.ppf(1 - ALARM / 2, len(matches), measured.high)
    assert len(matches) > 1000
    assert low <= got <= high
    assert abs(search.recall.value - recall) < 0.06
    assert search.recall.low < search.recall.value < search.recall.high


def test_more_recall_takes_more_probes():
    data = sketched(20_000, spread=0.15)
    probes = [Volatile(data, recall=recall).probes for recall in (0.5, 0.9, 0.99)]
    assert probes == sorted(set(probes))


def test_equal_fingerprints_are_found_by_no_flip_and_do_not_flatter():
    """Half the rows repeat another: the recall is that of the rest."""
    data = sketched(4000, spread=0.15)
    twice = Fingerprints(np.repeat(data.words, 2, axis=0), data.config, projections=np.repeat(data.projections, 2, axis=0))
    search = Volatile(twice, recall=0.9)
    assert search.probes > 0
    assert search.detection(0) == 1
    assert 0.85 < search.recall.value < 0.95


def test_without_near_pairs_every_header_is_looked_up():
    data = sketched(50, copies=1, spread=3.0)
    search = Volatile(data)
    assert search.recall.value == 1
    assert pairs(search.query(data)) == reference.matches(data.words.tolist(), data.words.tolist(), 3)


def test_removed_rows_are_not_found():
    data = sketched(300)
    search = Volatile(data, flips=NORMAL, probes=10**6)
    search.remove(np.arange(0, 300, 3))
    assert pairs(search.join()) == [pair for pair in reference.within(data.words.tolist(), 3) if pair[0] % 3 and pair[1] % 3]


def test_a_small_buffer_grows(monkeypatch):
    monkeypatch.setattr(runs, "ROOM", 2)
    data = sketched(300, copies=30)
    assert pairs(Volatile(data, flips=NORMAL, probes=10**6).join()) == reference.within(data.words.tolist(), 3)


def test_cancelling_stops_the_search():
    def cancel(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Volatile(sketched(500), flips=NORMAL, probes=3).join(progress=cancel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": 64}, "distance is 64"),
        ({"recall": 0}, "recall is 0; allowed: more than 0"),
        ({"recall": 1.1}, "recall is 1.1"),
        ({"probes": -1}, "probes is -1"),
        ({"header_bits": 7}, "header_bits is 7; allowed: 0 to 6, the logarithm of 100 fingerprints"),
        ({"header_bits": -1}, "header_bits is -1"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(BadOption, match=message):
        Volatile(sketched(100), **options)


def test_projections_are_needed_and_finite():
    bare, whole = sketched(100, keep=False), sketched(100)
    with pytest.raises(BadInput, match="no projections to calibrate with"):
        Volatile(bare)
    with pytest.raises(BadInput, match="no projections to learn"):
        Volatile(bare, sample=whole, probes=3)
    search = Volatile(bare, flips=NORMAL, probes=3)
    assert len(search.query(whole)) >= 100
    with pytest.raises(BadInput, match="which say what bits are volatile"):
        search.query(bare)
    assert "a share not measured" in search.about
    with pytest.raises(BadInput, match="to measure the recall with"):
        _ = search.recall
    broken = sketched(100)
    broken.projections[17, 63] = np.nan
    with pytest.raises(BadInput, match="projections of row 17 are not all finite"):
        Volatile(broken)
    with pytest.raises(BadInput, match="row 17"):
        search.query(broken)


def test_a_share_of_groups():
    """Groups that are all or nothing count once; members that vary within their groups count each."""
    alike = share([5] * 90 + [0] * 10, [5] * 100)
    assert alike.value == 0.9
    assert alike.sample == 500
    one = share([1] * 90 + [0] * 10, [1] * 100)
    assert (one.low, one.high) == pytest.approx((0.8256, 0.9448), abs=0.001)  # Wilson's interval for 90 of 100
    assert (alike.low, alike.high) == pytest.approx((one.low, one.high), abs=1e-9)
    assert share([], []).low == 0
    assert share([3, 3], [3, 3]).low < 0.5


def test_the_sample_is_limited_and_says_so(monkeypatch):
    monkeypatch.setattr(calibration, "MATCHED", 100)
    monkeypatch.setattr(calibration, "LOOK_UPS", 1 << 14)
    search = Volatile(sketched(20_000), recall=0.9)
    assert 20 < search.recall.sample < 500
    assert search.recall.high - search.recall.low > 0.02


def test_what_it_says():
    search = Volatile(sketched(64), flips=NORMAL, probes=2)
    assert search.about.startswith("volatile: pairs within 3 bits, ")
    assert search.about.endswith("by the first 3 bits as they are and with their 2 likeliest flips")
    assert search.nbytes == 64 * 8 + 64 * 4 + 9 * 4
