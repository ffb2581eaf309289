"""Parquet files: the same rows in any batches, a bounded number of bytes at a time; a broken file is named."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinset.documents.parquet import ParquetTable, read_table
from twinset.errors import BadInput

SIZES = [1, 50, 1000, 1 << 26]
BROKEN = "cannot be read as Parquet .*; allowed: a complete Parquet file$"


def texts(count):
    return [None if i % 11 == 5 else "x" * 5000 if i % 40 == 7 else f"text {i} " * (i % 4) for i in range(count)]


def table(count):
    return pa.table({"other": pa.array(range(count)), "text": texts(count), "id": [f"d{i}" for i in range(count)]})


def rows(reader, columns, size):
    return [row for batch in reader.batches(columns, size) for row in batch.to_pylist()]


@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.parametrize("size", SIZES)
def test_the_same_rows_whatever_the_batches_and_row_groups(tmp_path, size, group):
    path = tmp_path / "a.parquet"
    pq.write_table(table(90), path, row_group_size=group)
    assert rows(ParquetTable(path), ["text", "id"], size) == table(90).select(["text", "id"]).to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_columns_come_as_they_are_and_in_the_order_asked_for(tmp_path, kind):
    path, values = tmp_path / "a.parquet", pa.array(["a", None, "b", "a"]).cast(kind)
    pq.write_table(pa.table({"a.b": range(4), "text": values, "id": range(4)}), path)
    reader = ParquetTable(path)
    (batch,) = reader.batches(["text", "a.b"], 1 << 20)
    assert batch.schema.names == ["text", "a.b"]
    assert batch.column(0).type == reader.schema.field("text").type == kind
    assert batch.column(0).to_pylist() == values.to_pylist()


def test_batches_are_about_as_large_as_asked_for(tmp_path):
    """One row group of a megabyte, incompressible texts of a kilobyte, beside a column that is not wanted and does not count."""
    path, random = tmp_path / "a.parquet", np.random.Generator(np.random.PCG64(1))
    text = pa.array([random.bytes(1000) for _ in range(1000)])
    pq.write_table(pa.table({"text": text, "unwanted": pa.array([random.bytes(5000) for _ in range(1000)])}), path, use_dictionary=False)
    lengths = [len(batch) for batch in ParquetTable(path).batches(["text"], 20_000)]
    assert sum(lengths) == 1000
    assert set(lengths[:-1]) <= {19, 20}


@pytest.mark.parametrize("group", [1, 30, 1000])
def test_the_position_rises_to_the_size_of_the_file(tmp_path, group):
    path = tmp_path / "a.parquet"
    pq.write_table(table(90), path, row_group_size=group)
    reader = ParquetTable(path)
    seen = [reader.position, *(reader.position for _ in reader.batches(["text"], 100)), reader.position]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, reader.size) == (0, path.stat().st_size)


def test_a_table_without_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(table(0).cast(table(1).schema), path)
    assert rows(ParquetTable(path), ["text"], 100) == []


@pytest.mark.parametrize("content", [b"", b"\0" * 6, b"PAR1" * 4, b'{"text": "a"}\n' * 100], ids=["empty", "zeros", "magic", "JSON"])
def test_what_is_not_parquet_is_refused(tmp_path, content):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    for read in (ParquetTable, read_table):
        with pytest.raises(BadInput, match=f"^{path} {BROKEN}"):
            read(path)


def test_a_cut_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(table(90), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadInput, match=f"^{path} {BROKEN}"):
        ParquetTable(path)


def test_damaged_pages_are_refused_when_they_are_reached(tmp_path):
    """The footer is whole, so the file opens."""
    path = tmp_path / "a.parquet"
    pq.write_table(table(90).select(["text"]), path, compression="zstd", use_dictionary=False)
    content = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    content[start + 30 : start + 300] = bytes(270)
    path.write_bytes(content)
    reader = ParquetTable(path)
    with pytest.raises(BadInput, match=f"^{path} {BROKEN}"):
        rows(reader, ["text"], 100)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_whole_table_is_read_with_its_metadata(tmp_path, ending):
    path, written = tmp_path / f"a.{ending}", table(20).replace_schema_metadata({"key": "value"})
    if ending == "arrow":
        with pa.ipc.new_file(str(path), written.schema) as writer:
            writer.write_table(written)
    else:
        pq.write_table(written, path)
    for name in (path, str(path)):
        found = read_table(name)
        assert found.equals(written)
        assert found.schema.metadata == {b"key": b"value"}


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0" + b"x" * 100], ids=["empty", "damaged"])
def test_what_is_not_arrow_is_refused(tmp_path, content):
    path = tmp_path / "a.arrow"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=f"^{path} cannot be read as .*; allowed: "):
        read_table(path)


def test_a_table_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match=f"^{tmp_path}/a.parquet does not exist; allowed: a Parquet or Arrow file$"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=f"^{tmp_path} is a directory; allowed: a Parquet or Arrow file$"):
        read_table(tmp_path)
