"""The formulas of banding and the choice of bands and rows; the kernels that make keys and put rows together by them."""

from itertools import pairwise

import numpy as np
import pytest
import reference_bands as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.errors import BadOption, UnreachableRecall
from twinset.estimate.banding import KEY, PAIR, Banding, background, by_chance, choose_banding, papers_banding, steepest
from twinset.estimate.probability import T1, T2, agreement
from twinset.kernels import banding as kernels
from twinset.layout import parse
from twinset.search.buckets import Slices

LAYOUTS = [("64", 128), ("8", 128), ("1", 512), ("1.5", 1024), ("1/2", 1024), ("3/4", 512), ("1:0.5+2:0.25+1/2:0.25", 512)]


def chances(layout, R):
    return [float(agreement(part, R)[0]) for part in layout.components]


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
def test_detection_is_its_definition(bits, samples):
    layout = parse(bits, samples)
    parts = tuple((3 + i, 2 + i) for i in range(len(layout.components)))
    for R in (0.0, 0.2, 0.55, 0.99):
        assert float(Banding(layout, parts).detection(R)) == pytest.approx(reference.detection(chances(layout, R), parts), abs=1e-12)
    assert Banding(layout, parts).detection(1.0) == 1


def test_whole_values_agree_as_often_as_sets_resemble_and_bits_by_t1_and_t2():
    assert Banding.of(parse("64", 64), 1, 1).detection(0.3) == pytest.approx(0.3)
    assert Banding.of(parse("2", 64), 1, 1).detection(0.3) == pytest.approx(float(T1(0.3, 2)))
    assert Banding.of(parse("1/2", 64), 1, 1).detection(0.3) == pytest.approx(float(T2(0.3, 2)))
    assert Banding.of(parse("2", 64), 1, 1).detection(0.3, 0.1, 0.2) == pytest.approx(float(T1(0.3, 2, 0.1, 0.2)))


