"""Fingerprints as a table: `id`, `fingerprint`, `empty`, `projections` if they are kept; document frequencies as a second one in a file beside it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.config import SCHEME, UNICODE, SimConfig
from twinset.documents.parquet import read_table
from twinset.documents.writing import table_writer
from twinset.errors import BadInput, IncompatibleSketches, TwinsetError
from twinset.sketch.fingerprints import Fingerprints
from twinset.sketch.frequencies import Frequencies
from twinset.sketch.storing import FORMAT, KEY, ROWS, check

COLUMN = "fingerprint"
ALLOWED = "allowed: a file that Fingerprints.save wrote"


def save(fingerprints: Fingerprints, path: str | Path) -> None:
    """Write to a Parquet or Arrow file; ids are row numbers where there are none. With "tfidf", NAME.frequencies.SUFFIX appears beside it, before it."""
    frequencies = fingerprints.frequencies
    if frequencies is not None:
        terms = pa.record_batch([pa.array(frequencies.terms), pa.array(frequencies.counts)], names=["term", "count"])
        _write(terms, _beside(Path(path)), {"documents": frequencies.documents, "source": frequencies.source})
    ids = pa.array(np.arange(len(fingerprints))) if fingerprints.ids is None else fingerprints.ids
    columns = {"id": ids, COLUMN: _packed(fingerprints.words, "<u8"), "empty": pa.array(fingerprints.empty)}
    if fingerprints.projections is not None:
        columns["projections"] = _packed(fingerprints.projections, "<f4")
    about = {"config": fingerprints.config.to_dict(), "frequencies": None if frequencies is None else frequencies.fingerprint}
    _write(pa.record_batch(list(columns.values()), names=list(columns)), Path(path), about)


def load(path: str | Path) -> Fingerprints:
    """Read fingerprints from a file that `Fingerprints.save` wrote, and their document frequencies from the one beside it."""
    return from_table(read_table(path), Path(path))


def from_table(found: pa.Table, path: Path) -> Fingerprints:
    """The fingerprints of a table that was read from this path."""
    table, about = _read(found, path, "config")
    try:
        config = SimConfig(**about["config"])
    except (TwinsetError, TypeError) as error:
        raise BadInput(f"{path}: the configuration is not understood ({error}); allowed: one that this version of twinset writes") from None
    frequencies = None if about["frequencies"] is None else _frequencies(path, about["frequencies"])
    words = _unpacked(table[COLUMN], "<u8", config.words).astype(np.uint64, copy=False)
    projections = _unpacked(table["projections"], "<f4", config.bits).astype(np.float32, copy=False) if "projections" in table.schema.names else None
    empty = table["empty"].to_numpy(zero_copy_only=False)
    return Fingerprints(words, config, projections, table["id"], empty, frequencies)


def _frequencies(path: Path, fingerprint: str) -> Frequencies:
    table, about = _read(read_table(_beside(path)), _beside(path), "source")
    found = Frequencies(table["term"].to_numpy(), table["count"].to_numpy(), about["documents"], about["source"])
    if found.fingerprint != fingerprint:
        raise IncompatibleSketches(f"{_beside(path)} holds the document frequencies {found.fingerprint}; allowed beside {path}: {fingerprint}")
    return found


def _beside(path: Path) -> Path:
    return path.with_suffix(f".frequencies{path.suffix}")


def _write(batch: pa.RecordBatch, path: Path, about: dict[str, Any]) -> None:
    rules = {"format": FORMAT, "scheme": SCHEME, "unicode": UNICODE}
    batch = batch.replace_schema_metadata({KEY: json.dumps({**rules, **about})})
    with table_writer(path, batch.schema) as write:
        for first in range(0, max(len(batch), 1), ROWS):
            write(batch.slice(first, ROWS))


def _read(table: pa.Table, path: Path, wanted: str) -> tuple[pa.RecordBatch, dict[str, Any]]:
    """The whole table as one batch, and what its metadata say, which `wanted` is part of."""
    about = json.loads((table.schema.metadata or {}).get(KEY, "{}"))
    if wanted not in about or (COLUMN not in table.schema.names and wanted == "config"):
        raise BadInput(f"{path} has columns {', '.join(table.schema.names[:10])}, and is none of stored fingerprints; {ALLOWED}")
    check(about)
    columns = [column.combine_chunks() if column.num_chunks != 1 else column.chunk(0) for column in table.columns]
    return pa.record_batch(columns, names=table.schema.names), about


def _packed(rows: NDArray[Any], kind: str) -> pa.Array:
    data = np.ascontiguousarray(rows, kind)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(data.shape[1] * data.itemsize), len(data), [None, pa.py_buffer(data)])


def _unpacked(column: pa.Array, kind: str, width: int) -> NDArray[Any]:
    size = np.dtype(kind).itemsize * width
    if column.type != pa.binary(size):
        raise BadInput(f"a column has type {column.type}; allowed under the stored configuration: {size} bytes")
    return np.frombuffer(column.buffers()[1], kind, count=len(column) * width, offset=column.offset * size).reshape(-1, width)
