"""A file of documents to a file of sketches."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from twinset.config import Config
from twinset.documents.columns import column
from twinset.documents.tables import source
from twinset.documents.writing import table_writer
from twinset.parallel import ahead
from twinset.sketch.minhash import MinHash
from twinset.sketch.storing import schema, to_batch

Progress = Callable[[int, int, int], None]  # documents done, bytes of the file read, bytes of the file


@dataclass(frozen=True)
class Sketched:
    """What a run of `sketch` did."""

    documents: int
    empty: int  # documents without a shingle, which resemble nothing
    malformed: int  # UTF-8 sequences replaced by U+FFFD
    text_bytes: int
    sketch_bytes: int  # packed samples of one document
    fingerprint: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def sketch(
    path: str | Path,
    out: str | Path,
    config: Config,
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    threads: int | None = None,
    strict: bool = False,
    progress: Progress = lambda documents, read, size: None,
) -> Sketched:
    """Sketch the documents of a Parquet or JSON-lines file into a file that `twinset.load` reads, holding a few batches at a time."""
    begin = time.perf_counter()
    documents, sketcher = source(path, text_column=text_column, id_column=id_column), MinHash(config)
    documents.spare(Path(out))
    total = empty = malformed = size = 0
    with table_writer(out, schema(config, documents.id_type)) as write:
        for batch in ahead(documents.batches()):
            texts = column(batch.column("text"))
            sketches = sketcher.sketch_column(texts, threads=threads, strict=strict, first=total)
            write(to_batch(sketches, batch.column("id")))
            total, malformed, size = total + len(sketches), malformed + sketches.malformed, size + int(texts.offsets[-1] - texts.offsets[0])
            empty += int(np.count_nonzero(sketches.sizes.counts() == 0))
            progress(total, documents.table.position, documents.table.size)
    return Sketched(total, empty, malformed, size, 8 * config.layout.words, config.fingerprint, time.perf_counter() - begin)
