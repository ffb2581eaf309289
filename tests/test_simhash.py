"""SimHash equals its definition under every option, whatever comes in and however many threads work; and its bits differ with probability theta / pi."""

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import reference_shingles
import reference_simhash as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_families import splitmix64
from scipy.stats import binom
from specimens import SPECIMENS

from twinset.config import MAX_SHINGLE, SIM_BITS, WEIGHTS, SimConfig
from twinset.errors import BadInput, BadOption, BadText, IncompatibleSketches
from twinset.sketch.simhash import SET_STEP, SimHash, _normal

pytestmark = pytest.mark.compiled

COUNTED = [name for name in WEIGHTS if name != "given"]
OPTIONS = [{"weights": weights, "bits": bits, "gaussian": gaussian} for weights, bits, gaussian in product(COUNTED, SIM_BITS, (False, True))]
TEXTS = ["the cat sat on the mat, the cat", "the dog sat on the log", "", "国家自然科学基金申请书国家", "one", "The Cat sat on a mat", "?!", "one one one"]


def expected(documents, config, counts=None, n=None):
    """Words of documents that are counted features."""
    counts, n = reference.document_counts(documents) if counts is None else counts, len(documents) if n is None else n
    return [reference.words(reference.sums(reference.weighted(document, config.weights, counts, n), config)) for document in documents]


def same(left, right):
    projections = (left.projections is None) == (right.projections is None) and (left.projections is None or np.array_equal(left.projections, right.projections))
    return np.array_equal(left.words, right.words) and projections and np.array_equal(left.empty, right.empty) and left.fingerprint == right.fingerprint


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_fingerprints_of_texts_equal_the_definition(options):
    """Bytes in, words out, by plain Python all the way."""
    sketcher = SimHash(**options, seed=7)
    documents = [reference.features(data, sketcher.config) for data in SPECIMENS.values()]
    found = sketcher.sketch(pa.array(SPECIMENS.values(), pa.binary()))
    assert found.words.tolist() == expected(documents, sketcher.config)
    assert found.empty.tolist() == [not document for document in documents]
    assert found.empty.any()
    assert found.malformed > 0


@pytest.mark.parametrize("kind", ["words:2", "chars:3"])
@pytest.mark.parametrize("space", [True, False])
def test_any_kind_of_shingle(kind, space):
    sketcher = SimHash(shingle=kind, space=space, case=True)
    documents = [reference.features(data, sketcher.config) for data in SPECIMENS.values()]
    assert sketcher.sketch(pa.array(SPECIMENS.values(), pa.binary())).words.tolist() == expected(documents, sketcher.config)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_projections_are_sums_scaled_to_length_1(options):
    """Within the rounding of one float32 of the plain-Python sum; their signs are the bits."""
    sketcher = SimHash(**options)
    found = sketcher.sketch(TEXTS, keep=True)
    documents = [reference.features(text.encode(), sketcher.config) for text in TEXTS]
    counts = reference.document_counts(documents)
    for row, document in enumerate(documents):
        pairs = reference.weighted(document, sketcher.config.weights, counts, len(documents))
        exact = np.array(reference.sums(pairs, sketcher.config)) / (reference.length(pairs) or 1)
        assert found.projections[row] == pytest.approx(exact, rel=1e-6, abs=1e-12)
        assert found.words[row].tolist() == reference.words(found.projections[row].tolist())
    assert found.projections.dtype == np.float32
    assert sketcher.sketch(TEXTS).projections is None


def test_a_document_without_features_has_all_bits_and_no_length():
    found = SimHash(bits=128).sketch(TEXTS, keep=True)
    assert found.empty.tolist() == [False, False, True, False, False, False, True, False]
    assert (found.words[[2, 6]] == np.uint64(2**64 - 1)).all()
    assert (found.projections[[2, 6]] == 0).all()


