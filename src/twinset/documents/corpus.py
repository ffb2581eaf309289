"""Several files as one corpus of rows: which they are, their texts batch by batch, and copies of them without some rows."""

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.documents.ipc import STATE, dataset_files
from twinset.documents.jsonl import JsonLines
from twinset.documents.tables import READERS, Source, source
from twinset.errors import BadInput
from twinset.parallel import ahead

FEATURES = b"huggingface"  # where `datasets` keeps the columns' kinds
COPY = 32 << 20  # bytes of rows copied at a time, and in a row group of Parquet


@dataclass(frozen=True)
class Corpus:
    """Files in order; the rows of each follow those of the one before."""

    sources: tuple[Source, ...]

    @classmethod
    def open(cls, paths: Iterable[str | Path], *, text_column: str | None = None, id_column: str | None = None) -> "Corpus":
        """Files, globs, and folders: of such files, or as Hugging Face's `datasets` saves them."""
        files = [file for path in paths for file in _files(str(path))]
        if not files:
            raise BadInput("no files were given; allowed: at least one")
        if len({file.resolve() for file in files}) < len(files):
            twice = next(file for i, file in enumerate(files) if file.resolve() in {other.resolve() for other in files[:i]})
            raise BadInput(f"{twice} was given twice; allowed: each file once")
        return cls(tuple(source(file, text_column=text_column, id_column=id_column) for file in files))

    @cached_property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.table.size for each in self.sources)

    @property
    def position(self) -> int:
        """About how many of them have been read."""
        return sum(each.table.position for each in self.sources)

    def identity(self) -> list[tuple[str, int, int]]:
        """What tells whether files are those of an earlier run: path, bytes, time of the last change."""
        return [(str(each.path.resolve()), each.table.size, each.path.stat().st_mtime_ns) for each in self.sources]

    def texts(self, files: Sequence[bool] | None = None) -> Iterator[tuple[int, pa.Array]]:
        """The texts of all rows, or of the files marked, in batches that depend on nothing but the files, each with the number of its file."""
        for number, each in enumerate(self.sources):
            for batch in ahead(each.batches()) if files is None or files[number] else ():
                yield number, batch.column("text")

    def column(self, name: str, rows: NDArray[np.bool_] | None = None) -> pa.ChunkedArray:
        """One column of all rows, or of the rows marked."""
        parts, row = [], 0
        for each in self.sources:
            if name not in each.table.schema.names:
                raise BadInput(f"{each.path} has no column {name!r}; it has {', '.join(each.table.schema.names[:20])}; allowed: one of these")
            wanted = [each.text, name] if isinstance(each.table, JsonLines) and name != each.text else [name]  # the first of JSON lines has to be text
            for batch in each.table.batches(wanted, COPY):
                part = batch.column(len(wanted) - 1)
                parts.append(part if rows is None else part.filter(pa.array(rows[row : row + len(part)])))
                row += len(part)
        return pa.chunked_array(parts, None if parts else pa.string())


def copy_rows(source: Source, path: Path, kept: NDArray[np.bool_], added: pa.Table | None = None) -> None:
    """Write the kept rows of a file to a new one of the same kind: every column, the schema's metadata, the order; `added` holds further columns of all its rows."""
    table = source.table
    if isinstance(table, JsonLines):
        return table.copy(path, kept, added)
    schema = table.schema
    if added is not None:
        schema = schema.with_metadata({key: value for key, value in (schema.metadata or {}).items() if key != FEATURES})  # which would name the columns there were
    for field in added.schema if added is not None else ():
        if field.name in schema.names:
            raise BadInput(f"{source.path} has a column {field.name!r} already; allowed: names other than {', '.join(added.schema.names) if added is not None else ''}")
        schema = schema.append(field)
    row = 0
    with table.writer(path, schema) as write:  # type: ignore[attr-defined]
        for batch in ahead(table.batches(None, COPY)):  # type: ignore[arg-type]
            mine, extra = kept[row : row + len(batch)], None if added is None else added.slice(row, len(batch)).combine_chunks()
            columns = batch.columns + ([] if extra is None else [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in extra.columns])
            row += len(batch)
            whole = pa.record_batch(columns, schema=schema)
            if mine.any():
                write(whole if mine.all() else whole.filter(pa.array(mine)))


def _files(path: str) -> list[Path]:
    folder = Path(path)
    if folder.is_dir():
        if (folder / STATE).exists():
            return dataset_files(folder)
        found = sorted(file for file in folder.rglob("*") if file.is_file() and any(file.name.lower().endswith(ending) for ending in READERS))
        if not found:
            raise BadInput(f"{path} holds no file of documents; allowed: {', '.join(READERS)}")
        return found
    if glob.has_magic(path) and not folder.exists():
        found = [Path(each) for each in sorted(glob.glob(path, recursive=True))]
        if not found:
            raise BadInput(f"{path} matches no file; allowed: a pattern that matches some")
        return found
    return [folder]
