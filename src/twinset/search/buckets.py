"""Rows into buckets, band by band, and buckets into pairs: the machinery behind `bands`.

Band by band, so that memory is a fraction of the sketches: keys of a few bands at a time, rows put together by key, pairs compared where they lie. A bucket that
is too large to compare in the cache is set aside, and joined afterwards in whichever of two ways is cheaper (docs/decisions/013-bands.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.kernels import banding as kernels
from twinset.kernels.agreement import TOGETHER, WIDE
from twinset.kernels.buckets import FEW, HEAD, join_block, join_buckets
from twinset.layout import WORD, Layout
from twinset.parallel import Range, spread, thread_count
from twinset.search.candidates import Rows
from twinset.sketch.seeds import splitmix64

Words = NDArray[np.uint64]
Samples = list[Rows]  # for each band the samples it consists of, numbered through the layout

TILE = 1 << 17  # words of heads that stay in the second-level cache
FEWEST, MOST = 512, 1 << 14  # columns of a tile
CHUNK = 1 << 16  # entries, or rows, of a piece of work
PARTITION = 512  # entries that a partition should have
SHARE = 16  # keys and entries take at most this part of the sketches, or what two bands take
SALT = 0x62616E6473  # any seed: keys change no result
PLANES = 32  # of wide samples that enter a key, at least
KEY_BITS = 64


@dataclass(frozen=True)
class Sides:
    """Rows to join: those of `left` among themselves if there is no `right`; else each of `left` with each of `right`, whose rows are numbered on from those of left."""

    left: Words
    right: Words | None = None

    @property
    def shift(self) -> int:
        return 0 if self.right is None else len(self.left)

    @property
    def width(self) -> int:
        return int(self.left.shape[1])

    @property
    def total(self) -> int:
        """Rows of both sides."""
        return len(self.left) + (0 if self.right is None else len(self.right))

    @property
    def nbytes(self) -> int:
        return self.left.nbytes + (0 if self.right is None else self.right.nbytes)

    def split(self, rows: Rows) -> int:
        """How many of these ascending rows are of the left side."""
        return len(rows) if self.right is None else int(np.searchsorted(rows, self.shift))

    def pairs(self, rows: Rows) -> int:
        """How many pairs these rows make."""
        left = self.split(rows)
        return left * (left - 1) // 2 if self.right is None else left * (len(rows) - left)


@dataclass(frozen=True)
class Bucket:
    """Rows that share the key of a band, ascending."""

    band: int
    rows: Rows


class Slices:
    """Bands of a layout as blocks and masks: what the kernels read."""

    def __init__(self, layout: Layout, bands: Samples, room: int) -> None:
        self.layout, self.bands, self.room = layout, bands, room
        blocks = [(word, part.bits) for part, first in zip(layout.components, _first_words(layout), strict=True) for word in range(first, first + part.words, part.bits)]
        self.blocks = np.array(blocks, np.int64)
        self.planes = min(HEAD, *(part.bits for part in layout.components))
        self.block_of, self.bit_of = _places(layout)
        pieces = [self._masks(samples) for samples in bands]
        self.begins = np.cumsum([0, *(len(places) for places, _ in pieces)], dtype=np.int64)
        self.places = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in pieces)])
        self.masks = np.concatenate([np.zeros(0, np.uint64), *(masks for _, masks in pieces)])

    def _masks(self, samples: Rows) -> tuple[Rows, Words]:
        places, inverse = np.unique(self.block_of[samples], return_inverse=True)
        masks = np.zeros(len(places), np.uint64)
        np.bitwise_or.at(masks, inverse, np.uint64(1) << self.bit_of[samples])
        return places.astype(np.int64), masks

    @property
    def rule(self) -> tuple[Any, ...]:
        """As in kernels/buckets.py."""
        return self.blocks, self.room, self.begins, self.places, self.masks, self.planes

    @property
    def head_words(self) -> int:
        return self.planes * len(self.blocks)

    def for_keys(self, first: int, last: int) -> tuple[Any, ...]:
        """What `band_keys` reads of bands first to last - 1: blocks, begins, masks, bands, salts."""
        chosen = np.arange(self.begins[first], self.begins[last])
        order = chosen[np.argsort(self.places[chosen], kind="stable")]
        rows = min(len(samples) for samples in self.bands[first:last])
        touched, counts = np.unique(self.places[order], return_counts=True)
        blocks = self.blocks[touched]
        blocks[:, 1] = np.minimum(blocks[:, 1], max(PLANES, -(-KEY_BITS // rows)))
        bands = np.searchsorted(self.begins, order, side="right") - 1 - first
        return blocks, np.cumsum([0, *counts], dtype=np.int64), self.masks[order], bands, splitmix64(SALT, self.layout.words)

    def refined(self, band: int, extra: Samples) -> "Slices":
        """The bands before `band`, then `band` with the samples of each of `extra` added: what splits one of its buckets."""
        return Slices(self.layout, self.bands[:band] + [np.concatenate([self.bands[band], samples]) for samples in extra], self.room)


class Joiner:
    """Joins rows by bands with some number of threads. The pairs are added to `pieces`, as uint64 left << 32 | right, each of them once."""

    def __init__(self, sides: Sides, threads: int | None, done: Callable[[int], None]) -> None:
        self.sides, self.threads, self.done = sides, thread_count(threads), done
        self.pieces: list[Words] = []

    def join(self, rows: Rows, slices: Slices, first: int, last: int, larger: Callable[[list[Bucket]], None]) -> None:
        """Join ascending `rows` by bands first to last - 1. Buckets too large for a tile are handed to `larger`, those of a few bands at a time."""
        together = max(2, self.sides.nbytes // max(1, SHARE * 16 * len(rows)))
        for begin in range(first, last, together):
            end = min(begin + together, last)
            entries, starts = self._entries(rows, slices, begin, end)
            large = self._join_entries(entries, starts, slices, begin)
            larger(sorted(large, key=lambda bucket: (bucket.band, bucket.rows[0])))
            del entries  # before the next ones are made

    def keys(self, rows: Rows, slices: Slices, first: int, last: int) -> Words:
        """The keys of bands first to last - 1 (bands, rows)."""
        out = np.empty((last - first, len(rows)), np.uint64)
        split = self.sides.split(rows)
        self._side_keys(self.sides.left, rows[:split], slices, first, last, out[:, :split])
        if self.sides.right is not None:
            self._side_keys(self.sides.right, rows[split:] - self.sides.shift, slices, first, last, out[:, split:])
        return out

    def _side_keys(self, words: Words, rows: Rows, slices: Slices, first: int, last: int, out: Words) -> None:
        def prepare() -> Callable[[int, int], None]:
            read = slices.for_keys(first, last)

            def work(begin: int, end: int) -> None:
                kernels.band_keys(words, rows, begin, end, *read, out)  # type: ignore[call-arg]
                self.done(0)

            return work

        spread(_chunks(len(rows), CHUNK), prepare, self.threads)

    def _entries(self, rows: Rows, slices: Slices, first: int, last: int) -> tuple[Words, NDArray[np.int64]]:
        """Entries (bands, rows) put together by the highest bits of their keys, and where the partitions start."""
        keys = self.keys(rows, slices, first, last)
        return partitioned(keys, rows, self.threads)

    def _join_entries(self, entries: Words, starts: NDArray[np.int64], slices: Slices, first: int) -> list[Bucket]:
        large: list[Bucket] = []

        def prepare() -> Callable[[int, int], None]:
            scratch, out, join = self._scratch(slices), np.empty(max(FEW, TOGETHER * tile_columns(slices)), np.uint64), self._arguments(slices)
            room, counts = np.empty(int(np.diff(starts, axis=1).max(initial=0)), np.uint64), np.empty((4, 256), np.int64)
            noted = np.empty((entries.shape[1] // FEWEST + 2, 2), np.int64)

            def work(unit: int, _: int) -> None:
                band, chunk = divmod(unit, chunks)
                begin, end = edges[band][chunk], edges[band][chunk + 1]
                kernels.sort_partitions(entries[band], starts[band], begin, end, room, counts)
                place, last = starts[band, begin], starts[band, end]
                self.done(int(last - place))
                row, found = place, 0
                while place < last:
                    place, row, written, found = join_buckets(entries[band], place, row, last, first + band, *join, scratch, out, noted, found)  # type: ignore[call-arg]
                    self.pieces.append(out[:written].copy())
                    self.done(0)
                large.extend(Bucket(first + band, (entries[band, a:b] & kernels.LOW).astype(np.int64)) for a, b in noted[:found])

            return work

        chunks = max(1, entries.shape[1] // CHUNK)
        edges = [_edges(each, chunks) for each in starts]
        spread([(unit, unit + 1) for unit in range(chunks * len(entries))], prepare, self.threads)
        return large

    def compare(self, bucket: Bucket, slices: Slices) -> None:
        """Compare every pair of a large bucket, tile by tile."""
        rows, split = bucket.rows.astype(np.uint64), self.sides.split(bucket.rows)
        begin, columns = 0 if self.sides.right is None else split, tile_columns(slices)
        units = [(row, column) for column in range(begin, len(rows), columns) for row in range(0, split, CHUNK // 16) if self.sides.shift or row < column + columns]

        def prepare() -> Callable[[int, int], None]:
            scratch, out, join = self._scratch(slices), np.empty(TOGETHER * columns, np.uint64), self._arguments(slices)

            def work(row: int, column: int) -> None:
                end = min(column + columns, len(rows))
                last = min(row + CHUNK // 16, split, split if self.sides.shift else end)
                while row < last:
                    row, written = join_block(rows, row, last, column, end, bucket.band, *join, scratch, 0, out)  # type: ignore[call-arg]
                    self.pieces.append(out[:written].copy())
                    self.done(0)

            return work

        spread(units, prepare, self.threads)

    def _arguments(self, slices: Slices) -> tuple[Any, ...]:
        right = self.sides.left if self.sides.right is None else self.sides.right
        return self.sides.left.reshape(-1), right.reshape(-1), self.sides.width, self.sides.shift, slices.rule

    def _scratch(self, slices: Slices) -> tuple[Words, ...]:
        columns = tile_columns(slices)
        tile = np.empty((columns // WIDE, slices.head_words, WIDE), np.uint64)
        return tile, np.empty((TOGETHER, slices.head_words), np.uint64), np.empty(len(slices.blocks), np.uint64)


def partitioned(keys: Words, rows: Rows, threads: int | None) -> tuple[Words, NDArray[np.int64]]:
    """Entries (bands, rows) and starts (bands, partitions + 1) of keys (bands, rows)."""
    bits = min(max(1, (len(rows) // PARTITION).bit_length()), 12)
    entries, starts = np.empty_like(keys), np.empty((len(keys), (1 << bits) + 1), np.int64)
    spread([(band, band + 1) for band in range(len(keys))], lambda: lambda band, _: kernels.partition(keys[band], rows, bits, starts[band], entries[band]), threads)
    return entries, starts


def leaders(words: Words, rows: Rows, layout: Layout, threads: int | None, done: Callable[[int], None]) -> Rows:
    """For each row of `rows`, the first of them whose packed sketch is the same."""
    out = np.arange(len(words))
    whole = Slices(layout, [np.arange(layout.samples)], layout.samples)
    joiner = Joiner(Sides(words), threads, done)
    entries, starts = partitioned(joiner.keys(rows, whole, 0, 1), rows, threads)
    chunks = max(1, len(rows) // CHUNK)
    edges = _edges(starts[0], chunks)

    def prepare() -> Callable[[int, int], None]:
        room, counts = np.empty(int(np.diff(starts[0]).max(initial=0)), np.uint64), np.empty((4, 256), np.int64)

        def work(first: int, last: int) -> None:
            kernels.sort_partitions(entries[0], starts[0], first, last, room, counts)
            kernels.collapse(words, entries[0], starts[0, first], starts[0, last], out)
            done(int(starts[0, last] - starts[0, first]))

        return work

    spread([(int(edges[i]), int(edges[i + 1])) for i in range(chunks)], prepare, threads)
    return out


def tile_columns(slices: Slices) -> int:
    """How many rows' heads a tile holds; a bucket of more columns is a large one."""
    return int(min(max(TILE // slices.head_words, FEWEST), MOST) // WIDE * WIDE)


def _chunks(rows: int, step: int) -> list[Range]:
    return [(first, min(first + step, rows)) for first in range(0, rows, step)]


def _edges(starts: NDArray[np.int64], chunks: int) -> NDArray[np.int64]:
    """Partition numbers that cut the partitions into `chunks` runs of about as many entries."""
    wanted = starts[-1] * np.arange(chunks + 1) // chunks
    edges: NDArray[np.int64] = np.searchsorted(starts, wanted)
    edges[0], edges[-1] = 0, len(starts) - 1
    return edges


def _first_words(layout: Layout) -> list[int]:
    return [sum(part.words for part in layout.components[:i]) for i in range(len(layout.components))]


def _places(layout: Layout) -> tuple[Rows, Words]:
    """The block and the bit of each sample."""
    blocks, bits, first = [], [], 0
    for part in layout.components:
        samples = np.arange(part.samples)
        blocks.append(first + samples // WORD)
        bits.append((samples % WORD).astype(np.uint64))
        first += -(-part.samples // WORD)
    return np.concatenate(blocks), np.concatenate(bits)
