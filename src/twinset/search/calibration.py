"""How many look-ups a stated recall takes: measured on a sample of queries, whose matches are found by looking up every header within the distance."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.shares import Share, share
from twinset.kernels import hamming
from twinset.kernels.hamming import OPEN, Runs
from twinset.search.candidates import Rows
from twinset.search.probes import every_subset
from twinset.search.runs import NONE_GONE, Buffer, Pair, Words

MATCHED = 1500  # the sample ends with so many queries that have a match at another distance than 0
MOST = 1 << 17  # or so many queries in all; the interval of the recall tells how much that was
LEAST = 20  # matched queries in the learning half: with fewer, every header is looked up
LOOK_UPS = 1 << 20  # in one call
SEED = 0


@dataclass(frozen=True)
class NearPairs:
    """All pairs of sampled queries with stored rows within the distance, but for equal fingerprints: those are found in any case, and would flatter a recall."""

    queries: Rows  # rows of the querying side; those at even places of the sample learn, the others measure
    rows: Rows
    flips: NDArray[np.uint32]  # header bits that differ
    distances: Rows
    learning: NDArray[np.bool_]
    easy: NDArray[np.bool_]  # whether the query has an equal fingerprint in the set besides

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, chosen: NDArray[Any]) -> "NearPairs":
        return NearPairs(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True)
class Calibration:
    """At which look-up of its query each near pair of the sample comes (0: the query's own header), and what that says of any number of look-ups."""

    pairs: NearPairs
    ranks: Rows
    first: bool

    @property
    def enough(self) -> bool:
        """Whether the learning half can choose a number of look-ups."""
        return len(np.unique(self._matches(True)[0])) >= LEAST

    def needed(self, recall: float) -> int:
        """The least number of flipped headers with this recall on the learning half."""
        _, ranks, _ = self._matches(True)
        return int(np.sort(ranks)[int(np.ceil(recall * len(ranks))) - 1])

    def recall(self, probes: int, *, level: float = 0.95) -> Share:
        """The share of matches found by so many flipped headers, on the measuring half: of pairs, or with `first` of queries that have a match."""
        queries, ranks, _ = self._matches(False)
        _, group = np.unique(queries, return_inverse=True)
        return share(np.bincount(group, ranks <= probes), np.bincount(group), level=level)

    def by_distance(self, probes: int, distance: int) -> NDArray[np.float64]:
        """The share found at each distance from 0 up; where the sample has no such pair, that of all."""
        _, ranks, distances = self._matches(False)
        every, found = (np.bincount(distances[chosen], minlength=distance + 1) for chosen in (ranks >= 0, ranks <= probes))
        overall = found.sum() / every.sum() if every.sum() else 0.0
        result = np.where(every > 0, found / np.maximum(every, 1), overall)
        result[0] = 1.0
        return result

    def _matches(self, learning: bool) -> tuple[Rows, Rows, Rows]:
        """Queries, ranks and distances of one half: of all pairs, or with `first` of that pair of each query which comes first, unless it has an equal."""
        chosen = (self.pairs.learning == learning) & ~(self.first & self.pairs.easy)
        queries, ranks, distances = self.pairs.queries[chosen], self.ranks[chosen], self.pairs.distances[chosen]
        if self.first:
            order = np.lexsort((distances, ranks, queries))
            order = order[np.unique(queries[order], return_index=True)[1]]
            queries, ranks, distances = queries[order], ranks[order], distances[order]
        return queries, ranks, distances


def near_pairs(runs: Runs, stored: Words, asked: Words, candidates: Rows, distance: int, *, own: bool) -> NearPairs:
    """Sample queries among the rows `candidates` of `asked`, and find all that is near them in the runs of `stored`; `own` if the two are one set."""
    random = np.random.Generator(np.random.PCG64(SEED))
    sample = random.choice(candidates, min(MOST, len(candidates)), replace=False)
    flips = every_subset(runs.bits, distance)
    step = max(1, LOOK_UPS // len(flips))
    result, matched, buffer = [_described(runs, stored, asked, sample[:0], sample[:0], sample[:0])], 0, Buffer()
    for begin in range(0, len(sample), step):
        queries = sample[begin : begin + step]
        for left, right in _exact(runs, np.ascontiguousarray(asked[queries]), flips, distance, buffer):
            kept = right != queries[left] if own else np.ones(len(left), bool)
            result.append(_described(runs, stored, asked, queries[left[kept]], right[kept], left[kept] + begin))
            matched += len(np.unique(result[-1].queries))
        if matched >= MATCHED:
            break
    return NearPairs(*(np.concatenate([getattr(each, field.name) for each in result]) for field in fields(NearPairs)))


def _described(runs: Runs, stored: Words, asked: Words, queries: Rows, rows: Rows, places: Rows) -> NearPairs:
    differing = asked[queries] ^ stored[rows]
    headers = (differing[:, 0] >> np.uint64(64 - runs.bits)).astype(np.uint32) if runs.bits else np.zeros(len(rows), np.uint32)
    distances = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
    easy = np.isin(queries, queries[distances == 0])
    return NearPairs(queries, rows, headers, distances, places % 2 == 0, easy)[distances > 0]


def _exact(runs: Runs, queries: Words, flips: NDArray[np.uint32], distance: int, buffer: Buffer) -> list[Pair]:
    """Every look-up within the distance, of queries named by their place."""
    owner = np.repeat(np.arange(len(queries), dtype=np.uint32), len(flips))
    every = np.tile(flips, len(queries))
    rules = (False, OPEN, np.empty((0, queries.shape[1]), np.uint64), NONE_GONE)
    rest = runs, np.uint64(distance), rules, np.zeros(len(queries), np.uint8), np.empty(queries.shape[1], np.uint64)
    places = np.arange(len(queries))
    return buffer.pieces(lambda i, left, right: hamming.look_up(queries, places, owner, every, i, len(owner), *rest, left, right), len(owner), runs.rows)
