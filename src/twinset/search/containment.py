"""Every pair of sets one of which holds a stated share of the other: partial copies, however long what they were put into."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.documents.shingles import Shingles
from twinset.errors import BadOption
from twinset.kernels import containing
from twinset.parallel import go_on, spread
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.search.exact import Found

ROWS = 1 << 6  # rows that a thread looks up at a time
ROOM = 1 << 16
ROUNDING = 1e-9


@dataclass(frozen=True)
class _Ranked:
    """What rows share with another one, numbered by rarity, and the rows of each token."""

    tokens: NDArray[np.int64]
    offsets: Rows
    heads: Rows
    postings: Rows


class ContainmentJoin:
    """All pairs with |A ∩ B| >= threshold * min(|A|, |B|). Nothing is missed; an empty row is in no pair."""

    def __init__(self, shingles: Shingles, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise BadOption(f"threshold is {threshold}; allowed: above 0, at most 1")
        self.shingles, self.threshold = shingles, float(threshold)

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set."""
        return self.join_shared(threads=threads, progress=progress).pairs

    def query(self, new: Shingles, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs of a row of `new` (left) and a row of the set (right)."""
        old = self.shingles
        found = ContainmentJoin(old.followed_by(new), self.threshold).join_shared(border=len(old), threads=threads, progress=progress).pairs
        across = found[found.left < len(old)]
        return Candidates.gather([(across.right - len(old), across.left)], ordered=True)

    def join_shared(self, *, border: int = 0, threads: int | None = None, progress: Progress | None = None) -> Found:
        """As `join`, with what each pair shares; of pairs of two rows below the border none."""
        shingles, rows = self.shingles, len(self.shingles)
        sets = _ranked(shingles)
        needs = np.maximum(np.ceil(shingles.sizes * self.threshold * (1 - ROUNDING)).astype(np.int64), 1)
        pieces: list[NDArray[np.int64]] = []
        done = counted(progress, rows)

        def prepare() -> Callable[[int, int], None]:
            seen, touched, out = np.full(rows, -1), np.empty(rows, np.int64), np.empty((3, max(ROOM, 2 * rows + 2)), np.int64)

            def work(first: int, last: int) -> None:
                row = first
                while row < last:
                    row, filled = containing.probe(row, last, sets.tokens, sets.offsets, needs, sets.heads, sets.postings, border, seen, touched, out, 0)
                    pieces.append(out[:, :filled].copy())
                    go_on()
                done(last - first)

            return work

        spread([(first, min(first + ROWS, rows)) for first in range(0, rows, ROWS)], prepare, threads)
        found = np.concatenate([np.empty((3, 0), np.int64), *pieces], axis=1)
        left, right = found[:2].min(axis=0), found[:2].max(axis=0)
        order = np.lexsort((right, left))
        left, right, shared = left[order], right[order], found[2][order]
        fresh = np.ones(len(left), bool)
        fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        return Found(Candidates(left[fresh], right[fresh]), shared[fresh])

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """1 where the larger containment is at or above the threshold, 0 below."""
        return (np.asarray(similarity, np.float64) >= self.threshold).astype(np.float64)

    @property
    def about(self) -> str:
        return f"containment join: every pair of {len(self.shingles)} sets of which one holds {self.threshold:g} or more of the other, by its rarest shingles; nothing is missed"


def _ranked(shingles: Shingles) -> _Ranked:
    order = np.argsort(shingles.values)
    values = shingles.values[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(values), 1), bool), values[1:] != values[:-1]]))
    counts = np.diff(np.append(starts, len(values)))
    by_rarity = np.argsort(counts, kind="stable")
    by_rarity = by_rarity[np.searchsorted(counts[by_rarity], 2) :]  # a token of one row helps nobody
    starts, counts = starts[by_rarity], counts[by_rarity]
    heads = _summed(counts)
    postings = np.repeat(np.arange(len(shingles)), shingles.sizes)[order[np.repeat(starts - heads[:-1], counts) + np.arange(heads[-1])]]
    tokens = np.repeat(np.arange(len(counts)), counts)[np.argsort(postings, kind="stable")]
    return _Ranked(tokens, _summed(np.bincount(postings, minlength=len(shingles))), heads, postings)


def _summed(counts: NDArray[np.int64]) -> Rows:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
