"""Tables of documents, read batch by batch: which reader a file wants, and which of its columns is the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from twinset.documents.delimited import DelimitedTable
from twinset.documents.ipc import IpcTable
from twinset.documents.jsonl import JsonLines
from twinset.documents.parquet import ParquetTable
from twinset.errors import BadInput, MissingColumn

TEXT_NAMES = ("text", "content", "document", "body")
ID_NAME = "id"
BATCH = 64 << 20  # bytes of text read at a time
TEXTUAL = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_null)
READERS: dict[str, type[JsonLines] | type[ParquetTable] | type[DelimitedTable] | type[IpcTable]] = {
    ".parquet": ParquetTable,
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
    ".jsonl.gz": JsonLines,
    ".jsonl.zst": JsonLines,
    ".ndjson.gz": JsonLines,
    ".ndjson.zst": JsonLines,
    ".csv": DelimitedTable,
    ".tsv": DelimitedTable,
    ".arrow": IpcTable,
    ".feather": IpcTable,
}


class Table(Protocol):
    """An opened file of rows."""

    size: int  # bytes of the file
    schema: pa.Schema

    @property
    def position(self) -> int:
        """About how many bytes of the file have been read."""

    def batches(self, columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, in order, about `size` bytes at a time."""


@dataclass(frozen=True)
class Source:
    """A table with its text and id columns found."""

    path: Path
    table: Table
    text: str
    id: str | None

    @property
    def id_type(self) -> pa.DataType:
        return pa.int64() if self.id is None else self.table.schema.field(self.id).type

    def spare(self, out: Path) -> None:
        """Refuse to write over the documents themselves."""
        if out.exists() and out.samefile(self.path):
            raise BadInput(f"{out} is the file of the documents themselves; allowed: another file to write")

    def batches(self, size: int = BATCH) -> Iterator[pa.RecordBatch]:
        """The documents: batches of `id` (the row number where there is no such column) and `text`."""
        row = 0
        wanted = [self.text] if self.id is None else [self.text, self.id]
        for batch in self.table.batches(wanted, size):
            ids = pa.array(range(row, row + len(batch)), pa.int64()) if self.id is None else batch.column(1)
            yield pa.record_batch([ids, batch.column(0)], names=["id", "text"])
            row += len(batch)


def source(path: str | Path, *, text_column: str | None = None, id_column: str | None = None) -> Source:
    """Open a Parquet or JSON-lines file. Without names, the text column is `text`, `content`, `document` or `body`, the id column `id` if there is one."""
    path = Path(path)
    table = _open(path)
    text = text_column_of(path, table.schema, text_column)
    if id_column is None and ID_NAME not in table.schema.names:
        return Source(path, table, text, None)
    return Source(path, table, text, _column(path, table.schema, "id", (id_column or ID_NAME,)))


def is_table(path: Path) -> bool:
    """Whether a file is a table of documents, by its name."""
    return path.is_file() and any(path.name.lower().endswith(ending) for ending in READERS)


def text_column_of(where: Path | str, schema: pa.Schema, asked: str | None = None) -> str:
    """The name of the text column: the one asked for, or the first of the usual names that is there. `where` is for messages."""
    text = _column(where, schema, "text", TEXT_NAMES if asked is None else (asked,))
    kind = schema.field(text).type
    if not any(check(kind.value_type if pa.types.is_dictionary(kind) else kind) for check in TEXTUAL):
        raise BadInput(f"{where}: the text column {text!r} has type {kind}; allowed: string or binary")
    return text


def _open(path: Path) -> Table:
    if not path.exists():
        raise BadInput(f"{path} does not exist; allowed: a file")
    if path.is_dir():
        raise BadInput(f"{path} is a directory; allowed: a file")
    ending = next((ending for ending in sorted(READERS, key=len, reverse=True) if path.name.lower().endswith(ending)), None)
    if ending is None:
        raise BadInput(f"{path} ends in {path.suffix!r}; allowed: {', '.join(READERS)}")
    return READERS[ending](path)


def _column(where: Path | str, schema: pa.Schema, purpose: str, wanted: tuple[str, ...]) -> str:
    found = [name for name in wanted if name in schema.names]
    if not found:
        shown = ", ".join(schema.names[:20]) + (", …" if len(schema.names) > 20 else "")
        raise MissingColumn(f"{where} has no {purpose} column {' or '.join(map(repr, wanted))}; it has {shown or 'no columns'}; allowed: one of these, by --{purpose}-column")
    return found[0]
