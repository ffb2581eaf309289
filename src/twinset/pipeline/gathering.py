"""What later stages need of every document, gathered batch by batch and kept on the disk."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.columns import Column, column
from twinset.documents.corpus import Corpus
from twinset.documents.shingles import Shingler, Shingles, first_equal
from twinset.pipeline.workspace import Arrays, Workspace
from twinset.sketch.minhash import MinHash

Rows = NDArray[np.int64]
Told = Callable[[int, int], None]  # bytes of the files read, and in all
COLUMNS = ("digests", "sizes", "lengths", "malformed", "owner")  # what is held of every batch; `words`, the packed sketches, stay on the disk


@dataclass(frozen=True)
class Gathered:
    """Of every document, in order: the first one of the same shingles, shingles, bytes of text; the rows of each file; and where the sketches are."""

    first: Rows
    sizes: Rows
    lengths: Rows
    malformed: int
    rows: Rows
    work: Workspace
    config: Config

    def words(self, rows: Rows) -> NDArray[np.uint64]:
        """The packed sketches of these rows, which ascend, read from the workspace."""
        out, row, place = np.empty((len(rows), self.config.layout.words), np.uint64), 0, 0
        for number in range(self.work.count("sketch")):
            words = self.work.array(_batch(number), "words")
            upto = int(np.searchsorted(rows, row + len(words)))
            out[place:upto] = words[rows[place:upto] - row]
            row, place = row + len(words), upto
        return out


def gather(corpus: Corpus, config: Config, work: Workspace, *, threads: int | None, strict: bool, told: Told) -> Gathered:
    """Sketch all texts of a corpus; batches that an earlier run has sketched are read from its workspace."""
    sketcher, total = MinHash(config), corpus.size
    parts = [_held(_sketched(sketcher, column([]), 0, 0, 1, False))]
    first = 0
    for number, (file, texts) in enumerate(corpus.texts()):
        begin = first
        parts.append(_held(work.keep(_batch(number), lambda: _sketched(sketcher, column(texts), file, begin, threads, strict))))  # noqa: B023 - called at once
        first += len(texts)
        told(corpus.position, total)
    told(total, total)
    digests, sizes, lengths, malformed, owner = (np.concatenate([part[name] for part in parts]) for name in COLUMNS)
    return Gathered(first_equal(digests), sizes, lengths, int(malformed.sum()), np.bincount(owner, minlength=len(corpus.sources)), work, config)


def _batch(number: int) -> str:
    return f"sketch-{number:06d}"


def _held(arrays: Arrays) -> Arrays:
    return {name: arrays[name] for name in COLUMNS}


def _sketched(sketcher: MinHash, texts: Column, file: int, first: int, threads: int | None, strict: bool) -> Arrays:
    rows = len(texts.offsets) - 1
    digests = np.empty((rows, 2), np.uint64)
    found = sketcher.sketch_column(texts, threads=threads, strict=strict, first=first, digests=digests)
    counts = {"sizes": found.sizes.counts().astype(np.int64), "lengths": np.diff(texts.offsets), "owner": np.full(rows, file, np.int32)}
    return counts | {"words": found.words, "digests": digests, "malformed": np.array([found.malformed])}


def shingled(corpus: Corpus, gathered: Gathered, wanted: NDArray[np.bool_], *, threads: int | None) -> Shingles:
    """The shingle sets of the rows marked, in order, from texts read once more."""
    shingler, place = Shingler(gathered.config), 0
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(gathered.sizes[wanted])])
    values = np.empty(offsets[-1], np.uint64)
    for texts in _marked(corpus, gathered.rows, wanted):
        shingler.shingle_into(column(texts), values, offsets[place : place + len(texts) + 1], threads)
        place += len(texts)
    return Shingles(values, offsets)


def _marked(corpus: Corpus, rows: Rows, wanted: NDArray[np.bool_]) -> Iterator[pa.Array]:
    """The texts of the rows marked, batch by batch. A file without any is not read."""
    ends = np.cumsum(rows)
    files = [bool(wanted[end - count : end].any()) for end, count in zip(ends, rows, strict=True)]
    row, before = 0, -1
    for file, texts in corpus.texts(files):
        row = row if file == before else int(ends[file] - rows[file])
        mine = np.flatnonzero(wanted[row : row + len(texts)])
        row, before = row + len(texts), file
        if len(mine):
            yield texts.take(mine)
