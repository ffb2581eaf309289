"""Shingle sets as the exact join wants them: equal sets once, and of each set only what another one could share, as small numbers in order of rarity."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.documents.shingles import Shingles
from twinset.kernels import joining
from twinset.kernels import tokens as kernels
from twinset.parallel import Range, ranges, spread

Whole = NDArray[np.int64]
Done = Callable[[int], None]  # told of rows that are done with

STEP = 1 << 18  # values that a thread takes at a time
UNIT = 1 << 16  # values that are numbered at a time: their table fits the second-level cache
VISIT = 4  # values of a row in a unit, at least on average, to make a visit to the row worth it
SPANS, SPAN = 8, 1 << 24  # ranges of values that threads take at a time: so many at least, and of no more than about so many values
SHRUNK = 0.75  # ids are forgotten again and again, while less than this share of them remains


@dataclass(frozen=True)
class Classes:
    """Rows with equal sets. Class c has the rows members[starts[c]:starts[c + 1]], ascending; classes are ordered by their first row. Empty rows are in none, -1."""

    of: Whole
    starts: Whole
    members: Whole

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def firsts(self) -> Whole:
        return self.members[self.starts[:-1]]


@dataclass(frozen=True)
class Tokens:
    """Sets that may have a partner, ordered by size: their classes and sizes. Row r is tokens[offsets[r]:offsets[r + 1]]: what others have too, rare ones first."""

    rows: Whole
    sizes: Whole
    offsets: Whole
    tokens: NDArray[Any]  # int32, or int64 if there are too many


def classes(shingles: Shingles, border: int, threads: int | None, done: Done) -> Classes:
    """The classes of equal sets. Rows on different sides of the border are in different ones; so may be rows of one hash with a row that differs."""
    n, values, offsets = len(shingles), shingles.values, shingles.offsets
    hashes = np.empty(n, np.uint64)

    def prepare() -> Callable[[int, int], None]:
        def work(first: int, last: int) -> None:
            kernels.hash_rows(values, offsets, first, last, hashes)
            done(last - first)

        return work

    spread(ranges(offsets, STEP, STEP), prepare, threads)
    sides = np.arange(n) >= border
    order = np.lexsort((hashes, sides))
    order = order[shingles.sizes[order] > 0]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (hashes[order][1:] != hashes[order][:-1]) | (sides[order][1:] != sides[order][:-1])
    first_of = np.full(n, -1)
    first_of[order] = order[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    repeats = np.flatnonzero((first_of >= 0) & (first_of != np.arange(n)))
    same = np.empty(len(repeats), bool)
    spread(pieces(len(repeats)), lambda: lambda first, last: kernels.compare_rows(values, offsets, first_of[repeats], repeats, first, last, same), threads)
    first_of[repeats[~same]] = repeats[~same]
    return _numbered(first_of)


def _numbered(first_of: Whole) -> Classes:
    """Classes from the first row of each row's class."""
    rows = np.flatnonzero(first_of >= 0)
    firsts = np.flatnonzero(first_of == np.arange(len(first_of)))
    of = np.full(len(first_of), -1)
    of[firsts] = np.arange(len(firsts))
    of[rows] = of[first_of[rows]]
    order, starts = grouped(of[rows], len(firsts))
    return Classes(of, starts, rows[order])