def test_the_curve_rises_from_chance_to_one():
    curve = Banding.of(parse("64", 128), 16, 6).curve()
    assert [R for R, _ in curve] == pytest.approx(np.linspace(0, 1, 21).tolist())
    assert curve[0][1] < 1e-100
    assert curve[-1][1] == 1
    assert all(a[1] < b[1] for a, b in pairwise(curve))


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("recall", [0.5, 0.99, 1 - 1e-7])
def test_what_is_chosen_reaches_the_recall_within_the_samples(bits, samples, threshold, recall):
    layout = parse(bits, samples)
    chosen = choose_banding(layout, threshold, recall)
    assert float(chosen.detection(threshold)) >= recall - 1e-12
    assert all(bands * rows <= part.samples for (bands, rows), part in zip(chosen.parts, layout.components, strict=True))
    half = choose_banding(layout, threshold, min(recall, 0.9), samples=samples // 2)
    assert half.samples <= samples // 2
    assert float(half.detection(threshold)) >= min(recall, 0.9) - 1e-12


@pytest.mark.parametrize(("bits", "samples"), [("64", 20), ("8", 24), ("1", 24), ("1.5", 24), ("3/4", 20)])
@pytest.mark.parametrize("threshold", [0.4, 0.8])
@pytest.mark.parametrize("documents", [1000, 10**7])
def test_no_banding_is_cheaper(bits, samples, threshold, documents):
    """Against every number of bands and rows of every component."""
    layout = parse(bits, samples)

    def price(c, rows):
        chance = float(by_chance(layout.components[c], np.array([rows]))[0])
        return 1e-9 * (KEY * documents + PAIR * documents * (documents - 1) / 2 * chance)

    least = reference.cheapest(chances(layout, threshold), [part.samples for part in layout.components], price, 0.9)
    assert choose_banding(layout, threshold, 0.9, documents=documents).cost == pytest.approx(least, rel=1e-9)


def test_the_background_is_mostly_nothing_and_chance_agreement_counts():
    values, shares = background()
    assert shares.sum() == pytest.approx(1)
    assert float(values @ shares) == pytest.approx(0.01, rel=0.15)
    one_bit, whole = parse("1", 64).components[0], parse("64", 64).components[0]
    assert by_chance(one_bit, np.array([20]))[0] > 2.0**-20
    assert 1e-7 < by_chance(whole, np.array([4]))[0] < 1e-6
    assert by_chance(whole, np.array([20]))[0] < 1e-10


def test_more_documents_take_wider_bands():
    layout = parse("2", 1024)
    rows = [choose_banding(layout, 0.8, documents=10**n).rows for n in (2, 4, 6, 8)]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


def test_a_recall_out_of_reach_says_what_is_in_reach():
    with pytest.raises(UnreachableRecall, match=r"at threshold 0.5 with 4 samples in bands: at most 0\.9375"):
        choose_banding(parse("64", 4), 0.5, 0.95)
    with pytest.raises(UnreachableRecall, match="with 2 samples"):
        choose_banding(parse("64", 128), 0.5, 0.9, samples=2)
    with pytest.raises(UnreachableRecall, match="recall is 1;"):
        choose_banding(parse("64", 128), 0.9, 1.0)
    assert choose_banding(parse("64", 4), 0.5, 0.93).parts == ((4, 1),)
    assert float(choose_banding(parse("64", 128), 1.0, 1.0).detection(1.0)) == 1


@pytest.mark.parametrize(("options", "message"), [
    ({"threshold": 0}, "threshold is 0; allowed: above 0"),
    ({"threshold": 1.01}, "threshold is 1.01"),
    ({"threshold": float("nan")}, "threshold is nan"),
    ({"recall": 0}, "recall is 0"),
    ({"recall": 1.1}, "recall is 1.1"),
    ({"samples": 0}, "samples is 0"),
])  # fmt: skip
def test_options_outside_what_is_allowed(options, message):
    with pytest.raises(BadOption, match=message):
        choose_banding(parse("64", 128), **({"threshold": 0.8} | options))


@pytest.mark.parametrize("parts", [((0, 0),), ((1, 129),), ((3, 0),), ((-1, 2),), ((1, 1), (1, 1))])
def test_bandings_that_do_not_fit(parts):
    with pytest.raises(BadOption, match="a banding has"):
        Banding(parse("64", 128), parts)


def test_the_papers_rule_is_where_the_curve_is_steep_and_not_where_pairs_are_found():
    """Errata 5: at (1/b)^(1/r) a pair is found with 1 - (1 - 1/b)^b."""
    bands, rows = papers_banding(128, 0.8)
    assert steepest(bands, rows) == pytest.approx(0.8, abs=0.01)
    assert Banding.of(parse("64", 128), bands, rows).detection(steepest(bands, rows)) == pytest.approx(1 - (1 - 1 / bands) ** bands)
    assert 0.6 < 1 - (1 - 1 / bands) ** bands < 0.7


def slices_of(slices, first, last):
    """(word, mask) of every plane of each band's key, from what the kernel reads."""
    blocks, begins, masks, bands, salts = slices.for_keys(first, last)
    read = [[] for _ in range(last - first)]
    for t, (word, planes) in enumerate(blocks.tolist()):
        for w in range(word, word + planes):
            for s in range(begins[t], begins[t + 1]):
                read[bands[s]].append((w, int(masks[s])))
    return read, salts.tolist()


@pytest.mark.parametrize(("bits", "samples"), LAYOUTS)
def test_keys_equal_their_definition(bits, samples):
    layout = parse(bits, samples)
    random = np.random.Generator(np.random.PCG64(1))
    words = random.integers(0, 2**64, (9, layout.words), np.uint64)
    bands = [random.permutation(layout.samples)[: 5 + 30 * (i % 2)] for i in range(5)]
    slices = Slices(layout, bands, layout.samples)
    rows = np.array([8, 0, 3, 3, 5])
    out = np.full((4, 5), np.uint64(7))
    kernels.band_keys(words, rows, 1, 4, *slices.for_keys(1, 5), out)
    read, salts = slices_of(slices, 1, 5)
    expected = [[reference.key(words[row].tolist(), each, salts) for row in rows[1:4]] for each in read]
    assert out[:, 1:4].tolist() == expected
    assert (out[:, [0, 4]] == 7).all()


def test_keys_read_every_sample_of_the_band_and_no_other():
    layout = parse("3/4", 200)
    samples = np.array([0, 63, 64, 99, 150])
    slices = Slices(layout, [samples], 0)
    ones = sorted((w, i) for w, mask in slices_of(slices, 0, 1)[0][0] for i in range(64) if mask >> i & 1)
    assert ones == [(0, 0), (0, 63), (1, 0), (1, 35), (2, 50)]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([0, 1, 2**32, 2**52, 2**63, 2**63 + 5, 2**64 - 1]) | st.integers(0, 2**64 - 1), max_size=60), st.integers(1, 12))
def test_rows_are_put_together_by_key(keys, bits):
    """Partitions by the highest bits, the next 32 in order within each, rows of equal keys in the order given."""
    keys, rows = np.array(keys, np.uint64), np.arange(len(keys)) * 7
    starts, entries = np.empty((1 << bits) + 1, np.int64), np.empty(len(keys), np.uint64)
    kernels.partition(keys, rows, bits, starts, entries)
    kernels.sort_partitions(entries, starts, 0, 1 << bits, np.empty(len(keys), np.uint64), np.empty((4, 256), np.int64))
    order = sorted(range(len(keys)), key=lambda i: int(keys[i]) >> 32 - bits)
    assert (entries & kernels.LOW).tolist() == [7 * i for i in order]
    assert (entries >> kernels.HALF).tolist() == [int(keys[i]) >> 32 - bits & 2**32 - 1 for i in order]
    assert starts.tolist() == [sum(int(key) >> 64 - bits < d for key in keys) for d in range((1 << bits) + 1)]


def test_rows_of_equal_words_get_the_first_as_their_leader():
    words = np.array([[1, 2], [1, 3], [1, 2], [4, 4], [1, 2], [1, 3]], np.uint64)
    entries = np.array([5 << 32 | row for row in (0, 1, 2, 4)] + [6 << 32 | row for row in (3, 5)], np.uint64)
    leaders = np.full(6, -1)
    kernels.collapse(words, entries, 0, 6, leaders)
    assert leaders.tolist() == [0, 1, 0, 3, 0, 5]
