"""Fingerprints: distances, cosines with intervals that cover, selecting, files, and what does not compare."""

import json
from math import acos, cos, pi

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

import twinset
from twinset.config import SimConfig
from twinset.errors import BadInput, BadOption, IncompatibleSketches, TwinsetError
from twinset.estimate.angle import cosine, differing
from twinset.sketch.filing import load
from twinset.sketch.fingerprints import Fingerprints
from twinset.sketch.simhash import SimHash

WORDS = [0, 1, 7, 2**63, 2**64 - 1]
TEXTS = ["the cat sat on the mat", "the dog sat on the log", "", "something else"]


def fingerprints(words, **options):
    config = SimConfig(**options)
    return Fingerprints(np.array(words, np.uint64).reshape(-1, config.words), config)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=6), st.sampled_from([64, 128]))
def test_distance_counts_the_bits_that_differ(numbers, bits):
    numbers = [x % 2**bits for x in numbers]
    data = fingerprints([x >> shift & 2**64 - 1 for x in numbers for shift in range(0, bits, 64)], bits=bits)
    n = len(numbers)
    left, right = (side.reshape(-1) for side in np.meshgrid(np.arange(n), np.arange(n)))
    found = data.distance(left, right)
    assert found.tolist() == [(numbers[i] ^ numbers[j]).bit_count() for i, j in zip(left, right, strict=True)]
    assert found.dtype == np.int64


def test_rows_broadcast_and_may_be_of_other_fingerprints():
    data = fingerprints(WORDS)
    assert data.distance(0, np.arange(5)).tolist() == [0, 1, 3, 1, 64]
    assert data.distance([4, 3], [0, 2], data[:3]).tolist() == [64, 4]
    assert data.distance([], []).tolist() == []
    with pytest.raises(BadOption, match="a row is 5; allowed: whole numbers from 0 to 4"):
        data.distance(0, 5)
    with pytest.raises(BadOption, match="allowed: equal lengths, or one row against many"):
        data.distance([0, 1], [0, 1, 2])


def test_selecting_rows_selects_everything():
    data = SimHash(bits=128).sketch(TEXTS, keep=True)
    named = Fingerprints(data.words, data.config, data.projections, pa.array(["a", "b", "c", "d"]), data.empty, data.frequencies)
    chosen = named[[2, 0]]
    assert len(chosen) == 2
    assert chosen.words.tolist() == data.words[[2, 0]].tolist()
    assert chosen.projections.tolist() == data.projections[[2, 0]].tolist()
    assert chosen.ids.tolist() == ["c", "a"]
    assert chosen.empty.tolist() == [True, False]
    assert chosen.fingerprint == data.fingerprint
    assert len(named[1:]) == 3
    assert data[1:].projections.shape == (3, 128)
    with pytest.raises(BadOption, match=r"a single one is fingerprints\[\[row\]\]"):
        data[0]


def test_size_and_bits():
    data = fingerprints(WORDS[:4], bits=128)
    assert (len(data), data.bits, data.nbytes) == (2, 128, 32)
    assert data.empty.tolist() == [False, False]
    with pytest.raises(BadOption, match=r"^words have shape \(5, 1\); allowed: \(documents, 2\) for 128 bits$"):
        Fingerprints(np.zeros((5, 1), np.uint64), SimConfig(bits=128))
    with pytest.raises(BadOption, match=r"^projections have shape \(5, 32\); allowed: \(5, 64\)$"):
        Fingerprints(np.zeros((5, 1), np.uint64), SimConfig(), np.zeros((5, 32), np.float32))
    with pytest.raises(BadOption, match=r"^empty has shape \(2,\); allowed: \(5,\)$"):
        Fingerprints(np.zeros((5, 1), np.uint64), SimConfig(), empty=np.zeros(2, bool))


def test_unequal_fingerprints_never_compare():
    data = fingerprints(WORDS)
    for options, reason in [
        ({"bits": 128}, "bits 64 and 128"),
        ({"seed": 1, "weights": "tf"}, "seed 42 and 1, weights 'tfidf' and 'tf'"),
        ({"gaussian": True}, "gaussian False and True"),
    ]:
        other = fingerprints([0] * 4, **options)
        for compare in (data.distance, data.cosine):
            with pytest.raises(IncompatibleSketches, match=f"^fingerprints differ in {reason}; allowed: equal fingerprints"):
                compare(0, 0, other)


@pytest.mark.compiled
def test_fingerprints_of_two_collections_do_not_compare():
    one, other = SimHash().sketch(TEXTS), SimHash().sketch(TEXTS[:2])
    with pytest.raises(IncompatibleSketches, match="^fingerprints differ in the document frequencies behind their weights; allowed"):
        one.distance(0, 0, other)
    assert one.distance(0, 0, SimHash().sketch(TEXTS[:2], frequencies=one.frequencies)).tolist() == [0]


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_the_interval_is_that_of_clopper_and_pearson(bits, level):
    d, alarm = np.arange(bits + 1), (1 - level) / 2
    least = np.concatenate([[0.0], beta.ppf(alarm, d[1:], bits - d[1:] + 1)])
    most = np.concatenate([beta.ppf(1 - alarm, d[:-1] + 1, bits - d[:-1]), [1.0]])
    found = cosine(d, bits, level=level)
    assert found.value == pytest.approx(np.cos(pi * d / bits), abs=1e-12)
    assert found.low == pytest.approx(np.cos(pi * most), abs=1e-9)
    assert found.high == pytest.approx(np.cos(pi * least), abs=1e-9)
    assert len(found) == bits + 1