def grouped(keys: Whole, count: int) -> tuple[Whole, Whole]:
    """The indices of `keys`, which are below `count`, by key and then in order; and where each key begins among them."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(keys, minlength=count))])
    order = np.empty(len(keys), np.int64)
    joining.place(keys, starts.copy(), order)
    return order, starts


def shared_out(units: int, rows: int, done: Done) -> Callable[[int, int], None]:
    """A function to be called with each range of `rows` rows when it is done: together they make `units` units."""
    if rows == 0:
        done(units)
    return lambda first, last: done(units * last // rows - units * first // rows)


def shares(sizes: Whole) -> list[Range]:
    """Ranges of rows with about STEP values each."""
    return ranges(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), STEP, STEP)


def pieces(rows: int, step: int = 1 << 12) -> list[Range]:
    """Ranges of at most `step` rows."""
    return [(first, min(first + step, rows)) for first in range(0, rows, step)]


def tokens(shingles: Shingles, firsts: Whole, border: int, threshold: float, threads: int | None, done: Done) -> Tokens:
    """The tokens of the sets in the rows `firsts`, of which the first `border` are on the other side; sets that can have no partner are left out."""
    sets = _Sets(shingles.offsets[firsts], shingles.offsets[firsts + 1], border, threads)
    ids, numbers, kept = sets.number(shingles.values, len(shingles), done)
    needs, _ = demands(sets.sizes, threshold)
    rows = np.flatnonzero(kept >= needs)
    kept = kept[rows]
    while True:
        frequency = sets.frequency(ids, numbers, rows)
        left = sets.forget(ids, rows, frequency)
        before, alive = kept.sum(), left >= needs[rows]
        rows, kept = rows[alive], left[alive]
        if kept.sum() >= SHRUNK * before:
            break
    return sets.arrange(ids, rows, kept, ranks(frequency.sum(1)))


@dataclass(frozen=True)
class _Sets:
    """Rows values[begins[r]:ends[r]], those below the border on the other side."""

    begins: Whole
    ends: Whole
    border: int
    threads: int | None

    @property
    def sizes(self) -> Whole:
        return self.ends - self.begins

    def number(self, values: NDArray[np.uint64], work: int, done: Done) -> tuple[NDArray[Any], int, Whole]:
        """A number for each value that others share, -1 for the rest; how many numbers there are; how many values of each row have one. `done` hears of `work` in all."""
        total, rows = int(self.sizes.sum()), len(self.begins)
        ids = np.empty(len(values), np.int32 if len(values) < 1 << 31 else np.int64)
        bounds = limits(values, max(1, min(total // UNIT, total // max(1, VISIT * rows))))
        units = len(bounds) - 1
        spans = np.linspace(0, units, min(units, max(SPANS, total // SPAN)) + 1).astype(np.int64).tolist()
        finished = shared_out(work, units, done)
        used: dict[int, tuple[int, int]] = {}  # by the first unit of a span: its first number, and how many it has

        def prepare() -> Callable[[int, int], None]:
            room, cursors, stops = _Room(), np.empty(rows, np.int64), np.empty(rows, np.int64)

            def go(first: int, last: int) -> None:
                nonlocal cursors, stops
                kernels.find(values, self.begins, self.ends, bounds[first], cursors)
                base, numbered = int((cursors - self.begins).sum()), 0
                for unit in range(first, last):
                    if unit + 1 == units:
                        stops[:] = self.ends
                        passed = int((stops - cursors).sum())
                    else:
                        passed = kernels.reach(values, cursors, self.ends, bounds[unit + 1], stops)
                    numbered += kernels.number(values, cursors, stops, self.border, *room.arrays(passed), base + numbered, ids)
                    cursors, stops = stops, cursors
                used[first] = base, numbered
                finished(first, last)

            return go

        spread(pairwise(spans), prepare, self.threads)
        bases, numbers = np.array([used[first] for first in spans[:-1]], np.int64).T
        return ids, int(numbers.sum()), self._close_gaps(ids, bases, bases - np.cumsum(numbers) + numbers)

    def _close_gaps(self, ids: NDArray[Any], bases: Whole, gaps: Whole) -> Whole:
        kept, bases = np.empty(len(self.begins), np.int64), np.append(bases, np.iinfo(np.int64).max)
        spread(shares(self.sizes), lambda: lambda first, last: kernels.close_gaps(ids, self.begins, self.ends, bases, gaps, first, last, kept), self.threads)
        return kept

    def frequency(self, ids: NDArray[Any], numbers: int, rows: Whole) -> NDArray[np.int32]:
        """In how many of the rows each id is, on either side. One thread: two could count up one id at once."""
        out = np.zeros((numbers, 2), np.int32)
        spread(shares(self.sizes[rows]), lambda: lambda first, last: kernels.tally(ids, self.begins, self.ends, self.border, rows, first, last, out), 1)
        return out

    def forget(self, ids: NDArray[Any], rows: Whole, frequency: NDArray[np.int32]) -> Whole:
        """Forget the ids that no pair of these rows shares. How many are left in each row."""
        out = np.empty(len(rows), np.int64)
        work = shares(self.sizes[rows])
        spread(work, lambda: lambda first, last: kernels.forget(ids, self.begins, self.ends, self.border, rows, first, last, frequency, out), self.threads)
        return out

    def arrange(self, ids: NDArray[Any], rows: Whole, kept: Whole, rank: NDArray[Any]) -> Tokens:
        """The rows by size, their ids by rank."""
        order = np.argsort(self.sizes[rows], kind="stable")
        rows, kept = rows[order], kept[order]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        out = np.empty(offsets[-1], rank.dtype)
        spread(shares(kept), lambda: lambda first, last: kernels.arrange(ids, self.begins, self.ends, rank, rows, first, last, offsets, out), self.threads)
        return Tokens(rows, self.sizes[rows], offsets, out)


class _Room:
    """The scratch space of one thread for numbering, kept from unit to unit."""

    def __init__(self) -> None:
        self.state, self.keys, self.labels = np.empty(0, np.uint8), np.empty(0, np.uint64), np.empty(0, np.int32)

    def arrays(self, values: int) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int32]]:
        cells = 1 << (3 * values // 2 + 1).bit_length()
        if cells > len(self.state):
            self.state, self.keys, self.labels = np.empty(cells, np.uint8), np.empty(cells, np.uint64), np.empty(cells, np.int32)
        return self.state[:cells], self.keys[:cells], self.labels[:cells]


def limits(values: NDArray[np.uint64], units: int) -> NDArray[np.uint64]:
    """Bounds of ranges with about equally many values each, `units` or fewer. The last range has no upper bound: its bound stands for the end."""
    sample = np.sort(values[:: max(1, len(values) // (units * 64))])
    bounds = np.unique(sample[np.arange(1, units) * len(sample) // units])
    return np.concatenate([np.zeros(1, np.uint64), bounds[bounds > 0], np.zeros(1, np.uint64)])


def ranks(frequency: NDArray[Any]) -> NDArray[Any]:
    """The place of each id that occurs in the order of frequency. Those beyond 65535 count as equal, for a short sort: any order would do."""
    used = np.flatnonzero(frequency)
    rank = np.empty(len(frequency), np.int32 if len(used) < 1 << 31 else np.int64)
    rank[used[np.argsort(np.minimum(frequency[used], 65535).astype(np.uint16), kind="stable")]] = np.arange(len(used))
    return rank


def demands(sizes: Whole, threshold: float) -> tuple[Whole, Whole]:
    """What each of the sets must share: with a set of any size, with one at least as large."""
    any_size, same_size = np.empty((2, len(sizes)), np.int64)
    joining.least_shared(sizes, threshold, any_size, same_size)
    return any_size, same_size
