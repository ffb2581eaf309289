"""Groups are stars: nothing removed without a kept witness, no two kept documents a found pair (promise P2)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twinset
from twinset.errors import BadInput, BadOption, MissingColumn

pytestmark = pytest.mark.compiled

WORDS = "the stage must be rebuilt on stone footings above the line of the spring flood before first frost comes down from hills".split()  # noqa: SIM905


def documents(seed, count=60):
    """Texts of which many are edits of edits of others, some equal, some empty."""
    random = np.random.default_rng(seed)
    texts = [" ".join(random.permutation(WORDS)) for _ in range(5)]
    while len(texts) < count:
        words = texts[int(random.integers(len(texts)))].split()
        for _ in range(int(random.integers(3))):
            words[int(random.integers(len(words)))] = f"w{random.integers(100)}"
        texts.append(" ".join(words))
    texts[7] = texts[31] = ""
    texts[12] = "…"
    return texts


def found_pairs(result):
    return {(row["left"], row["right"]): row["resemblance"] for row in result.table.to_pylist()}


def check(result, table):
    """Promise P2, row by row, against the table of pairs."""
    pairs = found_pairs(result)
    pairs |= {(j, i): alike for (i, j), alike in pairs.items()}
    rows = table.to_pylist()
    kept = {i for i, row in enumerate(rows) if row["keep"]}
    for i, row in enumerate(rows):
        assert row["keep"] == (row["group"] == i)
        if i in kept:
            assert (row["witness"], row["resemblance"]) == (i, 1.0)
            assert not any((i, j) in pairs for j in kept)
        else:
            assert row["group"] == row["witness"] in kept
            assert pairs[i, row["witness"]] == row["resemblance"] == max(pairs[i, j] for j in kept if (i, j) in pairs)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.sampled_from(["first", "longest", "scores"]))
def test_stars_keep_their_promise(seed, threshold, keep):
    texts = documents(seed)
    result = twinset.pairs(texts, threshold=threshold, search="exact", shingle="words:2")
    check(result, twinset.groups(result, keep=np.random.default_rng(seed).random(len(texts)) if keep == "scores" else keep))


def test_pairs_are_all_pairs():
    texts = documents(1)
    result = twinset.pairs(texts, threshold=0.5, search="exact", shingle="words:2")
    left, right = np.triu_indices(len(texts), 1)
    truth = twinset.exact(left, right, texts, shingle="words:2")
    expected = {(i, j): alike for i, j, alike in zip(left.tolist(), right.tolist(), truth.tolist(), strict=True) if alike >= 0.5}
    assert found_pairs(result) == expected
    assert len(result) == result.certificate.found == len(expected)
    assert list(found_pairs(result)) == sorted(expected)


def test_the_order_of_documents_decides_only_ties():
    texts = documents(3)
    scores = np.random.default_rng(3).permutation(len(texts)).astype(float)
    before = twinset.groups(twinset.pairs(texts, threshold=0.5, search="exact", shingle="words:2"), keep=scores)
    shuffled = np.random.default_rng(4).permutation(len(texts))
    after = twinset.groups(twinset.pairs([texts[i] for i in shuffled], threshold=0.5, search="exact", shingle="words:2"), keep=scores[shuffled])
    assert {int(shuffled[i]) for i in np.flatnonzero(after["keep"])} == set(np.flatnonzero(before["keep"]).tolist())


def test_empty_documents_are_kept_each_by_itself():
    result = twinset.pairs(["", "", "a b c"], search="exact")
    assert result.empty == 2
    assert twinset.groups(result)["keep"].to_pylist() == [True] * 3


CHAIN = ["a b c d e f g h i j", "a b c d e f g h x y", "a b c d e f p q x y", "r s t u v w"]


def test_a_chain_is_cut_into_stars_and_components_are_there_for_those_who_ask():
    result = twinset.pairs(CHAIN, threshold=0.5, search="exact", shingle="words:1")
    assert list(found_pairs(result)) == [(0, 1), (1, 2)]
    assert twinset.groups(result)["keep"].to_pylist() == [True, False, True, True]
    joined = twinset.groups(result, kind="components")
    assert joined["group"].to_pylist() == [0, 0, 0, 3]
    assert joined["witness"].to_pylist()[2] == 1
    scores = twinset.groups(result, keep=[0, 5, 1, 1])
    assert scores["group"].to_pylist() == [1, 1, 1, 3]


def test_rules_of_keeping_by_columns():
    table = pa.table({"id": ["p", "q", "r"], "text": ["a b c d", "a b c d", "a b  c d!"], "year": [2001, 2003, None], "score": [3.0, 1.0, 2.0]})
    result = twinset.pairs(table, search="exact", shingle="words:1")
    kept = {
        "first": twinset.groups(result),
        "longest": twinset.groups(result, keep="longest"),
        "newest": twinset.groups(result, keep="newest"),
        "highest": twinset.groups(result, keep="highest", by="score"),
        "lowest": twinset.groups(result, keep="lowest", by="score"),
    }
    assert {name: [row["id"] for row in rows.to_pylist() if row["keep"]] for name, rows in kept.items()} == {
        "first": ["p"],
        "longest": ["r"],
        "newest": ["q"],
        "highest": ["p"],
        "lowest": ["q"],
    }


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"keep": "best"}, BadOption, "allowed: first, longest"),
        ({"keep": "highest"}, BadOption, "by="),
        ({"keep": "highest", "by": "size"}, MissingColumn, "no columns"),
        ({"keep": "newest"}, MissingColumn, "'date'"),
        ({"keep": [1.0]}, BadOption, "for 4 documents"),
        ({"keep": [1.0, 2.0, float("nan"), 0]}, BadOption, "1 NaN"),
        ({"keep": object()}, BadOption, "object"),
        ({"keep": "first", "by": "year"}, BadOption, "goes by no column"),
        ({"kind": "cliques"}, BadOption, "stars, components"),
    ],
)
def test_bad_options(options, error, words):
    result = twinset.pairs(CHAIN, threshold=0.5, search="exact", shingle="words:1")
    with pytest.raises(error, match=words):
        twinset.groups(result, **options)


def test_only_pairs_are_grouped():
    result = twinset.pairs(CHAIN, threshold=0.5, search="exact", shingle="words:1")
    with pytest.raises(BadInput, match=r"Table; allowed: what twinset\.pairs gives"):
        twinset.groups(result.table)