def test_a_document_of_one_feature_is_its_direction():
    found = SimHash(weights="tf").sketch(["one", "one one one"])
    word = reference.direction(reference_shingles.combine([reference_shingles.hash_unit(b"one")], 1)[0], SimConfig())
    assert found.words.tolist() == [reference.words(word)] * 2


def test_weights_by_hand():
    """Two documents have `sun`, one has `moon`: idf 1 + ln(4/3) and 1 + ln(4/2), to the nearest 2^-16."""
    texts = ["sun sun moon", "sun", ""]
    frequencies = SimHash().fit(texts)
    assert frequencies.documents == 3
    assert sorted(frequencies.counts.tolist()) == [1, 2]
    assert frequencies.factors([0, 1, 2, 3]).tolist() == [round(x * 65536) / 65536 for x in (2.386294361, 1.693147181, 1.287682072, 1.0)]
    sun, moon = ((np.array(reference.direction(reference_shingles.combine([reference_shingles.hash_unit(word)], 1)[0], SimConfig()))) for word in (b"sun", b"moon"))
    for weights, factors in [("constant", (1, 1)), ("tf", (2, 1)), ("tfidf", (2 * 1.287682072, 1.693147181))]:
        exact = (factors[0] * sun + factors[1] * moon) / np.hypot(*factors)
        assert SimHash(weights=weights).sketch(texts, keep=True).projections[0] == pytest.approx(exact, abs=2e-5)


def test_words_that_every_document_has_hardly_count():
    rare = [f"{'alpha beta gamma delta'} {word} {word}x {word}y" for word in ("one", "two")] + ["alpha beta gamma delta"] * 10_000
    distance = {weights: int(SimHash(weights=weights, bits=128).sketch(rare).distance(0, 1)[0]) for weights in COUNTED}
    assert distance["tfidf"] > 1.5 * distance["tf"] > 0


def test_a_query_takes_the_frequencies_of_its_collection():
    sketcher = SimHash()
    collection = sketcher.sketch(TEXTS)
    query = sketcher.sketch([TEXTS[0], "words nobody has seen, the cat"], frequencies=collection.frequencies)
    assert query.fingerprint == collection.fingerprint
    assert query.distance(0, 0, collection).tolist() == [0]
    documents = [reference.features(text.encode(), sketcher.config) for text in TEXTS]
    new = reference.features(b"words nobody has seen, the cat", sketcher.config)
    assert query.words[1].tolist() == expected([new], sketcher.config, reference.document_counts(documents), len(TEXTS))[0]


def test_frequencies_fitted_in_batches_are_those_of_all():
    sketcher = SimHash()
    merged = sketcher.fit(TEXTS[:3]).merge(sketcher.fit(TEXTS[3:]))
    whole = sketcher.sketch(TEXTS).frequencies
    assert merged.fingerprint == whole.fingerprint
    assert (merged.terms.tolist(), merged.counts.tolist(), merged.documents) == (whole.terms.tolist(), whole.counts.tolist(), whole.documents)
    assert same(sketcher.sketch(TEXTS, frequencies=merged), sketcher.sketch(TEXTS))
    assert (np.diff(whole.terms.astype(object)) > 0).all()


def test_frequencies_of_nothing():
    sketcher = SimHash()
    nothing = sketcher.fit([])
    assert (len(nothing), nothing.documents) == (0, 0)
    assert len(sketcher.sketch([])) == 0
    assert same(sketcher.sketch(["a b"], frequencies=nothing)[[0]], sketcher.sketch(["a b"], frequencies=nothing))
    assert sketcher.sketch(["a b"], frequencies=nothing).words.tolist() == SimHash(weights="constant").sketch(["a b"]).words.tolist()


