"""Files that appear whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from twinset.errors import BadInput

TABLES = (".parquet", ".arrow")
LISTS = (".parquet", ".csv", ".jsonl")
LINES = 1 << 13  # rows made into lines at a time


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends well and removed when it does not."""
    if path.is_dir():
        raise BadInput(f"{path} is a directory; allowed: the name of a file to write")
    try:
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}); allowed: a file in a folder that exists and can be written to") from None
    os.close(number)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())  # mkstemp makes files that only their owner reads
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def table_writer(path: str | Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """A function that adds batches to a Parquet or Arrow IPC file, by the name's ending; the file appears when the block ends well."""
    path = Path(path)
    if path.suffix not in TABLES:
        raise BadInput(f"{path} ends in {path.suffix!r}; allowed for a table to write: {', '.join(TABLES)}")
    with whole(path) as part:
        try:
            with _open(path, part, schema) as writer:
                yield writer.write_batch
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error}); allowed: a disk with room") from None


def write_table(table: pa.Table, part: Path, ending: str) -> None:
    """Write a table that is at hand as Parquet, CSV or JSON lines."""
    if ending == ".parquet":
        pq.write_table(table, part, compression="zstd")
    elif ending == ".csv":
        pc.write_csv(table, part)
    else:
        with part.open("w", encoding="utf-8") as file:
            for batch in table.to_batches(max_chunksize=LINES):
                file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())


def _open(path: Path, part: Path, schema: pa.Schema) -> Any:
    if path.suffix == ".arrow":
        return pa.ipc.new_file(str(part), schema)
    binary = [field.name for field in schema if pa.types.is_fixed_size_binary(field.type)]
    # Sketches are random bits: neither a dictionary nor a compressor gains anything.
    plain = [field.name for field in schema if field.name not in binary]
    return pq.ParquetWriter(str(part), schema, compression={name: "none" if name in binary else "zstd" for name in schema.names}, use_dictionary=plain)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
