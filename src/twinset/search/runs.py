"""Fingerprints sorted by header, and look-ups in them by many threads."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from twinset.errors import BadOption
from twinset.kernels import hamming
from twinset.kernels.hamming import Runs
from twinset.parallel import go_on
from twinset.search.candidates import Candidates, Rows
from twinset.sketch.fingerprints import Fingerprints

LINE = 8  # words of a cache line
DIGIT = 11  # bits of a radix pass: 2048 places to write to stay in the first-level cache's reach
CHUNK = 4096  # queries of a piece of work: tens of milliseconds at most
ROOM = 1 << 14  # pairs of a thread's buffer; it grows when the pairs of one look-up do not fit
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
MOST_ROWS = (1 << 32) - 1  # rows are kept in 32 bits
NONE_GONE = np.zeros(0, np.uint8)

Words = NDArray[np.uint64]
Pair = tuple[Rows, Rows]
Step = Callable[[int, Rows, Rows], tuple[int, int]]


def log2(count: int) -> int:
    """The whole part of the logarithm, 0 for no rows."""
    return max(count, 1).bit_length() - 1


def checked_distance(distance: int, bits: int) -> None:
    if not 0 <= distance < bits:
        raise BadOption(f"distance is {distance}; allowed: 0 to {bits - 1}, less than the {bits} bits of a fingerprint")


def stored_rows(fingerprints: Fingerprints) -> NDArray[np.uint32]:
    """The rows that can match: those of documents that have features."""
    if len(fingerprints) > MOST_ROWS:
        raise BadOption(f"there are {len(fingerprints)} fingerprints; allowed: {MOST_ROWS} in one search")
    return np.flatnonzero(~fingerprints.empty).astype(np.uint32)


def with_slack(words: Words) -> Words:
    """A copy at the beginning of a cache line, followed by what fills its last line."""
    room = np.zeros(len(words) + 2 * LINE, np.uint64)
    begin = -room.ctypes.data // 8 % LINE
    room[begin : begin + len(words)] = words
    return room[begin : begin + -(-len(words) // LINE) * LINE]


def sort_runs(words: Words, rows: NDArray[np.uint32], bits: int, *, tabled: bool = True) -> Runs:
    """Sort fingerprints (n, words) of these rows by their first `bits` bits, stably, and tabulate where each run of equal headers begins. `words` and `rows` are used up."""
    current = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1:]), rows
    spare = np.empty_like(current[0]), np.empty_like(current[1]), np.empty_like(rows)
    passes, done = -(-bits // DIGIT), 0
    for each in range(passes):
        digit = bits // passes + (each < bits % passes)
        hamming.spread_digit(*current, 64 - bits + done, digit, np.empty(1 << digit, np.int64), *spare)
        current, spare, done = spare, current, done + digit
    table = np.zeros((1 << bits) + 1 if tabled else 0, np.uint32)
    if tabled:
        hamming.tabulate(current[0], len(rows), bits, table)
    return Runs(with_slack(current[0]), current[1], current[2], table, bits)


def byte_count(runs: Iterable[Runs]) -> int:
    """Bytes of memory that look-ups read."""
    return sum(each.heads.nbytes + each.tails.nbytes + each.rows.nbytes + each.table.nbytes for each in runs)


class Buffer:
    """A thread's room for pairs: takes what a kernel writes until there is no more to come."""

    def __init__(self) -> None:
        self.left, self.right = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)

    def pieces(self, step: Step, last: int, rows: NDArray[np.uint32]) -> list[Pair]:
        """Call step(first, left, right) -> (the next first, pairs written) from 0 until `last` is reached; what is written to the right are places of `rows`."""
        result, first = [], 0
        while first < last:
            first, count = step(first, self.left, self.right)
            if count:
                result.append((self.left[:count].copy(), rows[self.right[:count]].astype(np.int64)))
                go_on()
            elif first < last:
                self.left, self.right = np.empty(2 * len(self.left), np.int64), np.empty(2 * len(self.left), np.int64)
        return result


def gathered(pieces: list[Pair], *, ordered: bool = False) -> Candidates:
    """As `Candidates.gather`, of rows that fit 32 bits: sorting one number for a pair is ten times faster than sorting two."""
    left, right = (np.concatenate([np.zeros(0, np.int64), *(piece[side] for piece in pieces)]) for side in (0, 1))
    if not ordered:
        left, right = np.minimum(left, right), np.maximum(left, right)
    both = np.sort(left.astype(np.uint64) << HALF | right.astype(np.uint64))
    fresh = np.ones(len(both), bool)
    fresh[1:] = both[1:] != both[:-1]
    both = both[fresh]
    return Candidates((both >> HALF).astype(np.int64), (both & LOW).astype(np.int64))


def chunks(count: int) -> list[tuple[int, int]]:
    return [(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
