"""The verb `pairs`: all ways of asking, every search, and what it refuses."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from test_searchers import texts

import twinset
from twinset.errors import BadInput, BadOption, MissingColumn, TooManyPairs, UnreachableRecall

pytestmark = pytest.mark.compiled

DOCUMENTS = [*texts(21), *texts(21)[5:25]]
OPTIONS = {"threshold": 0.6, "shingle": "words:1"}


@pytest.fixture(scope="module")
def truth():
    left, right = np.triu_indices(len(DOCUMENTS), 1)
    alike = twinset.exact(left, right, DOCUMENTS, shingle="words:1")
    return {(i, j): R for i, j, R in zip(left.tolist(), right.tolist(), alike.tolist(), strict=True) if R >= 0.6}


def found(result):
    return {(row["left"], row["right"]): row["resemblance"] for row in result.table.to_pylist()}


def test_exact_and_auto_find_all(truth):
    for search in ("exact", "auto"):
        result = twinset.pairs(DOCUMENTS, search=search, **OPTIONS)
        assert found(result) == truth
        assert (result.certificate.missed, result.certificate.detection) == (0, 1)
        assert result.empty == 3


@pytest.mark.parametrize("search", ["scan", "bands"])
def test_sketches_find_what_they_promise_and_nothing_false(search, truth):
    result = twinset.pairs(DOCUMENTS, search=search, **OPTIONS)
    assert found(result).items() <= truth.items()
    assert result.certificate.missed_low <= len(truth) - len(result) <= result.certificate.missed_high
    assert result.certificate.detection >= 0.989
    assert search in result.about


@pytest.mark.parametrize("search", ["blocks", "volatile"])
def test_fingerprints_find_what_is_near_and_say_that_it_is_little(search, truth):
    result = twinset.pairs(DOCUMENTS, search=search, **OPTIONS)
    assert found(result).items() <= truth.items()
    assert result.certificate.detection < 0.1
    assert result.certificate.missed > 0


def test_a_table_a_column_and_a_list_are_one():
    plain = twinset.pairs(DOCUMENTS, **OPTIONS)
    for documents in (pa.array(DOCUMENTS), pa.chunked_array([DOCUMENTS[:10], DOCUMENTS[10:]]), pa.table({"n": range(len(DOCUMENTS)), "body": DOCUMENTS})):
        assert twinset.pairs(documents, **OPTIONS).table.equals(plain.table)
    named = twinset.pairs(pa.table({"text": ["a"] * len(DOCUMENTS), "body": DOCUMENTS}), text_column="body", **OPTIONS)
    assert named.table.equals(plain.table)


def test_the_shape_of_pairs():
    table = twinset.pairs(DOCUMENTS, **OPTIONS).table
    assert table.column_names == ["left", "right", "resemblance", "low", "high", "exact", "containment_left", "containment_right"]
    rows = table.to_pylist()
    assert all(row["left"] < row["right"] for row in rows)
    assert [(row["left"], row["right"]) for row in rows] == sorted({(row["left"], row["right"]) for row in rows})
    sets = [set(text.split()) for text in DOCUMENTS]
    for row in rows:
        one, other = sets[row["left"]], sets[row["right"]]
        assert row["exact"]
        assert row["low"] == row["resemblance"] == row["high"] == len(one & other) / len(one | other)
        assert (row["containment_left"], row["containment_right"]) == (len(one & other) / len(one), len(one & other) / len(other))


def test_sketches_alone_are_judged_by_their_estimate(truth):
    sketches = twinset.MinHash(bits="8", samples=512, shingle="words:1").sketch(DOCUMENTS)
    for search in ("auto", "scan", "bands"):
        result = twinset.pairs(sketches, threshold=0.6, search=search)
        rows = result.table.to_pylist()
        assert not any(row["exact"] for row in rows if row["resemblance"] < 1)
        assert all(row["low"] <= row["resemblance"] <= row["high"] for row in rows)
        assert {pair for pair, R in truth.items() if R > 0.75} <= set(found(result))


def test_a_million_pairs_of_equal_documents_are_not_written_unasked(monkeypatch):
    result = twinset.pairs(["a b c d e f"] * 1000 + ["a b c d e f g"], shingle="words:1")
    assert len(result) == 1000 * 999 // 2 + 1000
    assert result.distinct.num_rows == 1
    monkeypatch.setattr("twinset.pairing.LARGEST", 1000)
    with pytest.raises(TooManyPairs, match="500,500"):
        _ = result.table
    kept = twinset.groups(result)["keep"].to_pylist()
    assert kept == [True] + [False] * 1000


def test_no_documents_and_one():
    for documents in ([], ["a b c"], [""]):
        for search in ("auto", "exact", "scan", "bands"):
            result = twinset.pairs(documents, search=search)
            assert result.table.num_rows == 0
            assert twinset.groups(result)["keep"].to_pylist() == [True] * len(documents)


def test_threads_change_nothing():
    results = [twinset.pairs(DOCUMENTS, search="bands", threads=threads, **OPTIONS) for threads in (1, 2)]
    assert results[0].table.equals(results[1].table)
    assert results[0].certificate == results[1].certificate


def test_progress_names_its_stage_and_can_stop():
    told = []
    twinset.pairs(DOCUMENTS, progress=lambda stage, done, total: told.append(stage), **OPTIONS)
    assert set(told) == {"searching"}

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        twinset.pairs(DOCUMENTS, progress=stop, **OPTIONS)


def test_what_is_refused_is_refused_before_any_text_is_read(monkeypatch):
    def read(*_):
        raise AssertionError("a text was read")

    monkeypatch.setattr("twinset.pairing.Shingler.shingle", read)
    for options in ({"search": "bands", "threshold": 0.02}, {"search": "scan", "recall": 1.0}, {"search": "blocks", "distance": 64}, {"search": "volatile", "distance": -1}):
        with pytest.raises(BadOption):
            twinset.pairs(DOCUMENTS, **options)


@pytest.mark.parametrize("recall", [0.9999999, 1 - 1e-12, 1.0])
def test_a_recall_near_one_is_met(recall, truth):
    result = twinset.pairs(DOCUMENTS, recall=recall, **OPTIONS)
    assert found(result) == truth
    if recall < 1 - 1e-9:
        assert len(twinset.pairs(DOCUMENTS, recall=recall, search="scan", **OPTIONS)) == len(truth)


def test_equal_sketches_are_no_proof_of_equal_documents():
    sketches = twinset.MinHash(bits="1", samples=128, shingle="words:1").sketch(["a b c d", "e f g h", "a b c d"])
    (row,) = twinset.pairs(sketches).table.to_pylist()
    estimate = sketches.resemblance([0], [2])
    assert (row["left"], row["right"], row["exact"]) == (0, 2, False)
    assert (row["resemblance"], row["low"], row["high"]) == (1.0, estimate.low[0], 1.0)
    assert 0.9 < row["low"] < 1


def test_sketches_keep_their_names_and_refuse_other_options(tmp_path):
    sketches = twinset.MinHash(shingle="words:1").sketch(["a b c d", "a b c d", "x y"])
    named = replace(sketches, ids=pa.array(["p", "q", "r"]))
    named.save(tmp_path / "named.parquet")
    result = twinset.pairs(twinset.load(tmp_path / "named.parquet"))
    assert twinset.groups(result)["id"].to_pylist() == ["p", "q", "r"]
    assert "3 distinct" not in result.why
    assert result.why.startswith("scan: for 2 distinct sketches")
    with pytest.raises(BadOption, match="shingle cannot be chosen for sketches"):
        twinset.pairs(sketches, shingle="words:2")
    with pytest.raises(BadOption, match="allowed for sketches: scan, bands or auto"):
        twinset.pairs(sketches, search="exact")
    with pytest.raises(BadInput, match="SimHash fingerprints"):
        twinset.pairs(twinset.SimHash().sketch(["a b"]))


def test_no_more_pairs_are_said_to_be_missed_than_there_are():
    result = twinset.pairs(["a b c d e f", "a b c x y z", ""], threshold=0.3, search="blocks", shingle="words:1")
    assert (len(result), result.certificate.missed_high) == (0, 1)


@pytest.mark.parametrize(
    ("documents", "options", "error", "words"),
    [
        (["a"], {"threshold": 0}, BadOption, "threshold is 0"),
        (["a"], {"threshold": 1.5}, BadOption, "threshold is 1.5"),
        (["a"], {"threshold": float("nan")}, BadOption, "threshold is nan"),
        (["a"], {"recall": 0}, BadOption, "recall is 0"),
        (["a"], {"search": "lsh"}, BadOption, "allowed: auto"),
        (["a"], {"search": "blocks", "distance": 64}, BadOption, "distance"),
        (["a"], {"search": "bands", "threshold": 0.02}, UnreachableRecall, "0.02"),
        ("a", {}, BadInput, "single str"),
        (pa.table({"x": ["a"]}), {}, MissingColumn, "no text column"),
        (pa.table({"text": [1]}), {}, BadInput, "int64"),
        (pa.table({"text": ["a", "b", "c"], "id": ["x", "y", "x"]}), {}, BadInput, "the id 'x' names more than one"),
        (["a"], {"shingle": "words:0"}, BadOption, "words:0"),
        (["a"], {"level": 1.0}, BadOption, "level is 1.0"),
        (["a"], {"level": float("nan")}, BadOption, "level is nan"),
        (["a"], {"memory": -1}, BadOption, "memory is -1"),
        (["a"], {"search": "scan", "recall": 1.0}, BadOption, "recall is 1.0"),
        (["a"], {"search": "bands", "recall": 1.0}, UnreachableRecall, "less than 1"),
        (["a"], {"config": twinset.Config(), "shingle": "words:1"}, BadOption, "config and shingle are both given"),
    ],
)
def test_bad_input(documents, options, error, words):
    with pytest.raises(error, match=words):
        twinset.pairs(documents, **options)
