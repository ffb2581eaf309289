"""JSON lines, plain or compressed: one object in each line, a bounded number of bytes at a time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
from numpy.typing import NDArray

from twinset.documents.columns import SURROGATE
from twinset.errors import BadInput

COPIED = 1 << 23  # bytes of lines copied at a time
PEEK = 100  # lines that are looked at for the names and types of columns
CODECS = {".gz": "gzip", ".zst": "zstd"}
ALLOWED = "allowed: one JSON object in each line"


class JsonLines:
    """A file of JSON objects, one in each line. A key that a line lacks is a null."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        self._raw: pa.NativeFile | None = None
        kinds: dict[str, pa.DataType] = {}
        for number, line in enumerate(self._first_lines(), 1):
            for key, value in self._object(line, number).items():
                kinds.setdefault(key, pa.int64() if type(value) is int else pa.string())
        self.schema = pa.schema(kinds)

    @property
    def position(self) -> int:
        """Bytes of the file that have been read, as they are on the disk."""
        return 0 if self._raw is None else self.size if self._raw.closed else int(self._raw.tell())

    def batches(self, columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, in order, about `size` bytes at a time. The first of `columns` is text: it must hold strings."""
        schema = pa.schema([(name, pa.string() if i == 0 else self.schema.field(name).type) for i, name in enumerate(columns)])
        line = 1
        for block in self._blocks(size):
            table = self._parse(block, schema, line)
            line += block.count(b"\n")
            yield from table.to_batches()

    def copy(self, path: Path, kept: NDArray[np.bool_], added: pa.Table | None) -> None:
        """Copy the lines of kept rows as they are; `added` columns of all rows become further keys of their objects."""
        codec, row = CODECS.get(self.path.suffix.lower()), 0
        with pa.OSFile(str(path), "wb") as file, file if codec is None else pa.CompressedOutputStream(file, codec) as out:
            for block in self._blocks(COPIED):
                lines = [line for line in block.split(b"\n") if line.strip()]
                mine = kept[row : row + len(lines)]
                if added is None:
                    chosen = [line for line, keep in zip(lines, mine.tolist(), strict=True) if keep]
                else:
                    extra = added.slice(row, len(lines)).to_pylist()
                    chosen = [_extended(line, more) for line, more, keep in zip(lines, extra, mine.tolist(), strict=True) if keep]
                row += len(lines)
                if chosen:
                    out.write(b"\n".join(chosen) + b"\n")

    def _parse(self, block: bytes, schema: pa.Schema, line: int) -> pa.Table:
        if not block.strip():
            return schema.empty_table()
        options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        try:
            return pj.read_json(pa.BufferReader(block), pj.ReadOptions(use_threads=False, block_size=len(block) + 1), options).select(schema.names)
        except pa.ArrowInvalid:
            return self._parse_slowly(block, schema, line)

    def _parse_slowly(self, block: bytes, schema: pa.Schema, first: int) -> pa.Table:
        """Line by line: names the line that Arrow refused, or reads what it refuses without need, such as escaped lone surrogates."""
        rows: dict[str, list[Any]] = {name: [] for name in schema.names}
        for number, line in enumerate(block.split(b"\n"), first):
            if line.strip():
                found = self._object(line, number)
                for field in schema:
                    rows[field.name].append(self._value(found.get(field.name), field, number))
        binary = [pa.array(rows[field.name], pa.binary() if pa.types.is_string(field.type) else field.type) for field in schema]
        return pa.table(binary, names=schema.names)

    def _value(self, value: Any, field: pa.Field, number: int) -> Any:
        if pa.types.is_string(field.type) and isinstance(value, str):
            return SURROGATE.sub(_raw_byte, value).encode("utf-8", "surrogateescape")
        if value is None or (pa.types.is_integer(field.type) and type(value) is int and abs(value) < 1 << 63):
            return value
        kind = "a string" if pa.types.is_string(field.type) else "a whole number of 64 bits"
        raise BadInput(f"{self.path} line {number}: {field.name!r} is {json.dumps(value)[:60]}; allowed: {kind}, as in the lines before")

    def _object(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line.decode("utf-8", "surrogateescape"))
        except ValueError as error:
            raise BadInput(f"{self.path} line {number} is not JSON ({error}); {ALLOWED}") from None
        except RecursionError:
            raise BadInput(f"{self.path} line {number} is nested too deeply; {ALLOWED}") from None
        if not isinstance(found, dict):
            raise BadInput(f"{self.path} line {number} is a JSON {type(found).__name__}; {ALLOWED}")
        return found

    def _first_lines(self) -> Iterator[bytes]:
        block = next(self._blocks(1 << 20), b"")
        return (line for line in block.split(b"\n")[:PEEK] if line.strip())

    def _blocks(self, size: int) -> Iterator[bytes]:
        """The file in blocks of about `size` bytes that end where a line ends."""
        try:
            with self._stream() as stream:
                rest: list[bytes] = []
                while read := stream.read(size):
                    end = read.rfind(b"\n") + 1
                    if end:
                        yield b"".join([*rest, read[:end]])
                        rest = []
                    rest.append(read[end:])
                if last := b"".join(rest):
                    yield last
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read ({str(error).splitlines()[0]}); allowed: a complete file of JSON lines") from None

    def _stream(self) -> pa.NativeFile:
        codec = CODECS.get(self.path.suffix.lower())
        self._raw = pa.OSFile(str(self.path))
        return self._raw if codec is None else pa.CompressedInputStream(self._raw, codec)


def _extended(line: bytes, more: dict[str, Any]) -> bytes:
    """An object's line with further keys at its end."""
    body = line.rstrip()[:-1].rstrip()
    return body + (b"" if body.endswith(b"{") else b", ") + json.dumps(more, ensure_ascii=False).encode()[1:]


def _raw_byte(found: Any) -> str:
    """A surrogate that stands for a malformed byte stays; any other has no UTF-8 form and becomes U+FFFD."""
    character: str = found[0]
    return character if "\udc80" <= character <= "\udcff" else "\ufffd"
