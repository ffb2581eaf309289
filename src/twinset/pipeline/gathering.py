"""What later stages need of every document, gathered batch by batch and kept on the disk."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.columns import Column, column
from twinset.documents.corpus import Corpus
from twinset.documents.shingles import Shingler, Shingles, first_equal
from twinset.pipeline.workspace import Arrays, Workspace
from twinset.sketch.minhash import MinHash

Rows = NDArray[np.int64]
Told = Callable[[int, int], None]  # bytes of the files read, and in all
COLUMNS = ("words", "digests", "sizes", "lengths", "malformed", "owner")


@dataclass(frozen=True)
class Gathered:
    """Of every document, in order: the packed sketch, two words that are equal for equal shingle sets, shingles, bytes of text; and the rows of each file."""

    words: NDArray[np.uint64]
    digests: NDArray[np.uint64]
    sizes: Rows
    lengths: Rows
    malformed: int
    rows: Rows

    def first(self) -> Rows:
        """For each row the first row of the same shingles."""
        return first_equal(self.digests)


def gather(corpus: Corpus, config: Config, work: Workspace, *, threads: int | None, strict: bool, told: Told) -> Gathered:
    """Sketch all texts of a corpus; batches that an earlier run has sketched are read from its workspace."""
    sketcher, parts, total = MinHash(config), list[Arrays](), corpus.size
    first = 0
    for number, (file, texts) in enumerate(corpus.texts()):
        begin = first
        parts.append(work.keep(f"sketch-{number:06d}", lambda: _sketched(sketcher, column(texts), file, begin, threads, strict)))  # noqa: B023 - called at once
        first += len(texts)
        told(corpus.position, total)
    told(total, total)
    empty = _sketched(sketcher, column([]), 0, 0, 1, False)
    words, digests, sizes, lengths, malformed, owner = (np.concatenate([part[name] for part in [empty, *parts]]) for name in COLUMNS)
    return Gathered(words, digests, sizes, lengths, int(malformed.sum()), np.bincount(owner, minlength=len(corpus.sources)))


def _sketched(sketcher: MinHash, texts: Column, file: int, first: int, threads: int | None, strict: bool) -> Arrays:
    rows = len(texts.offsets) - 1
    digests = np.empty((rows, 2), np.uint64)
    found = sketcher.sketch_column(texts, threads=threads, strict=strict, first=first, digests=digests)
    counts = {"sizes": found.sizes.counts().astype(np.int64), "lengths": np.diff(texts.offsets), "owner": np.full(rows, file, np.int32)}
    return counts | {"words": found.words, "digests": digests, "malformed": np.array([found.malformed])}


def shingled(corpus: Corpus, config: Config, wanted: NDArray[np.bool_], sizes: Rows, *, threads: int | None) -> Shingles:
    """The shingle sets of the rows marked, in order, from texts read once more; `sizes` is what all rows are known to have."""
    shingler, row, place = Shingler(config), 0, 0
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[wanted])])
    values = np.empty(offsets[-1], np.uint64)
    for _, texts in corpus.texts():
        mine = np.flatnonzero(wanted[row : row + len(texts)])
        row += len(texts)
        if len(mine):
            shingler.shingle_into(column(texts.take(mine)), values, offsets[place : place + len(mine) + 1], threads)
            place += len(mine)
    return Shingles(values, offsets)
