"""Tables of documents: the right reader for a name, its text and id columns, and the same documents from every kind of file."""

import gzip
import json

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from twinset.documents.tables import READERS, TEXT_NAMES, source
from twinset.errors import BadInput, MissingColumn

DOCUMENTS = [{"id": f"d{i}", "text": None if i == 7 else f"text {i} " * (i % 5), "n": i} for i in range(50)]
DELIMITED = (".csv", ".tsv")
LINES = "".join(json.dumps(each) + "\n" for each in DOCUMENTS).encode()


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def write(path, documents=DOCUMENTS):
    lines = "".join(json.dumps(each) + "\n" for each in documents).encode()
    kind, table = path.suffix.lower(), pa.Table.from_pylist(documents)
    if kind == ".parquet":
        pq.write_table(table, path, row_group_size=20)
    elif kind in (".arrow", ".feather"):
        with pa.ipc.new_file(str(path), table.schema) as out:
            out.write_table(table, max_chunksize=20)
    elif kind in DELIMITED:
        pc.write_csv(table, path, pc.WriteOptions(delimiter="," if kind == ".csv" else "\t"))
    else:
        path.write_bytes({".gz": gzip.compress, ".zst": zstd}.get(path.suffix.lower(), bytes)(lines))
    return path


def documents(found, size):
    batches = list(found.batches(size))
    assert all(batch.schema.names == ["id", "text"] and batch.column(0).type == found.id_type for batch in batches)
    return [(row["id"], row["text"]) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 100, 1 << 26])
@pytest.mark.parametrize("ending", [*READERS, *map(str.upper, READERS)])
def test_every_kind_of_file_gives_the_same_documents(tmp_path, ending, size):
    path = write(tmp_path / f"of.two.dots{ending}")
    wanted = DOCUMENTS
    if ending.lower() in DELIMITED:  # every value is text, and nothing there is an empty one
        wanted = [{name: "" if value is None else str(value) for name, value in each.items()} for each in DOCUMENTS]
    for name in (path, str(path)):
        assert documents(source(name), size) == [(each["id"], each["text"]) for each in wanted]
        assert documents(source(name, id_column="n"), size) == [(each["n"], each["text"]) for each in wanted]
        assert documents(source(name, text_column="id", id_column="text"), size) == [(each["text"], each["id"]) for each in wanted]


@pytest.mark.parametrize("size", [1, 100, 1 << 26])
@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_documents_without_ids_are_numbered_through_all_batches(tmp_path, ending, size):
    found = source(write(tmp_path / f"a{ending}", [{"text": each["text"]} for each in DOCUMENTS]))
    assert found.id is None
    assert found.id_type == pa.int64()
    assert documents(found, size) == [(i, each["text"]) for i, each in enumerate(DOCUMENTS)]


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_the_text_column_is_found_by_name_in_a_stated_order(tmp_path, ending):
    names = [*TEXT_NAMES[::-1], "id"]
    while len(names) > 1:
        found = source(write(tmp_path / f"a{ending}", [dict.fromkeys(names, "x")]))
        assert (found.text, found.id) == (min(names[:-1], key=TEXT_NAMES.index), "id")
        names.remove(found.text)
    with pytest.raises(MissingColumn):
        source(write(tmp_path / f"a{ending}", [dict.fromkeys(names, "x")]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.null(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_types_of_text(tmp_path, kind):
    values = pa.nulls(2) if pa.types.is_null(kind) else pa.array(["a", None]).cast(kind)
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet")
    found = [(id, text.decode() if isinstance(text, bytes) else text) for id, text in documents(source(tmp_path / "a.parquet"), 100)]
    assert found == list(enumerate(values.cast(pa.string()).to_pylist()))


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.list_(pa.string()), pa.dictionary(pa.int8(), pa.int64()), pa.struct({"x": pa.string()})], ids=str)
def test_other_types_are_refused(tmp_path, kind):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.nulls(1, kind)}), path)
    with pytest.raises(BadInput) as caught:
        source(path)
    assert str(caught.value) == f"{path}: the text column 'text' has type {source_type(path)}; allowed: string or binary"


def source_type(path):
    return pq.read_schema(path).field("text").type


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, "no text column 'text' or 'content' or 'document' or 'body'; it has a, b; allowed: one of these, by --text-column"),
        ({"text_column": "no\nsuch"}, r"no text column 'no\\nsuch'; it has a, b; allowed: one of these, by --text-column"),
        ({"text_column": "a", "id_column": "name"}, "no id column 'name'; it has a, b; allowed: one of these, by --id-column"),
    ],
    ids=["none", "text", "id"],
)
def test_a_missing_column_is_named_beside_those_there_are(tmp_path, ending, options, seen):
    path = write(tmp_path / f"a{ending}", [{"a": "x", "b": "y"}])
    with pytest.raises(MissingColumn, match=f"^{path} has {seen}$"):
        source(path, **options)


def test_of_many_columns_the_first_are_named(tmp_path):
    path = write(tmp_path / "a.parquet", [{f"c{i}": i for i in range(30)}])
    with pytest.raises(MissingColumn, match="it has c0, .*, c19, …; allowed"):
        source(path)
    with pytest.raises(MissingColumn, match="it has no columns; allowed"):
        source(write(tmp_path / "a.jsonl", []))


def test_what_is_not_there_or_no_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match=f"^{tmp_path}/a.jsonl does not exist; allowed: a file$"):
        source(tmp_path / "a.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(BadInput, match="folder.jsonl is a directory; allowed: a file$"):
        source(tmp_path / "folder.jsonl")


@pytest.mark.parametrize("name", ["a.txt", "a", "a.json", "a.gz", "a.parquet.gz", "jsonl", "a.jsonl.bz2", "a.xlsx"])
def test_an_unknown_ending_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(LINES)
    with pytest.raises(BadInput) as caught:
        source(path)
    assert str(caught.value) == f"{path} ends in {path.suffix!r}; allowed: {', '.join(READERS)}"
