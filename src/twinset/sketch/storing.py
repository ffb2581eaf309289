"""Sketches as a table: columns `id`, `sketch`, `size`, and the configuration in the schema's metadata."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from twinset.config import SCHEME, UNICODE, Config
from twinset.documents.parquet import read_table
from twinset.documents.writing import table_writer
from twinset.errors import BadInput, IncompatibleSketches, TwinsetError
from twinset.sketch.sizes import Sizes
from twinset.sketch.sketches import Sketches

if TYPE_CHECKING:
    from twinset.sketch.fingerprints import Fingerprints

KEY = b"twinset"
FORMAT = 1
BYTES = np.dtype(np.uint64).itemsize
ROWS = 1 << 16  # rows of a batch, and of a row group in Parquet


def schema(config: Config, ids: pa.DataType) -> pa.Schema:
    """The columns of stored sketches, and in the metadata all that makes them comparable. Words are little-endian, component after component."""
    about = {"format": FORMAT, "scheme": SCHEME, "unicode": UNICODE, "fingerprint": config.fingerprint, "config": config.to_dict()}
    size = pa.int64() if config.sizes == "exact" else pa.uint8()
    columns = [("id", ids), ("sketch", pa.binary(config.layout.words * BYTES)), ("size", size)]
    return pa.schema(columns, metadata={KEY: json.dumps(about).encode()})


def to_batch(sketches: Sketches, ids: pa.Array) -> pa.RecordBatch:
    """The table of some sketches."""
    kinds = schema(sketches.config, ids.type)
    words = np.ascontiguousarray(sketches.words, "<u8")
    packed = pa.FixedSizeBinaryArray.from_buffers(kinds.field("sketch").type, len(sketches), [None, pa.py_buffer(words)])
    sizes = sketches.sizes.stored if sketches.config.sizes == "exact" else sketches.sizes.codes()
    return pa.record_batch([ids, packed, pa.array(sizes)], schema=kinds)


def from_table(table: pa.Table) -> Sketches:
    """The sketches of a table that `to_batch` made."""
    config = _config(table.schema)
    table = table.combine_chunks()
    packed, sizes = (table.column(name).combine_chunks() if table.column(name).num_chunks != 1 else table.column(name).chunk(0) for name in ("sketch", "size"))
    width = config.layout.words
    words = np.frombuffer(packed.buffers()[1], "<u8", count=len(packed) * width, offset=packed.offset * width * BYTES).reshape(-1, width)
    counts = sizes.to_numpy(zero_copy_only=False)
    stored = Sizes(counts, "exact", len(counts), config.universe) if config.sizes == "exact" else Sizes.of_codes(counts, config.sizes, config.universe)
    return Sketches(words if sys.byteorder == "little" else words.astype(np.uint64), stored, config, table.column("id").combine_chunks())


def save(sketches: Sketches, path: str | Path) -> None:
    """Write sketches to a Parquet or Arrow file; ids are row numbers where there are none."""
    batch = to_batch(sketches, pa.array(np.arange(len(sketches))) if sketches.ids is None else sketches.ids)
    with table_writer(path, batch.schema) as write:
        for first in range(0, max(len(batch), 1), ROWS):
            write(batch.slice(first, ROWS))


def load(path: str | Path) -> "Sketches | Fingerprints":
    """Read sketches from a Parquet or Arrow file that `Sketches.save` or `twinset sketch` wrote, or fingerprints from one that `Fingerprints.save` wrote."""
    from twinset.sketch import filing  # filing needs this module

    table = read_table(path)
    if filing.COLUMN in table.schema.names and "sketch" not in table.schema.names:
        return filing.from_table(table, Path(path))
    try:
        return from_table(table)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _config(found: pa.Schema) -> Config:
    """The configuration in a schema's metadata."""
    about = (found.metadata or {}).get(KEY)
    if about is None or not {"id", "sketch", "size"} <= set(found.names):
        raise BadInput(f"columns {', '.join(found.names[:10])} are not stored sketches; allowed: a file that `twinset sketch`, Sketches.save or Fingerprints.save wrote")
    return _understood(json.loads(about), found)


def check(about: dict[str, Any]) -> None:
    """Refuse what was made under other rules than this version's."""
    for name, known in (("format", FORMAT), ("scheme", SCHEME), ("unicode", UNICODE)):
        if about.get(name) != known:
            raise IncompatibleSketches(f"the sketches were made under {name} {about.get(name)!r}; allowed: {known!r}, or sketch the documents again")


def _understood(about: dict[str, Any], found: pa.Schema) -> Config:
    check(about)
    try:
        config = Config(**about["config"])
    except (TwinsetError, TypeError, KeyError) as error:
        raise BadInput(f"the configuration is not understood ({error}); allowed: one that this version of twinset writes") from None
    if found.field("sketch").type != schema(config, pa.int64()).field("sketch").type:
        raise BadInput(f"the sketch column has type {found.field('sketch').type}; allowed under the stored configuration: {config.layout.words * BYTES} bytes")
    return config
