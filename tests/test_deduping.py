"""`dedup` keeps its promises on the output itself, goes on after a kill, and gives the same bytes however it is run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_grouping import documents

import twinset
from twinset.config import Config
from twinset.documents.corpus import Corpus
from twinset.errors import BadInput, BadOption
from twinset.pipeline.deduping import LAYOUT, Rule, _fitting, dedup
from twinset.search.candidates import Candidates

pytestmark = pytest.mark.compiled

CONFIG = Config(shingle="words:2", **LAYOUT)
RULE = Rule(threshold=0.6)


def corpus(folder, rows=400, name="in.parquet"):
    texts = [text for seed in range(rows // 60 + 1) for text in documents(seed)][:rows]
    table = pa.table({"id": [f"d{i}" for i in range(rows)], "text": texts, "score": np.random.default_rng(1).permutation(rows)})
    pq.write_table(table, folder / name, row_group_size=97)
    return table


def run(folder, out="out.parquet", paths=("in.parquet",), **options):
    options = {"rule": RULE, "config": CONFIG} | options
    return dedup([folder / path for path in paths], folder / out, **options).run()


def resemblance(texts, i, j):
    return twinset.exact(i, j, texts, shingle="words:2")


def test_who_goes_has_a_kept_witness_and_the_rest_is_untouched(tmp_path):
    table = corpus(tmp_path)
    done = run(tmp_path, removed=tmp_path / "gone.jsonl")
    kept = pq.read_table(tmp_path / "out.parquet")
    gone = [json.loads(line) for line in (tmp_path / "gone.jsonl").read_text().splitlines()]
    ids, texts = table["id"].to_pylist(), table["text"].to_pylist()
    assert (done.rows_in, done.kept, done.removed) == (400, len(kept), len(gone))
    assert done.removed > 100
    assert kept.equals(table.filter(pa.array([name in set(kept["id"].to_pylist()) for name in ids])))
    assert set(kept["id"].to_pylist()) | {row["id"] for row in gone} == set(ids)
    assert {row["witness"] for row in gone} <= set(kept["id"].to_pylist())
    rows = [ids.index(row["id"]) for row in gone], [ids.index(row["witness"]) for row in gone]
    exact = resemblance(texts, *rows)
    assert exact.tolist() == [row["resemblance"] for row in gone]
    assert (exact >= RULE.threshold).all()
    assert not list(tmp_path.glob(".*"))  # the workspace is gone


def test_no_two_kept_documents_are_a_pair_that_the_search_promised(tmp_path):
    table = corpus(tmp_path)
    done = run(tmp_path)
    texts = pq.read_table(tmp_path / "out.parquet")["text"].to_pylist()
    left, right = np.triu_indices(len(texts), 1)
    close = int((resemblance(texts, left, right) >= RULE.threshold).sum())
    assert close <= done.missed_high
    assert done.empty == sum(not text.strip("…") for text in table["text"].to_pylist())


def test_the_same_bytes_however_it_is_run(tmp_path, monkeypatch):
    corpus(tmp_path)
    run(tmp_path, "a.parquet", threads=1)
    run(tmp_path, "b.parquet", threads=2)
    monkeypatch.setattr("twinset.pipeline.deduping.SHARE", 1e-7)  # room for the shingles of a pair or two: many passes
    monkeypatch.setattr("twinset.documents.tables.BATCH", 1000)
    run(tmp_path, "c.parquet", memory=64 << 20)
    first = (tmp_path / "a.parquet").read_bytes()
    assert first == (tmp_path / "b.parquet").read_bytes() == (tmp_path / "c.parquet").read_bytes()


def test_a_rule_without_ties_does_not_look_at_the_order(tmp_path):
    table = corpus(tmp_path)
    pq.write_table(table.take(pa.array(np.random.default_rng(2).permutation(len(table)))), tmp_path / "mixed.parquet")
    rule = Rule(threshold=0.6, keep="highest", by="score")
    run(tmp_path, "a.parquet", rule=rule)
    run(tmp_path, "b.parquet", ["mixed.parquet"], rule=rule)
    kept = [set(pq.read_table(tmp_path / name)["id"].to_pylist()) for name in ("a.parquet", "b.parquet")]
    assert kept[0] == kept[1]


def test_annotated_rows_are_all_there(tmp_path):
    table = corpus(tmp_path)
    run(tmp_path, annotate=True)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.select(table.column_names).equals(table)
    rows = {row["id"]: row for row in found.to_pylist()}
    for row in rows.values():
        assert row["keep"] == (row["group"] == row["id"])
        assert rows[row["witness"]]["keep"]
        assert row["resemblance"] >= 0.6


def test_against_an_older_corpus(tmp_path):
    table = corpus(tmp_path, 120)
    pq.write_table(table.slice(0, 60), tmp_path / "old.parquet")
    pq.write_table(table.slice(60), tmp_path / "new.parquet")
    before = (tmp_path / "old.parquet").read_bytes()
    again = pa.table({"id": ["x"], "text": [table["text"][3].as_py()], "score": [1]}).cast(table.schema)
    pq.write_table(pa.concat_tables([table.slice(60), again]), tmp_path / "new.parquet")
    done = run(tmp_path, paths=["new.parquet"], against=[tmp_path / "old.parquet"], removed=tmp_path / "gone.jsonl")
    gone = {row["id"]: row["witness"] for row in map(json.loads, (tmp_path / "gone.jsonl").read_text().splitlines())}
    assert done.rows_in == 61
    old = set(table["id"].to_pylist()[:60])
    assert gone["x"] in old
    assert not set(gone) & old
    assert (tmp_path / "old.parquet").read_bytes() == before
    assert "x" not in pq.read_table(tmp_path / "out.parquet")["id"].to_pylist()


def test_several_files_go_to_a_folder(tmp_path):
    table = corpus(tmp_path, 120)
    (tmp_path / "in").mkdir()
    pq.write_table(table.slice(0, 70), tmp_path / "in/a.parquet")
    with (tmp_path / "in/b.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in table.slice(70).to_pylist())
    done = run(tmp_path, "out", ["in"])
    one = run(tmp_path, "one.parquet")
    kept = pq.read_table(tmp_path / "out/a.parquet")["id"].to_pylist() + [json.loads(line)["id"] for line in (tmp_path / "out/b.jsonl").read_text().splitlines()]
    assert kept == pq.read_table(tmp_path / "one.parquet")["id"].to_pylist()
    assert (done.kept, done.removed, done.found) == (one.kept, one.removed, one.found)


def test_a_pass_reads_only_files_with_candidates(tmp_path, monkeypatch):
    table = corpus(tmp_path, 240)
    (tmp_path / "in").mkdir()
    for number in range(4):
        pq.write_table(table.slice(60 * number, 60), tmp_path / f"in/{number}.parquet")
    whole = run(tmp_path, "whole", ["in"])
    monkeypatch.setattr("twinset.pipeline.deduping.SHARE", 1e-7)
    read = []
    texts = Corpus.texts
    monkeypatch.setattr(Corpus, "texts", lambda self, files=None: read.append(files) or texts(self, files))
    done = run(tmp_path, "passes", ["in"], memory=64 << 20)
    assert len(read) > 50  # a pass for each pair, after one over all files
    assert all(1 <= sum(files) <= 2 for files in read[1:])
    assert (done.kept, done.removed, done.found) == (whole.kept, whole.removed, whole.found)
    for number in range(4):
        assert (tmp_path / f"whole/{number}.parquet").read_bytes() == (tmp_path / f"passes/{number}.parquet").read_bytes()


@pytest.mark.parametrize("most", [0, 1, 50, 400, 10_000])
def test_a_pass_takes_as_many_pairs_as_fit(most, monkeypatch):
    monkeypatch.setattr("twinset.pipeline.deduping.STEP", 7)
    random = np.random.default_rng(most)
    sizes, pairs = random.integers(1, 9, 60), Candidates(*np.sort(random.integers(60, size=(2, 90)), axis=0))
    first = 0
    while first < len(pairs):
        last, wanted = _fitting(pairs, sizes, first, most)
        rows = [set(pairs.left[first:upto]) | set(pairs.right[first:upto]) for upto in range(first, len(pairs) + 1)]
        fit = [first + count for count, mine in enumerate(rows) if sum(sizes[list(mine)]) <= most]
        assert last == max(first + 1, fit[-1])
        assert set(np.flatnonzero(wanted)) == rows[last - first]
        first = last


@pytest.mark.parametrize("annotate", [False, True])
def test_a_folder_that_datasets_saved_becomes_one(tmp_path, annotate):
    table = corpus(tmp_path, 120)
    (tmp_path / "set").mkdir()
    features = {"huggingface": json.dumps({"info": {"features": {}}})}
    for i in range(2):
        with pa.ipc.new_stream(str(tmp_path / f"set/data-0000{i}-of-00002.arrow"), table.schema.with_metadata(features)) as out:
            out.write_table(table.slice(60 * i, 60).replace_schema_metadata(features))
    state = {"_data_files": [{"filename": f"data-0000{i}-of-00002.arrow"} for i in range(2)], "_fingerprint": "abc", "_split": "train"}
    (tmp_path / "set/state.json").write_text(json.dumps(state))
    (tmp_path / "set/dataset_info.json").write_text(json.dumps({"description": "rows", "features": {"id": {}}}))
    run(tmp_path, "copy", ["set"], annotate=annotate)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == sorted(path.name for path in (tmp_path / "set").iterdir())
    again = json.loads((tmp_path / "copy/state.json").read_text())
    assert again | {"_fingerprint": "abc"} == state
    assert again["_fingerprint"] != "abc"
    assert ("features" in json.loads((tmp_path / "copy/dataset_info.json").read_text())) != annotate
    with pa.ipc.open_stream(str(tmp_path / "copy/data-00000-of-00002.arrow")) as reader:
        assert (reader.schema.metadata is not None and b"huggingface" in reader.schema.metadata) != annotate
        assert reader.schema.names[:3] == table.column_names


class Stopped(Exception):
    pass


def test_stopped_anywhere_it_goes_on_and_repeats_no_stage(tmp_path, monkeypatch):
    corpus(tmp_path, 200)
    monkeypatch.setattr("twinset.documents.tables.BATCH", 3000)
    run(tmp_path, "whole.parquet")
    calls = []
    run(tmp_path, "count.parquet", progress=lambda stage, done, total: calls.append(stage))
    for at in range(len(calls)):
        left = [at]

        def stop(stage, done, total, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Stopped

        with pytest.raises(Stopped):
            run(tmp_path, progress=stop)
        assert not (tmp_path / "out.parquet").exists()
        kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / ".out.parquet.twinset").glob("*.npz")}
        again = []

        def look(stage, done, total, again=again, kept=kept):
            again.append({path.name: path.stat().st_mtime_ns for path in (tmp_path / ".out.parquet.twinset").glob("*.npz")})

        done = run(tmp_path, progress=look)
        assert done.resumed == bool(kept)
        assert all(seen[name] == kept[name] for seen in again for name in kept)
        assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
        (tmp_path / "out.parquet").unlink()


def test_killed_it_goes_on(tmp_path):
    """Kills as soon as the first, second ... file of the workspace appears."""
    corpus(tmp_path, 300)
    command = [sys.executable, "-m", "twinset", "dedup", "in.parquet", "-o", "out.parquet", "--threshold", "0.6", "--shingle", "words:2", "--json"]
    subprocess.run([*command[:5], "-o", "whole.parquet", *command[7:]], cwd=tmp_path, check=True, capture_output=True)
    for number in (1, 2, 3):
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list((tmp_path / ".out.parquet.twinset").glob("*.npz"))) < number:
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["kept"] > 0
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not list(tmp_path.glob(".out*"))


def test_killed_while_it_writes_it_leaves_nothing_for_long(tmp_path):
    corpus(tmp_path, 120)
    run(tmp_path, "whole.parquet")
    part, other = tmp_path / ".out.parquet.a1b2c3d4.part", tmp_path / ".out.parquet.of.mine.part"
    part.write_bytes(b"PAR1")
    other.write_bytes(b"")
    (tmp_path / ".out.parquet.twinset").mkdir()
    (tmp_path / ".out.parquet.twinset/.run.json.a1b2c3d4.part").write_text("{")  # killed before the workspace was anybody's
    run(tmp_path)
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert list(tmp_path.glob(".*")) == [other]


def test_a_folder_that_is_not_a_workspace_is_left_alone(tmp_path):
    corpus(tmp_path, 60)
    (tmp_path / ".out.parquet.twinset").mkdir()
    (tmp_path / ".out.parquet.twinset/thesis.txt").write_text("mine")
    with pytest.raises(BadInput, match="not twinset's"):
        run(tmp_path)
    assert (tmp_path / ".out.parquet.twinset/thesis.txt").read_text() == "mine"


def test_what_another_run_left_is_not_used(tmp_path):
    corpus(tmp_path, 100)

    def stop(stage, done, total):
        if stage == "searching":
            raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path, progress=stop)
    done = run(tmp_path, rule=Rule(threshold=0.9))
    assert not done.resumed


@pytest.mark.parametrize(
    ("out", "options", "error", "words"),
    [
        ("out.csv", {}, BadOption, "the format of the input"),
        ("nowhere/out.parquet", {}, BadInput, "not a folder"),
        ("in.parquet", {}, BadInput, "would be overwritten"),
        ("out.parquet", {"removed": "gone.txt"}, BadOption, "allowed for the list"),
        ("out.parquet", {"rule": {"threshold": 0}}, BadOption, "threshold is 0"),
        ("out.parquet", {"rule": {"recall": 1}}, BadOption, "recall is 1"),
        ("out.parquet", {"rule": {"keep": "best"}}, BadOption, "keep is 'best'"),
        ("out.parquet", {"rule": {"keep": "highest"}}, BadOption, "by="),
        ("out.parquet", {"rule": {"keep": "highest", "by": "none"}}, BadInput, "needs a column 'none'"),
        ("out.parquet", {"text_column": "none"}, BadInput, "no text column"),
        ("out.parquet", {"id_column": "none"}, BadInput, "no id column"),
    ],
)
def test_bad_options_leave_nothing(out, options, error, words, tmp_path):
    corpus(tmp_path, 60)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(error, match=words):
        run(tmp_path, out, **{name: Rule(**value) if name == "rule" else value for name, value in options.items()})
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk_is_said_before_the_work(tmp_path, monkeypatch):
    corpus(tmp_path, 60)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(BadInput, match="allowed: a disk with room"):
        run(tmp_path)
    assert [path.name for path in Path(tmp_path).iterdir()] == ["in.parquet"]


def test_empty_input(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": ""}\n{"text": "…"}\n')
    done = run(tmp_path, "out.jsonl", ["in.jsonl"])
    assert (done.rows_in, done.kept, done.empty) == (2, 2, 2)
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "in.jsonl").read_text()
