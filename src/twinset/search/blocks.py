"""`blocks`: block-permuted Hamming search (Manku, Jain and Das Sarma; BPHS). Exact."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption
from twinset.kernels import hamming
from twinset.kernels.hamming import LATER, OPEN, OTHERS, Runs
from twinset.parallel import spread
from twinset.rows import checked
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.search.runs import CHUNK, NONE_GONE, Buffer, Pair, Words, byte_count, checked_distance, chunks, gathered, log2, sort_runs, stored_rows
from twinset.sketch.fingerprints import Fingerprints

WORD = 64
EVERY = np.arange(CHUNK, dtype=np.uint32)

Asking = tuple[Words, Rows, Words | None]  # queries, their rows, and the moves that permute them if they are not yet
Work = Callable[[int, int], None]


class Blocks:
    """Finds fingerprints that differ in at most `distance` bits, all of them.

    Fingerprints are cut into `blocks` blocks, and of any two that differ in so few bits at least `blocks - distance` blocks agree: for every choice of `header`
    blocks there is a copy of the set, permuted and sorted so that those lead. With `first` a query stops at its first match. With `table=False` runs are
    found by halving and scanned word by word, as in the papers; otherwise by a table of headers and eight words at a time.
    """

    def __init__(self, fingerprints: Fingerprints, distance: int = 3, *, blocks: int = 4, header: int = 1, first: bool = False, table: bool = True) -> None:
        bits = fingerprints.bits
        checked_distance(distance, bits)
        if not 1 <= blocks <= bits:
            raise BadOption(f"blocks is {blocks}; allowed: 1 to {bits}, the bits of a fingerprint")
        if not 1 <= header <= blocks - distance:
            raise BadOption(
                f"header is {header} of {blocks} blocks; allowed at distance {distance}: from 1 up to blocks - distance = {blocks - distance}, so more than {distance} blocks"
            )
        self.fingerprints, self.distance, self.first = fingerprints, distance, first
        self.blocks, self.header = blocks, header
        self._gone = NONE_GONE
        found = layouts(bits, blocks, header)
        self._masks, self._moves = [masks for masks, _ in found], [moves for _, moves in found]
        self._runs = [self._sorted(table, i) for i in range(len(found))]

    @property
    def about(self) -> str:
        how = "a table of headers" if len(self._runs[0].table) else "halving"
        found = "the first match of each row" if self.first else "all pairs"
        return f"blocks: {found} within {self.distance} bits, by {self.header} of {self.blocks} blocks leading in {len(self._runs)} sorted copies and {how}; nothing is missed"

    @property
    def nbytes(self) -> int:
        """Bytes of memory that look-ups read: sorted copies, row numbers and tables."""
        return byte_count(self._runs)

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that a pair at this Hamming distance becomes a candidate: 1 or 0 (with `first`, that a row's match is found)."""
        return np.where(np.asarray(similarity) <= self.distance, 1.0, 0.0)

    def remove(self, rows: ArrayLike) -> None:
        """Leave these rows out of all further answers. Their memory stays in use."""
        gone = np.zeros(len(self.fingerprints), np.uint8) if not len(self._gone) else self._gone.copy()
        gone[checked(rows, len(gone)).reshape(-1)] = 1
        self._gone = gone

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set; with `first`, for each row that has a match one of them."""
        asking = [self._asking(runs) for runs in self._runs]
        return gathered(self._search(asking, len(self.fingerprints), OTHERS if self.first else LATER, threads, progress))

    def query(self, new: Fingerprints, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs between the rows of `new` (left) and those of the set (right); with `first`, one for each row of `new` that has a match."""
        self.fingerprints.compatible(new)
        rows = np.flatnonzero(~new.empty)
        asking: list[Asking] = [(new.words, rows, moves) for moves in self._moves]
        return gathered(self._search(asking, len(new), OPEN, threads, progress), ordered=True)

    def _sorted(self, table: bool, i: int) -> Runs:
        rows = stored_rows(self.fingerprints)
        words = np.empty((len(rows), self.fingerprints.config.words), np.uint64)
        hamming.permute(self.fingerprints.words, rows, 0, len(rows), self._moves[i], words)
        return sort_runs(words, rows, self._header_bits(table, len(rows), self._masks[i]), tabled=table)

    def _header_bits(self, table: bool, rows: int, masks: Words) -> int:
        """Halving uses the whole header, as far as it lies in the first word; a table has no more entries than there are rows."""
        bits = min(int(np.bitwise_count(masks[0]).sum()), WORD)
        return min(bits, log2(rows)) if table else bits

    def _asking(self, runs: Runs) -> Asking:
        """The sorted rows as queries of their own copy: neighbours in it share cache lines."""
        heads, rows = runs.heads[: len(runs.rows), None], runs.rows.astype(np.int64)
        words = np.concatenate([heads, runs.tails], axis=1) if runs.tails.shape[1] else heads
        if len(self._gone):
            kept = self._gone[rows] == 0
            words, rows = words[kept], rows[kept]
        return words, rows, None

    def _search(self, asking: list[Asking], names: int, which: int, threads: int | None, progress: Progress | None) -> list[Pair]:
        """Copy after copy, so that with `first` a match in one spares the look-ups in those that follow, whatever the threads."""
        found, pieces = np.zeros(names, np.uint8), list[Pair]()
        done = counted(progress, sum(len(numbers) for _, numbers, _ in asking))
        for i, asked in enumerate(asking):
            prepare = self._prepare(i, asked, found, which, pieces, done)
            spread(chunks(len(asked[1])), prepare, threads)
        return pieces

    def _prepare(self, i: int, asking: Asking, found: NDArray[np.uint8], which: int, pieces: list[Pair], done: Callable[[int], None]) -> Callable[[], Work]:
        runs, (words, numbers, moves) = self._runs[i], asking
        rules = (self.first, which, self._masks[i], self._gone)
        distance, nothing = np.uint64(self.distance), np.zeros(CHUNK, np.uint32)

        def prepare() -> Work:
            buffer, differing = Buffer(), np.empty(words.shape[1], np.uint64)
            permuted = np.empty((CHUNK, words.shape[1]), np.uint64)

            def work(first: int, last: int) -> None:
                if moves is None:
                    asked = words[first:last]
                else:
                    hamming.permute(words, numbers, first, last, moves, permuted)
                    asked = permuted[: last - first]
                rest = distance, rules, found, differing

                def step(begin: int, left: Rows, right: Rows) -> tuple[int, int]:
                    if len(runs.table):
                        result: tuple[int, int] = hamming.look_up(asked, numbers[first:last], EVERY, nothing, begin, last - first, runs, *rest, left, right)
                    else:
                        result = hamming.search(asked, numbers[first:last], begin, last - first, runs, *rest, left, right)
                    return result

                pieces.extend(buffer.pieces(step, last - first, runs.rows))
                done(last - first)

            return work

        return prepare


