"""Files of every format are read as rows and copied without some of them, and nothing else changes."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from twinset.documents.corpus import Corpus, copy_rows
from twinset.errors import BadInput, MissingColumn

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "text": ['say "yes", no', "zwei\nZeilen", "三号楼", ""],
        "n": pa.array([1, None, 3, 4], pa.int32()),
        "more": [[1, 2], [], None, [3]],
    },
    metadata={b"made by": b"a test"},
).replace_schema_metadata({b"made by": b"a test"})
FLAT = TABLE.drop_columns(["more"])
LINES = [
    '{"id": "a", "text": "say \\"yes\\", no", "n": 1.50}',
    '{"text":"zwei\\nZeilen","id":"b"}',
    "",
    '{ "id": "c", "text": "三号楼" , "deep": {"x": [null]} }',
    '{"id":"d","text":""} ',
]
KINDS = ["parquet", "arrow", "stream", "csv", "tsv", "jsonl", "jsonl.gz", "jsonl.zst"]
KEPT = np.array([True, False, True, True])


def write(folder, kind):
    path = folder / f"rows.{'arrow' if kind == 'stream' else kind}"
    if kind == "parquet":
        pq.write_table(TABLE, path, row_group_size=3, compression="gzip")
    elif kind in ("arrow", "stream"):
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(str(path), TABLE.schema) as out:
            out.write_table(TABLE, max_chunksize=3)
    elif kind in ("csv", "tsv"):
        pc.write_csv(FLAT, path, pc.WriteOptions(delimiter="," if kind == "csv" else "\t"))
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress("\n".join(LINES).encode()))
    elif kind == "jsonl.zst":
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write("\n".join(LINES).encode())
    else:
        path.write_text("\n".join(LINES), encoding="utf-8")
    return path


@pytest.fixture(params=KINDS)
def file(request, tmp_path):
    return write(tmp_path, request.param)


def texts(path):
    return [text for _, batch in Corpus.open([path]).texts() for text in batch.to_pylist()]


def test_texts_are_read(file):
    assert texts(file) == TABLE["text"].to_pylist()


def test_a_copy_lacks_the_rows_that_go(file, tmp_path):
    (source,) = Corpus.open([file]).sources
    copy = tmp_path / f"copy-{file.name}"
    copy_rows(source, copy, KEPT)
    assert texts(copy) == [text for text, keep in zip(TABLE["text"].to_pylist(), KEPT, strict=True) if keep]
    if file.suffix == ".parquet":
        found = pq.read_table(copy)
        assert found.equals(TABLE.filter(pa.array(KEPT)))
        assert found.schema.equals(pq.read_schema(file), check_metadata=True)
        assert pq.read_metadata(copy).row_group(0).column(0).compression == "GZIP"
    if file.name == "rows.jsonl":
        assert copy.read_text(encoding="utf-8").splitlines() == [LINES[0], LINES[3], LINES[4]]
    if file.suffix == ".csv":
        assert pc.read_csv(copy)["n"].to_pylist() == [1, 3, 4]


def test_columns_are_added(file, tmp_path):
    (source,) = Corpus.open([file]).sources
    copy = tmp_path / f"copy-{file.name}"
    added = pa.table({"group": ["a", "a", "c", "d"], "keep": KEPT, "resemblance": [1.0, 0.9, 1.0, 1.0]})
    copy_rows(source, copy, np.ones(4, bool), added)
    (again,) = Corpus.open([copy]).sources
    for name in added.column_names:
        values = Corpus((again,)).column(name).to_pylist() if ".jsonl" not in file.name else None
        if values is not None and file.suffix not in (".csv", ".tsv"):
            assert values == added[name].to_pylist()
    if file.name == "rows.jsonl":
        rows = [json.loads(line) for line in copy.read_text(encoding="utf-8").splitlines()]
        assert rows[1] == {"text": "zwei\nZeilen", "id": "b", "group": "a", "keep": False, "resemblance": 0.9}
        assert rows[2]["deep"] == {"x": [None]}


def test_a_column_of_some_rows(file):
    corpus = Corpus.open([file])
    assert corpus.column("id").to_pylist() == ["a", "b", "c", "d"]
    assert corpus.column("id", KEPT).to_pylist() == ["a", "c", "d"]
    with pytest.raises(BadInput, match="no column 'nothing'"):
        corpus.column("nothing")


def test_numbers_name_rows_of_json_lines(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": 7, "text": "a"}\n{"text": "b", "id": 8}\n')
    assert Corpus.open([tmp_path / "in.jsonl"]).column("id").to_pylist() == [7, 8]


def test_a_folder_as_datasets_saves_it(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    for i in range(2):
        with pa.ipc.new_stream(str(folder / f"data-0000{i}-of-00002.arrow"), TABLE.schema) as out:
            out.write_table(TABLE)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": f"data-0000{i}-of-00002.arrow"} for i in range(2)]}))
    assert texts(folder) == 2 * TABLE["text"].to_pylist()
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../rows.arrow"}]}))
    with pytest.raises(BadInput, match="outside its folder"):
        Corpus.open([folder])


def test_folders_and_patterns_are_files_in_order(tmp_path):
    for name in ("b", "a", "c"):
        write(tmp_path, "jsonl").rename(tmp_path / f"{name}.jsonl")
    (tmp_path / "notes.md").write_text("no table")
    assert [source.path.name for source in Corpus.open([tmp_path]).sources] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert [source.path.name for source in Corpus.open([f"{tmp_path}/[bc].jsonl"]).sources] == ["b.jsonl", "c.jsonl"]


@pytest.mark.parametrize(
    ("paths", "error", "words"),
    [
        ([], BadInput, "at least one"),
        (["nothing.jsonl"], BadInput, "does not exist"),
        (["*.none"], BadInput, "matches no file"),
        (["empty"], BadInput, "holds no file of documents"),
        (["rows.jsonl", "rows.jsonl"], BadInput, "given twice"),
        (["notes.md"], BadInput, "allowed: .parquet"),
        (["broken.parquet"], BadInput, "cannot be read as Parquet"),
        (["broken.arrow"], BadInput, "cannot be read as Arrow"),
        (["twice.csv"], BadInput, "two columns of one name"),
        (["other.csv"], MissingColumn, "no text column"),
    ],
)
def test_bad_input(paths, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write(tmp_path, "jsonl")
    for name, content in {"notes.md": "x", "broken.parquet": "x", "broken.arrow": "x", "twice.csv": "text,text\na,b\n", "other.csv": "x,y\na,b\n"}.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(error, match=words):
        Corpus.open(paths)


def test_ragged_csv_is_an_error_of_one_line(tmp_path):
    (tmp_path / "ragged.csv").write_text("id,text\na,b\nc\n")
    with pytest.raises(BadInput, match="cannot be read as CSV"):
        list(Corpus.open([tmp_path / "ragged.csv"]).texts())