@pytest.mark.parametrize("true", [-1.0, 0.0, 0.5, 0.9, 0.99, 1.0])
def test_the_interval_covers(true):
    """Summed over all distances, exactly: at least 95 %."""
    chance, found = acos(true) / pi, cosine(np.arange(65), 64)
    inside = (found.low <= true + 1e-12) & (true - 1e-12 <= found.high)
    assert binom.pmf(np.arange(65), 64, chance)[inside].sum() >= 0.95


def test_differing_is_the_inverse_of_cosine():
    assert differing([1, 0, -1, cos(0.3)]) == pytest.approx([0, 0.5, 1, 0.3 / pi])


@pytest.mark.compiled
def test_an_empty_document_resembles_nothing():
    data = SimHash().sketch(["", "a b c", ""])
    found = data.cosine([0, 0, 1, 1], [2, 1, 0, 1])
    assert found.value.tolist() == [0, 0, 0, 1]
    assert found.low[:3].tolist() == found.high[:3].tolist() == [0, 0, 0]
    assert data.cosine(0, [0, 1, 2], data).value.tolist() == [0, 0, 0]


def test_bad_levels_and_distances_are_refused():
    for level in (0, 1, -1, np.nan):
        with pytest.raises(BadOption, match=f"^level is {level}; allowed: more than 0 and less than 1$"):
            cosine([0], 64, level=level)
    for wrong in (-1, 65):
        with pytest.raises(BadOption, match=f"^a distance is {wrong}; allowed: 0 to 64$"):
            cosine([3, wrong], 64)


@pytest.mark.compiled
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize(("options", "keep"), [({}, True), ({"weights": "tf", "bits": 128, "gaussian": True}, False), ({"bits": 128}, True)], ids=str)
def test_what_is_written_is_read_back(tmp_path, options, keep, suffix):
    data = SimHash(**options).sketch(TEXTS, keep=keep)
    data.save(tmp_path / f"prints{suffix}")
    again = load(tmp_path / f"prints{suffix}")
    assert (again.config, again.fingerprint) == (data.config, data.fingerprint)
    assert again.words.tolist() == data.words.tolist()
    assert again.empty.tolist() == data.empty.tolist()
    assert (again.projections is None) == (not keep)
    assert not keep or again.projections.tolist() == data.projections.tolist()
    assert again.ids.tolist() == [0, 1, 2, 3]
    assert again.distance(0, 1, data).tolist() == data.distance(0, 1).tolist()
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"prints{suffix}"} | ({f"prints.frequencies{suffix}"} if data.frequencies else set())


@pytest.mark.compiled
def test_no_fingerprints_are_written_and_read(tmp_path):
    SimHash().sketch([]).save(tmp_path / "none.parquet")
    assert len(load(tmp_path / "none.parquet")) == 0


@pytest.mark.compiled
def test_a_query_finds_the_frequencies_in_the_file(tmp_path):
    SimHash().sketch(TEXTS).save(tmp_path / "prints.parquet")
    again = load(tmp_path / "prints.parquet")
    assert SimHash(again.config).sketch(TEXTS[:1], frequencies=again.frequencies).distance(0, 0, again).tolist() == [0]


@pytest.mark.compiled
def test_files_that_do_not_belong_are_refused(tmp_path):
    path, beside = tmp_path / "prints.parquet", tmp_path / "prints.frequencies.parquet"
    SimHash().sketch(TEXTS).save(path)
    with pytest.raises(BadInput, match="is none of stored fingerprints; allowed: a file that Fingerprints.save wrote"):
        load(beside)
    SimHash().sketch(TEXTS[:2]).save(tmp_path / "other.parquet")
    (tmp_path / "other.frequencies.parquet").replace(beside)
    with pytest.raises(IncompatibleSketches, match="prints.frequencies.parquet holds the document frequencies [0-9a-f]{16}; allowed beside"):
        load(path)
    beside.unlink()
    with pytest.raises(BadInput, match="prints.frequencies.parquet"):
        load(path)
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "fingerprint", pa.array([b"abc"] * 4, pa.binary(3))), path)
    with pytest.raises(TwinsetError):
        load(path)
    pq.write_table(pa.table({"id": [1]}), path)
    with pytest.raises(BadInput, match="has columns id, and is none of stored fingerprints"):
        load(path)


@pytest.mark.parametrize(("about", "error"), [({"scheme": 99}, IncompatibleSketches), ({"config": {"bits": 96}}, BadInput), ({"config": {"colour": 1}}, BadInput)], ids=str)
def test_files_of_other_rules_are_refused(tmp_path, about, error):
    path = tmp_path / "prints.parquet"
    fingerprints(WORDS, weights="tf").save(path)
    table = pq.read_table(path)
    changed = {**json.loads(table.schema.metadata[b"twinset"]), **about}
    pq.write_table(table.replace_schema_metadata({b"twinset": json.dumps(changed)}), path)
    with pytest.raises(error, match="allowed"):
        load(path)


@pytest.mark.parametrize("weights", ["constant", "tfidf"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_the_verb_load_reads_fingerprints_too(weights, suffix, tmp_path):
    made = twinset.SimHash(weights=weights).sketch(["a b c", "d e", ""], keep=True)
    made.save(tmp_path / f"prints.{suffix}")
    again = twinset.load(tmp_path / f"prints.{suffix}")
    assert np.array_equal(again.words, made.words)
    assert again.fingerprint == made.fingerprint
