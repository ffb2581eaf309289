"""Every pair of sets at or above a resemblance, and no other: the join that the other searchers are held against."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.documents.shingles import Shingles
from twinset.errors import BadOption
from twinset.kernels import joining
from twinset.parallel import go_on, spread
from twinset.search.candidates import Candidates, Progress, counted
from twinset.search.tokens import Classes, Tokens, Whole, classes, demands, grouped, pieces, shared_out, tokens

ROWS = 1 << 6  # rows that a thread looks up, or whose pairs it writes, at a time
STEPS = 4  # over all rows: equal sets, numbering, looking up, writing pairs
ROOM = 1 << 16  # pairs that a thread keeps at least, before it hands them over


@dataclass(frozen=True)
class Found:
    """Pairs, and how many elements each of them shares."""

    pairs: Candidates
    shared: Whole


class ExactJoin:
    """All pairs with |A ∩ B| / |A ∪ B| >= threshold, compared as float64 quotients, as `Shingles.resemblance` gives them. An empty row is in no pair."""

    def __init__(self, shingles: Shingles, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise BadOption(f"threshold is {threshold}; allowed: above 0, at most 1")
        self.shingles, self.threshold = shingles, float(threshold)

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set."""
        return self.join_shared(threads=threads, progress=progress).pairs

    def query(self, new: Shingles, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs of a row of `new` and a row of the set."""
        return self.query_shared(new, threads=threads, progress=progress).pairs

    def join_shared(self, *, threads: int | None = None, progress: Progress | None = None) -> Found:
        """As `join`, with what each pair shares: its resemblance is shared / (sizes[left] + sizes[right] - shared)."""
        return _search(self.shingles, 0, self.threshold, threads, progress)

    def query_shared(self, new: Shingles, *, threads: int | None = None, progress: Progress | None = None) -> Found:
        """As `query`, with what each pair shares. Reads all of the set once, however few the new rows."""
        old = self.shingles
        if not len(old):
            return Found(Candidates(*np.empty((2, 0), np.int64)), np.empty(0, np.int64))
        return _search(old.followed_by(new), len(old), self.threshold, threads, progress)

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """1 at and above the threshold, 0 below: nothing is missed, and nothing else is found."""
        return (np.asarray(similarity, np.float64) >= self.threshold).astype(np.float64)

    @property
    def about(self) -> str:
        return f"exact join: every pair of {len(self.shingles)} sets with a resemblance of {self.threshold:g} or more, found by prefix, length and positional filters and verified"


def _search(shingles: Shingles, border: int, threshold: float, threads: int | None, progress: Progress | None) -> Found:
    """The pairs within all rows if the border is 0; else those of a row from the border on, counted from there, with one below it."""
    within, done = border == 0, counted(progress, STEPS * len(shingles))
    sets = classes(shingles, border, threads, done)
    old = int(np.searchsorted(sets.firsts, border))
    reduced = tokens(shingles, sets.firsts, old, threshold, threads, done)
    left, right, shared = _probe(reduced, old, threshold, threads, shared_out(len(shingles), len(reduced.rows), done))
    if within:
        every = np.arange(len(sets))
        left, right = np.concatenate([left, right, every]), np.concatenate([right, left, every])
        shared = np.concatenate([shared, shared, shingles.sizes[sets.firsts]])
    return _expand(sets, border, left, right, shared, threads, shared_out(len(shingles), len(shingles) - border, done))


@dataclass(frozen=True)
class _Plan:
    """For each row which others it meets, low <= other < high, and how many of its first tokens are looked up and are in the index."""

    low: Whole
    high: Whole
    probing: Whole
    indexed: Whole

    @classmethod
    def make(cls, sets: Tokens, old: int, threshold: float) -> "_Plan":
        any_size, same_size = demands(sets.sizes, threshold)
        kept = np.diff(sets.offsets)
        largest = np.minimum(kept * ((1 + threshold) / threshold) - sets.sizes + 1, sets.sizes[-1:])  # R2: with more, kept tokens are not enough; 1 is for rounding
        low, high = np.searchsorted(sets.sizes, any_size), np.searchsorted(sets.sizes, largest, side="right")
        if old == 0:  # the larger of two sets looks the other up
            return cls(low, np.minimum(high, np.arange(len(kept))), kept - any_size + 1, np.maximum(kept - same_size + 1, 0))
        new, prefix = sets.rows >= old, kept - any_size + 1
        return cls(low, high, np.where(new, prefix, 0), np.where(new, 0, prefix))


def _probe(sets: Tokens, old: int, threshold: float, threads: int | None, done: Callable[[int, int], None]) -> tuple[Whole, Whole, Whole]:
    """Pairs of classes, and what they share."""
    rows, plan = len(sets.rows), _Plan.make(sets, old, threshold)
    heads, postings = _index(sets, plan.indexed)
    results: list[tuple[int, Whole, Whole, Whole]] = []

    def prepare() -> Callable[[int, int], None]:
        counts, touched = np.zeros(rows, np.int32), np.empty(rows, np.int64)
        room = np.empty((3, max(ROOM, rows)), np.int64)

        def work(first: int, last: int) -> None:
            row = first
            while row < last:
                start = row
                row, pairs = joining.probe(
                    *(row, last, sets.tokens, sets.offsets, sets.sizes, threshold, plan.low, plan.high, plan.probing, plan.indexed),
                    *(heads, postings, counts, touched, *room),
                )
                if pairs:
                    left, right, shared = room[:, :pairs]
                    results.append((start, sets.rows[left], sets.rows[right], shared.copy()))
                go_on()
            done(first, last)

        return work

    spread(pieces(rows, ROWS), prepare, threads)
    results.sort(key=lambda result: result[0])
    nothing = np.zeros(0, np.int64)
    left, right, shared = (np.concatenate([nothing, *(result[column] for result in results)]) for column in (1, 2, 3))
    return left, right, shared


def _index(sets: Tokens, indexed: Whole) -> tuple[Whole, NDArray[np.int32]]:
    """Where each token's postings begin, and the postings: row, and position in it."""
    heads = np.zeros(int(sets.tokens.max(initial=-1)) + 2, np.int64)
    joining.count_postings(sets.tokens, sets.offsets, indexed, heads)
    np.cumsum(heads, out=heads)
    postings = np.empty((heads[-1], 2), np.int32 if max(len(indexed), sets.sizes.max(initial=0)) < 1 << 31 else np.int64)
    joining.fill_postings(sets.tokens, sets.offsets, indexed, heads[:-1].copy(), postings)
    return heads, postings


def _expand(sets: Classes, border: int, left: Whole, right: Whole, shared: Whole, threads: int | None, done: Callable[[int, int], None]) -> Found:
    """From pairs of classes (a class with itself too, and each pair both ways, if the border is 0) to pairs of rows, ascending."""
    order, bounds = grouped(left, len(sets))
    partners, common, of, within = right[order], shared[order], sets.of[border:], border == 0
    work, rows = pieces(len(of), ROWS), len(of)
    places = np.zeros(rows + 1, np.int64)
    spread(work, lambda: lambda first, last: joining.count_partners(first, last, of, bounds, partners, within, sets.starts, sets.members, places[1:]), threads)
    np.cumsum(places, out=places)
    lefts, rights, both = np.empty((3, places[-1]), np.int64)
    scale = int(common.max(initial=0)) + 1  # a row and what it shares in one number: up to 3e9 rows, and values in a row

    def prepare() -> Callable[[int, int], None]:
        def fill(first: int, last: int) -> None:
            joining.fill_partners(first, last, of, bounds, partners, common, within, sets.starts, sets.members, scale, places, lefts, rights, both)
            done(first, last)

        return fill

    spread(work, prepare, threads)
    return Found(Candidates(lefts, rights), both)
