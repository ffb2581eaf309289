"""Parquet files: a column a bounded number of bytes at a time, or a whole table (also of Arrow IPC files)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twinset.errors import BadInput

BUFFER = 1 << 20  # bytes read ahead in each column, instead of a whole row group
MOST_ROWS = 1 << 20


class ParquetTable:
    """A Parquet file whose columns are decoded page by page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        self.position = 0
        try:
            self._file = pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise _broken(path, error) from None
        self.schema = self._file.schema_arrow

    def batches(self, columns: list[str] | None, size: int) -> Iterator[pa.RecordBatch]:
        """These columns (all of them by default) of all rows, in order, about `size` bytes at a time."""
        groups = self._file.metadata.num_row_groups
        try:
            for group in range(groups):
                rows = self._rows(group, columns, size)
                for batch in self._file.iter_batches(batch_size=rows, row_groups=[group], columns=columns, use_threads=False):
                    yield batch if columns is None else batch.select(columns)
                self.position = self.size * (group + 1) // groups
        except (pa.ArrowException, OSError) as error:
            raise _broken(self.path, error) from None

    @contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], Any]]:
        """A function that adds batches to a new file, each a row group, with the compression of this one."""
        codecs: dict[str, str] = {}
        about = self._file.metadata
        if about.num_row_groups:
            first = about.row_group(0)
            codecs = {first.column(i).path_in_schema: first.column(i).compression.lower() for i in range(first.num_columns)}
        codecs = {name: "none" if codec == "uncompressed" else codec for name, codec in codecs.items()}
        codecs |= {name: "zstd" for name in schema.names if name not in self.schema.names}
        with pq.ParquetWriter(str(path), schema, compression=codecs or "zstd") as out:
            yield out.write_batch

    def _rows(self, group: int, columns: list[str] | None, size: int) -> int:
        """How many rows of a row group make about `size` bytes."""
        about = self._file.metadata.row_group(group)
        wanted = [about.column(i) for i in range(about.num_columns) if columns is None or about.column(i).path_in_schema.split(".")[0] in columns]
        content = sum(column.total_uncompressed_size for column in wanted)
        return min(max(int(about.num_rows * size / max(content, 1)), 1), MOST_ROWS)


def _broken(path: Path, error: Exception) -> BadInput:
    return BadInput(f"{path} cannot be read as Parquet ({str(error).splitlines()[0]}); allowed: a complete Parquet file")


def read_table(path: str | Path) -> pa.Table:
    """A whole Parquet or Arrow IPC file, schema metadata and all."""
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path} {'is a directory' if path.is_dir() else 'does not exist'}; allowed: a Parquet or Arrow file")
    try:
        if path.suffix == ".arrow":
            with pa.memory_map(str(path)) as file:
                return pa.ipc.open_file(file).read_all()
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None