def test_counting_goes_on_when_a_table_is_full():
    """More distinct features than a new table has places, in one long row and in many short ones."""
    rows = [list(range(5000)), *([i, 6000 + i] for i in range(4000))]
    found = SimHash().sketch_sets(rows).frequencies
    counts = Counter(reference_shingles.mixed(x) for row in rows for x in set(row))
    assert dict(zip(found.terms.tolist(), found.counts.tolist(), strict=True)) == counts
    assert found.documents == len(rows)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_fingerprints_of_sets_equal_the_definition(options):
    sketcher = SimHash(**options)
    rows = [[3, 1, 3, 3], [], [2**63], list(range(40)), [5, 5]]
    documents = [Counter(reference_shingles.mixed(x) for x in row) for row in rows]
    found = sketcher.sketch_sets(rows)
    assert found.words.tolist() == expected(documents, sketcher.config)
    assert found.empty.tolist() == [False, True, False, False, False]
    flat = (np.array([x for row in rows for x in row], np.uint64), np.cumsum([0, *map(len, rows)]))
    assert same(found, sketcher.sketch_sets(flat))


def test_sets_of_strings():
    sketcher = SimHash(weights="tf")
    found = sketcher.sketch_sets([["a", "b", "a"], {"c"}])
    documents = [Counter(map(reference_shingles.hash_element, row)) for row in ([b"a", b"b", b"a"], [b"c"])]
    assert found.words.tolist() == expected(documents, sketcher.config)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.floats(1e-3, 1e3)), max_size=6), max_size=5),
    st.sampled_from(SIM_BITS),
    st.booleans(),
)
def test_given_weights_equal_the_definition(rows, bits, gaussian):
    """To the last bit of the sums: features are added in the order given."""
    sketcher = SimHash(weights="given", bits=bits, gaussian=gaussian)
    values, weights = (np.array([pair[side] for row in rows for pair in row], kind) for side, kind in enumerate((np.uint64, np.float64)))
    found = sketcher.sketch_weighted((values, np.cumsum([0, *map(len, rows)]), weights))
    pairs = [[(reference_shingles.mixed(x), weight) for x, weight in row] for row in rows]
    assert found.words.tolist() == [reference.words(reference.sums(row, sketcher.config)) for row in pairs]


@pytest.mark.parametrize("gaussian", [False, True])
def test_the_order_of_features_does_not_matter_where_weights_are_whole_numbers(gaussian):
    values, weights = np.array(splitmix64(1, 200), np.uint64), np.arange(1, 201)
    turned = np.random.default_rng(5).permutation(200)
    sketcher, offsets = SimHash(weights="given", gaussian=gaussian), np.array([0, 200])
    one, other = (sketcher.sketch_weighted((values[order], offsets, weights[order]), keep=True) for order in (slice(None), turned))
    assert same(one, other)


@pytest.mark.parametrize("weights", COUNTED)
def test_the_order_of_words_does_not_matter(weights):
    text = TEXTS[0].replace(",", "")
    turned = " ".join(reversed(text.split()))
    found = SimHash(weights=weights).sketch([text, turned, "another text"], keep=True)
    assert same(found[[0]], found[[1]])


@pytest.mark.parametrize("options", OPTIONS[:4] + OPTIONS[8:], ids=str)
def test_threads_do_not_matter(options):
    texts = [f"page {i} of the report on {i % 7} rooms " * (1 + i % 40) for i in range(6000)]
    sketcher = SimHash(**options)
    one = sketcher.sketch(texts, keep=True, threads=1)
    assert same(one, sketcher.sketch(texts, keep=True, threads=4))
    rows = np.arange(3 * SET_STEP) % 1000, np.arange(0, 3 * SET_STEP + 1, 64)
    assert same(sketcher.sketch_sets(rows, threads=1), sketcher.sketch_sets(rows, threads=3))


def test_weighted_features_by_several_threads():
    count = 3 * SET_STEP
    weighted = np.arange(count), np.arange(0, count + 1, 64), np.arange(count) % 9 + 0.1
    sketcher = SimHash(weights="given", bits=128)
    assert same(sketcher.sketch_weighted(weighted, keep=True, threads=1), sketcher.sketch_weighted(weighted, keep=True, threads=3))


