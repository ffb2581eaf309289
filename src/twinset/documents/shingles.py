"""Texts to the shingles shape, and shingles back to their place in the text."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config, SimConfig
from twinset.documents.columns import Column, column
from twinset.documents.unicode import tables
from twinset.errors import BadText
from twinset.kernels import normalise, overlap, terms
from twinset.kernels import shingles as kernels
from twinset.parallel import ranges, spread

STEP = 1 << 20  # bytes of text that a thread takes at a time
PAIRS = 1 << 12  # pairs that a thread takes at a time
SLACK = 64  # bytes that the kernels may read or write past the end of a text


@dataclass(frozen=True)
class Shingles:
    """Sets of 64-bit hashes: row d is values[offsets[d]:offsets[d + 1]], ascending and without repeats."""

    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of distinct shingles in each row; 0 for a document with nothing to compare."""
        return np.diff(self.offsets)

    def row(self, d: int) -> NDArray[np.uint64]:
        return self.values[self.offsets[d] : self.offsets[d + 1]]

    def span(self, first: int, last: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Values and offsets of the rows first to last - 1 alone."""
        return self.values[self.offsets[first] : self.offsets[last]], self.offsets[first : last + 1] - self.offsets[first]

    def take(self, rows: NDArray[np.int64]) -> "Shingles":
        """These rows alone, in this order."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes[rows])])
        values = np.empty(offsets[-1], np.uint64)
        overlap.take(self.values, self.offsets, rows, values, offsets)
        return Shingles(values, offsets)

    def followed_by(self, other: "Shingles") -> "Shingles":
        """These rows and then the others."""
        return Shingles(np.concatenate([self.values, other.values]), np.concatenate([self.offsets, other.offsets[1:] + len(self.values)]))

    def first_equal(self) -> NDArray[np.int64]:
        """For each row the first row with the same shingles: itself, if no row before it has."""
        words = np.empty((len(self), 2), np.uint64)
        overlap.digests(self.values, self.offsets, words)
        return first_equal(words)

    def shared(self, left: NDArray[np.int64], right: NDArray[np.int64], *, threads: int | None = None) -> NDArray[np.int64]:
        """How many shingles rows left[i] and right[i] have in common (R2)."""
        out = np.empty(len(left), np.int64)

        def prepare() -> Callable[[int, int], None]:
            return lambda first, last: overlap.intersections(self.values, self.offsets, left, right, first, last, out)

        spread([(first, min(first + PAIRS, len(left))) for first in range(0, len(left), PAIRS)], prepare, threads)
        return out

    def resemblance(self, left: NDArray[np.int64], right: NDArray[np.int64], *, threads: int | None = None) -> NDArray[np.float64]:
        """The resemblance of rows left[i] and right[i] (R1); an empty set resembles nothing, not even another."""
        shared = self.shared(left, right, threads=threads)
        union = self.sizes[left] + self.sizes[right] - shared
        return np.asarray(shared / np.maximum(union, 1))


def first_equal(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each row of a matrix the first row with the same words. Fast where rows that begin alike are equal, as digests do."""
    order = np.argsort(words[:, 0])
    fresh = _fresh(words[:, :1], order)
    if not np.array_equal(fresh, _fresh(words, order)):
        order = np.lexsort(words.T[::-1])
        fresh = _fresh(words, order)
    first = np.empty(len(words), np.int64)
    if len(words):
        first[order] = np.minimum.reduceat(order, np.flatnonzero(fresh))[np.cumsum(fresh) - 1]
    return first


def _fresh(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row differs from the one before it, in this order."""
    fresh = np.ones(len(order), bool)
    fresh[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    return fresh


@dataclass
class Shingler:
    """Shingles documents range by range under one configuration, and counts the malformed UTF-8 sequences it replaced."""

    config: Config | SimConfig
    strict: bool = False
    first: int = 0  # the number of the first document, for messages
    repeats: bool = False  # keep a shingle as often as it occurs: rows are then ascending, with repeats
    malformed: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def mode(self) -> int:
        """What the normalising kernel is to write."""
        if self.config.unit == "words":
            return normalise.WORDS
        return normalise.CHARS if self.config.space else normalise.SOLID

    def prepare(self, texts: Column) -> Callable[[int, int], Iterator[tuple[int, Shingles]]]:
        """A function from a range of documents to pieces (first row, shingles). A piece lives until the next: the scratch space is the function's own."""
        room, rows = _Room(), terms.term_rows if self.repeats else kernels.shingle_rows

        def shingle(first: int, last: int) -> Iterator[tuple[int, Shingles]]:
            self._make_room(room, texts, first, last)
            while first < last:
                stop, bad, needed = rows(*texts, first, last, tables(self.config.case), self.mode, self.config.width, *room.arrays())
                if bad:
                    self._count(bad, texts, first, stop)
                if stop > first:
                    ends = room.ends[: stop - first]
                    yield first, Shingles(room.values[: ends[-1]], np.concatenate([np.zeros(1, np.int64), ends]))
                first = stop
                if needed > len(room.values):
                    room.values = np.empty(needed, np.uint64)

        return shingle

    def shingle(self, texts: Column, threads: int | None = None) -> Shingles:
        """The shingle sets of all documents, in order."""
        pieces: list[tuple[int, NDArray[np.uint64], NDArray[np.int64]]] = []

        def prepare() -> Callable[[int, int], None]:
            work = self.prepare(texts)

            def collect(first: int, last: int) -> None:
                pieces.extend((row, piece.values.copy(), piece.sizes) for row, piece in work(first, last))

            return collect

        spread(ranges(texts.offsets, STEP, 1 << 16), prepare, threads)
        pieces.sort(key=lambda piece: piece[0])
        sizes = np.concatenate([np.zeros(1, np.int64), *(sizes for _, _, sizes in pieces)])
        return Shingles(np.concatenate([np.zeros(0, np.uint64), *(values for _, values, _ in pieces)]), np.cumsum(sizes))

    def shingle_into(self, texts: Column, values: NDArray[np.uint64], offsets: NDArray[np.int64], threads: int | None = None) -> None:
        """Write the shingle set of document d to values[offsets[d]:offsets[d + 1]]: for texts whose sizes are known."""

        def prepare() -> Callable[[int, int], None]:
            work = self.prepare(texts)

            def write(first: int, last: int) -> None:
                for row, piece in work(first, last):
                    values[offsets[row] : offsets[row + len(piece)]] = piece.values

            return write

        spread(ranges(texts.offsets, STEP, 1 << 16), prepare, threads)

    def _make_room(self, room: "_Room", texts: Column, first: int, last: int) -> None:
        longest, columns = kernels.scratch_room(*texts, first, last, tables(self.config.case))
        text = int(texts.offsets[last] - texts.offsets[first])
        room.grow(longest + SLACK, columns, text // 2 + SLACK, last - first)

    def _count(self, bad: int, texts: Column, first: int, stop: int) -> None:
        if self.strict:
            self._refuse(texts, first, stop)
        with self._lock:
            self.malformed += bad

    def _refuse(self, texts: Column, first: int, stop: int) -> None:
        for d in range(first, stop):
            try:
                texts.text[texts.offsets[d] : texts.offsets[d + 1]].tobytes().decode()
            except UnicodeDecodeError as error:
                place = f"byte {error.start} of document {self.first + d}"
                raise BadText(f"malformed UTF-8 at {place}; allowed: valid UTF-8, or without strict, which replaces it by U+FFFD and counts it") from None


class _Room:
    """The scratch space of one thread, kept from range to range."""

    def __init__(self) -> None:
        self.codes = np.empty((2, 0), np.uint32)
        self.normal = np.empty(0, np.uint8)
        self.hashes = self.values = np.empty(0, np.uint64)
        self.counts = np.empty(0, np.int32)
        self.ends = np.empty(0, np.int64)

    def grow(self, longest: int, columns: int, values: int, rows: int) -> None:
        if longest > len(self.normal):
            self.normal, self.hashes = np.empty(longest, np.uint8), np.empty(longest, np.uint64)
            self.counts = np.empty(kernels.count_room(longest), np.int32)
        if columns > self.codes.shape[1]:
            self.codes = np.empty((2, columns), np.uint32)
        if values > len(self.values):
            self.values = np.empty(values, np.uint64)
        if rows > len(self.ends):
            self.ends = np.empty(rows, np.int64)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.codes, self.normal, self.hashes, self.counts, self.values, self.ends


def shingle(texts: Any, config: Config, *, threads: int | None = None, strict: bool = False) -> Shingles:
    """The shingle sets of a list of str or an Arrow string array, in order."""
    return Shingler(config, strict).shingle(column(texts), threads)


def spans(text: str, config: Config) -> NDArray[np.int64]:
    """Where each unit (word or character) of a text is in it: byte offsets [first, last) into its UTF-8 form, int64 (units, 2).

    Shingle i is units i to i + width - 1; it covers spans[i, 0] to spans[i + width - 1, 1] of the original, before any normalising.
    """
    data = column([text])
    known = tables(config.case)
    room, columns = kernels.scratch_room(*data, 0, 1, known)
    normal, origins = np.empty(room + SLACK, np.uint8), np.empty((2, room + SLACK), np.int64)
    mode = Shingler(config).mode
    length, _ = normalise.normalise(data.text, 0, data.offsets[1], known, mode, np.empty((2, columns), np.uint32), normal, origins)
    out = np.empty((length, 2), np.int64)
    return out[: kernels.unit_spans(normal, length, mode, origins, out)]
