"""Which headers a query looks up: its own, then those with its likeliest flips."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.flips import Flips
from twinset.kernels import vosh
from twinset.search.candidates import Rows
from twinset.search.runs import CHUNK

UNIT = 1 << 12  # steps of a cost in a natural logarithm's unit
PICKED = 64  # subsets up to which comparing all that can be among the likeliest is faster than a heap
MOST_FLIPS = 4  # flips of a subset whose cost leaves room for its number


def subset_count(bits: int, distance: int) -> int:
    """How many subsets of 1 to `distance` of `bits` bits there are."""
    return sum(comb(bits, size) for size in range(1, min(distance, bits) + 1))


def every_subset(bits: int, distance: int) -> NDArray[np.uint32]:
    """The header bits of all subsets of up to `distance` bits, the empty one first."""
    return np.array([sum(1 << bit for bit in chosen) for size in range(min(distance, bits) + 1) for chosen in combinations(range(bits), size)], np.uint32)


def cost_table(flips: Flips) -> NDArray[np.uint32]:
    """-ln(p / (1 - p)) in the middle of each cell of |W_j|, in steps of 1 / UNIT, rising: what the kernels of VOSH read."""
    middle = (np.arange(vosh.CELLS, dtype=np.uint32) << vosh.CELL) + np.uint32(1 << (int(vosh.CELL) - 1))
    finite = np.minimum(middle.view(np.float32), np.float32(1e30), where=middle < np.uint32(0x7F800000), out=np.full(vosh.CELLS, 1e30, np.float32))
    log = flips.log(finite)
    return np.clip(np.rint((np.log1p(-np.exp(log)) - log) * UNIT), 0, vosh.DEAREST).astype(np.uint32)


def as_words(projections: NDArray[np.float32]) -> NDArray[np.uint32]:
    """W_j as the kernels take it: the bits of float32, of which magnitudes are in order."""
    return np.ascontiguousarray(projections, np.float32).view(np.uint32)


@cache
def contenders(bits: int, distance: int, count: int) -> NDArray[np.uint32]:
    """The subsets of positions of which fewer than `count` others are at least as likely whatever the costs: the `count` likeliest are among them. Packed as for `pick`."""
    result = [(sum(1 << s for s in chosen), chosen) for size in range(1, distance + 1) for chosen in combinations(range(min(bits, count)), size) if _ahead(chosen) < count]
    return np.array([int.from_bytes([*chosen, *[int(vosh.NOWHERE)] * (MOST_FLIPS - len(chosen))], "little") for _, chosen in sorted(result)], np.uint32)


def _ahead(chosen: tuple[int, ...]) -> int:
    """How many other subsets cost no more whatever the ascending costs: those whose positions, from the last down, are at most these."""
    total = 0
    for size in range(1, len(chosen) + 1):
        first, *limits = chosen[len(chosen) - size :]
        ways = np.ones(first + 1, np.int64)  # how many sets end at each place
        for limit in limits:
            before = np.concatenate([[0], np.cumsum(ways)])
            ways = before[np.minimum(np.arange(limit + 1), len(ways))]
        total += int(ways.sum())
    return total - 1


@dataclass(frozen=True)
class Probes:
    """Subsets of 1 to `distance` of the first `bits` bits, in falling probability under a table of costs."""

    bits: int
    distance: int
    table: NDArray[np.uint32]

    @property
    def every(self) -> int:
        return subset_count(self.bits, self.distance)

    def lister(self, weights: NDArray[np.uint32], count: int) -> Callable[[Rows], NDArray[np.uint32]]:
        """A function that lists the header bits to flip for some rows of `weights`: none, then the `count` likeliest subsets. It serves one thread, and reuses its memory."""
        picked = 0 < count <= PICKED and self.distance <= MOST_FLIPS
        chosen = contenders(self.bits, self.distance, count) if picked else np.empty(0, np.uint32)
        scratch, out = self._scratch(count, len(chosen)), np.zeros((CHUNK, count + 1), np.uint32)

        def lists(rows: Rows) -> NDArray[np.uint32]:
            vosh.list_flips(weights, rows, self.bits, self.distance, count, self.table, chosen, scratch, out)
            return out[: len(rows)]

        return lists

    def ranks(self, weights: NDArray[np.uint32], rows: Rows, wanted: NDArray[np.uint32]) -> Rows:
        """At which look-up of the query in each row the flips `wanted` come: 0 is its own header."""
        out = np.empty(len(rows), np.int64)
        vosh.find_ranks(weights, rows, wanted, self.bits, self.distance, self.table, self._scratch(self.every, 0), out)
        return out

    def _scratch(self, count: int, chosen: int) -> tuple[NDArray[Any], ...]:
        """What the kernels need for `count` subsets out of so many that are chosen beforehand."""
        lanes = [np.zeros(vosh.LANES, np.uint32) for _ in range(4)]
        room = -(-chosen // vosh.LANES) * vosh.LANES
        more = [np.full(room, np.iinfo(np.uint32).max, np.uint32) for _ in range(3)]
        return (*lanes, np.empty(count + self.distance + 1, np.uint64), np.empty(count, np.uint64), *more)
