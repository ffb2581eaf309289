"""Files appear whole or not at all: nothing is left of a run that fails, and what was there before stays."""

import os
import resource
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinset.documents.parquet import read_table
from twinset.documents.writing import TABLES, table_writer, whole
from twinset.errors import BadInput

SCHEMA = pa.schema([("id", pa.string()), ("sketch", pa.binary(16)), ("size", pa.int64())], metadata={"key": "value"})


def batch(first, rows=10):
    numbers = range(first, first + rows)
    return pa.record_batch([[f"d{i}" for i in numbers], pa.array([i.to_bytes(16) for i in numbers], pa.binary(16)), list(numbers)], schema=SCHEMA)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def mask():
    """A file mask other than the usual one."""
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


@pytest.mark.parametrize("before", [None, "old"])
def test_a_file_appears_when_the_block_ends(tmp_path, before):
    path = tmp_path / "a.txt"
    if before:
        path.write_text(before)
    with whole(path) as part:
        part.write_text("new")
        assert (path.read_text() if path.exists() else None) == before
        assert part.parent == path.parent
        assert part.name.startswith(".")
    assert path.read_text() == "new"
    assert files(tmp_path) == ["a.txt"]


def fail(write, content, error):
    write(content)
    raise error


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_nothing_appears_when_the_block_raises(tmp_path, error, before):
    path = tmp_path / "a.txt"
    if before:
        path.write_text(before)
    with pytest.raises(error), whole(path) as part:
        fail(part.write_text, "half", error)
    assert files(tmp_path) == (["a.txt"] if before else [])
    assert (path.read_text() if path.exists() else None) == before


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path, mask):
    with whole(tmp_path / "a.txt"):
        pass
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~mask
    assert os.umask(mask) == mask, "the mask is as it was"


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "a.txt"
    with whole(path) as first, whole(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert files(tmp_path) == ["a.txt"]


def test_places_that_cannot_be_written_to_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for path, why in ((tmp_path / "none/a.txt", "No such file or directory"), (tmp_path / "file/a.txt", "Not a directory"), (tmp_path / ("x" * 250), "File name too long")):
        with pytest.raises(BadInput, match=f"^{path} cannot be written \\({why}\\); allowed: a file in a folder that exists and can be written to$"), whole(path):
            pytest.fail("there is nothing to write to")
    with pytest.raises(BadInput, match=f"^{tmp_path} is a directory; allowed: the name of a file to write$"), whole(tmp_path):
        pytest.fail("there is nothing to write to")
    assert files(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match=r"cannot be written \(Permission denied\); allowed: "), whole(tmp_path / "a.txt"):
        pytest.fail("there is nothing to write to")


@pytest.mark.parametrize("ending", TABLES)
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_what_is_written_is_read_again(tmp_path, ending, batches):
    parts = [batch(10 * i) for i in range(batches)]
    for path in (tmp_path / f"a{ending}", str(tmp_path / f"a{ending}")):
        with table_writer(path, SCHEMA) as write:
            for part in parts:
                write(part)
        found = read_table(path)
        assert found.equals(pa.Table.from_batches(parts, SCHEMA))
        assert found.schema.metadata == SCHEMA.metadata
    assert files(tmp_path) == [f"a{ending}"]


def test_sketches_are_stored_as_they_are(tmp_path):
    """A compressor or a dictionary would cost time and gain nothing."""
    with table_writer(tmp_path / "a.parquet", SCHEMA) as write:
        write(batch(0, 2000))
    about = pq.read_metadata(tmp_path / "a.parquet").row_group(0)
    kinds = {about.column(i).path_in_schema: (about.column(i).compression, "RLE_DICTIONARY" in about.column(i).encodings) for i in range(3)}
    assert kinds == {"id": ("ZSTD", True), "sketch": ("UNCOMPRESSED", False), "size": ("ZSTD", True)}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, BadInput])
@pytest.mark.parametrize("ending", TABLES)
def test_no_table_appears_when_the_block_raises(tmp_path, ending, error):
    with pytest.raises(error), table_writer(tmp_path / f"a{ending}", SCHEMA) as write:
        fail(write, batch(0), error)
    assert files(tmp_path) == []


@pytest.mark.parametrize("ending", TABLES)
def test_a_full_disk_is_a_message_and_leaves_nothing(tmp_path, ending):
    """No file may grow past some kilobytes here, as on a disk without room."""
    path = tmp_path / f"a{ending}"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(BadInput, match=f"^{path} cannot be written \\(.*\\); allowed: a disk with room$"), table_writer(path, SCHEMA) as write:
            write(batch(0, 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(tmp_path) == []


@pytest.mark.parametrize("name", ["a.txt", "a", ".parquet", "a.jsonl", "a.parquet.gz"])
def test_an_unknown_ending_is_refused(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(BadInput) as caught, table_writer(path, SCHEMA):
        pytest.fail("there is nothing to write to")
    assert str(caught.value) == f"{path} ends in {path.suffix!r}; allowed for a table to write: .parquet, .arrow"
    assert files(tmp_path) == []