def layouts(bits: int, blocks: int, header: int) -> list[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
    """For each choice of `header` blocks to lead: the masks and the moves that the kernels take.

    Masks (tables so far, words), in the permuted order: bits of this header, then of the headers of the tables before it, so that each pair is reported by one table.
    """
    edges = [bits * i // blocks for i in range(blocks + 1)]
    choices = list(combinations(range(blocks), header))
    result = []
    for i, chosen in enumerate(choices):
        order = [*chosen, *(block for block in range(blocks) if block not in chosen)]
        places = dict(zip(order, np.cumsum([0, *(edges[block + 1] - edges[block] for block in order)]).tolist(), strict=False))
        moves = [move for block in order for move in _moves(edges[block], places[block], edges[block + 1] - edges[block])]
        spans = [[(places[block], edges[block + 1] - edges[block]) for block in each] for each in (chosen, *choices[:i])]
        result.append((np.array([_mask(bits, span) for span in spans], np.uint64), np.array(moves, np.uint64)))
    return result


def _moves(source: int, target: int, count: int) -> Iterator[tuple[int, ...]]:
    """A range of bits, counted from the highest of the first word, in pieces that cross no boundary between words."""
    while count:
        size = min(count, WORD - source % WORD, WORD - target % WORD)
        yield source // WORD, WORD - size - source % WORD, (1 << size) - 1, target // WORD, WORD - size - target % WORD
        source, target, count = source + size, target + size, count - size


def _mask(bits: int, spans: list[tuple[int, int]]) -> list[int]:
    ones = sum(((1 << count) - 1) << (bits - place - count) for place, count in spans)
    return [ones >> (bits - WORD * (w + 1)) & ((1 << WORD) - 1) for w in range(bits // WORD)]