def test_texts_in_any_column():
    sketcher = SimHash()
    assert same(sketcher.sketch(TEXTS), sketcher.sketch(pa.array(TEXTS)))
    assert same(sketcher.sketch(TEXTS), sketcher.sketch(pa.chunked_array([TEXTS[:3], TEXTS[3:]])))


def test_more_words_than_a_piece_holds():
    """A document that fills the shingler's room many times over, between short ones."""
    texts = ["short", "every word again " * 100_000, "short"]
    sketcher = SimHash(weights="tf")
    found = sketcher.sketch(texts)
    documents = [reference.features(text.encode(), sketcher.config) for text in ("short", "every word again", "short")]
    assert found.words.tolist() == expected(documents, sketcher.config)


def test_seeds_are_independent():
    """The fingerprints of 500 random sets under two seeds differ in binomial(64 * 500, 1/2) bits, false alarm 1e-6. Sets are odd, so that no sum is 0."""
    sets = np.array(splitmix64(9, 500 * 101), np.uint64), np.arange(0, 500 * 101 + 1, 101)
    left, right = (SimHash(weights="constant", seed=seed).sketch_sets(sets).words for seed in (1, 2))
    low, high = binom.ppf([5e-7, 1 - 5e-7], 500 * 64, 0.5)
    assert low <= np.bitwise_count(left ^ right).sum() <= high


def test_the_normal_table_is_normal():
    table = _normal()
    assert table.tolist() == reference.NORMAL
    assert np.allclose(table, -table[::-1])
    assert table.var() == pytest.approx(1, abs=1e-4)
    assert (table**4).mean() == pytest.approx(3, abs=0.02)


SHARED, PAIRS, ALARM = (0, 50, 80, 95), 1000, 1e-6


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("shared", SHARED)
def test_a_bit_differs_with_probability_theta_over_pi(shared, gaussian):
    """PAIRS random pairs of sets of 100 that share `shared`: cosine shared / 100. 64 000 bits; false alarm 1e-6 in each of 8 cases, a bias of 0.02 missed with p < 1e-9.

    Random signs follow the law as sets grow; at 100 their exact chance is lower by 0.002 to 0.003.
    """
    own = np.array(splitmix64(shared + 1, PAIRS * 200), np.uint64).reshape(PAIRS, 200)
    left, right = own[:, :100], np.concatenate([own[:, :shared], own[:, 100 : 200 - shared]], axis=1)
    values = np.concatenate([left, right]).reshape(-1)
    found = SimHash(weights="constant", gaussian=gaussian).sketch_sets((values, np.arange(0, 200 * PAIRS + 1, 100)))
    rows = np.arange(PAIRS)
    share = found.distance(rows, rows + PAIRS).sum() / (64 * PAIRS)
    law = np.arccos(shared / 100) / np.pi
    chance = law if gaussian else reference.differing(100, shared)
    assert 0 <= law - chance < 0.0033
    low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], 64 * PAIRS, chance) / (64 * PAIRS)
    assert low <= share <= high


def test_strict_names_the_document():
    texts = pa.array([b"good", b"bad \xff"], pa.binary())
    for weights in ("tf", "tfidf"):
        with pytest.raises(BadText, match="malformed UTF-8 at byte 4 of document 1"):
            SimHash(weights=weights).sketch(texts, strict=True)
        assert SimHash(weights=weights).sketch(texts).malformed == 1


@pytest.mark.parametrize(("weight", "seen"), [(np.nan, "nan"), (np.inf, "inf"), (-1.0, "-1.0"), (-np.inf, "-inf"), (1e200, "1e\\+200"), (1e-200, "1e-200")])
def test_bad_weights_are_refused(weight, seen):
    with pytest.raises(BadInput, match=f"^a weight is {seen}; allowed: 0, or from 1e-100 to 1e\\+100$"):
        SimHash(weights="given").sketch_weighted((np.arange(3), np.array([0, 3]), np.array([1.0, weight, 2.0])))


def test_documents_need_a_weight_above_0():
    offsets = np.array([0, 0, 2, 4])
    with pytest.raises(BadInput, match="^the weights of document 2 are all 0; allowed: a weight above 0 in each document that has features$"):
        SimHash(weights="given").sketch_weighted((np.arange(4), offsets, np.array([1, 0, 0, 0])))
    assert SimHash(weights="given").sketch_weighted((np.arange(4), offsets, np.array([1, 0, 0, 1]))).empty.tolist() == [True, False, False]


@pytest.mark.parametrize(
    "weighted",
    [
        [1, 2, 3],
        (np.arange(3), np.array([0, 3])),
        (np.arange(3), np.array([0, 3]), np.ones(2)),
        (np.arange(3), np.array([0, 2]), np.ones(3)),
        (np.arange(3), np.array([0, 3]), np.array(["a", "b", "c"])),
        (np.arange(3) / 2, np.array([0, 3]), np.ones(3)),
    ],
    ids=["list", "no weights", "few weights", "offsets", "words", "fractions"],
)
def test_bad_weighted_features_are_refused(weighted):
    with pytest.raises(BadInput, match="; allowed: "):
        SimHash(weights="given").sketch_weighted(weighted)


def test_weights_and_verbs_go_together():
    frequencies = SimHash().fit(TEXTS)
    with pytest.raises(BadOption, match="^weights is 'tf', by which sketch_weighted would not go; allowed: 'given'$"):
        SimHash(weights="tf").sketch_weighted((np.arange(3), np.array([0, 3]), np.ones(3)))
    with pytest.raises(BadOption, match="^weights is 'given', and there are none; allowed here: constant, tf, tfidf$"):
        SimHash(weights="given").sketch(TEXTS)
    with pytest.raises(BadOption, match="^weights is 'tf', which takes no frequencies; allowed with them: 'tfidf'$"):
        SimHash(weights="tf").sketch(TEXTS, frequencies=frequencies)
    with pytest.raises(IncompatibleSketches, match=r"^document frequencies are of words:1.*; allowed here: of words:2"):
        SimHash(shingle="words:2").sketch(TEXTS, frequencies=frequencies)
    with pytest.raises(IncompatibleSketches, match="allowed here: of sets"):
        SimHash().sketch_sets([[1]], frequencies=frequencies)
    with pytest.raises(IncompatibleSketches, match="allowed here: of words:1"):
        SimHash().sketch_sets([[1]]).frequencies.merge(frequencies)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("bits", 96, "bits is 96; allowed: 64 or 128"),
        ("bits", "64", "bits is '64'; allowed: 64 or 128"),
        ("weights", "idf", "weights is 'idf'; allowed: constant, tf, tfidf, given"),
        ("seed", -1, "seed is -1; allowed: 0 to 2\\^64 - 1"),
        ("shingle", "words", f"shingle is 'words'; allowed: 'words:W' or 'chars:K' with a number from 1 to {MAX_SHINGLE}"),
    ],
)
def test_bad_options_are_refused(option, value, message):
    with pytest.raises(BadOption, match=f"^{message}$"):
        SimHash(**{option: value})


def test_every_option_is_in_the_fingerprint_and_explains_itself():
    changes = [{"bits": 128}, {"weights": "tf"}, {"shingle": "words:2"}, {"gaussian": True}, {"case": True}, {"space": False}, {"seed": 1}]
    assert len({SimConfig(**change).fingerprint for change in [{}, *changes]}) == len(changes) + 1
    assert {name for change in changes for name in change} == set(SimConfig().to_dict())
    assert all(SimConfig.help(name).endswith(".") for name in SimConfig().to_dict())
    assert SimConfig().fingerprint == "3d89d257a6e1892e"
    assert repr(SimHash(seed=3)) == f"SimHash({SimConfig(seed=3)})"
