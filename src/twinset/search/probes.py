"""Which headers a query looks up: its own, then those with its likeliest flips."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.flips import Flips
from twinset.kernels import vosh
from twinset.search.candidates import Rows
from twinset.search.runs import CHUNK

UNIT = 1 << 20  # steps of a cost in a natural logarithm's unit
DEAREST = 64 * UNIT  # the cost of a flip that never happens; a sum over up to 63 bits stays below 2^32
MANTISSA = 23


def subset_count(bits: int, distance: int) -> int:
    """How many subsets of 1 to `distance` of `bits` bits there are."""
    return sum(comb(bits, size) for size in range(1, min(distance, bits) + 1))


def every_subset(bits: int, distance: int) -> NDArray[np.uint32]:
    """The header bits of all subsets of up to `distance` bits, the empty one first."""
    return np.array([sum(1 << bit for bit in chosen) for size in range(min(distance, bits) + 1) for chosen in combinations(range(bits), size)], np.uint32)


def cost_table(flips: Flips) -> NDArray[np.uint32]:
    """-ln(p / (1 - p)) in the middle of each cell of |W_j|, in steps of 1 / UNIT, rising: what the kernels of VOSH read."""
    first = (np.arange(vosh.CELLS, dtype=np.uint32) + np.uint32(vosh.FIRST_CELL)) << vosh.CELL
    log = flips.log((first + np.uint32(1 << (int(vosh.CELL) - 1))).view(np.float32))
    costs = np.clip(np.rint((np.log1p(-np.exp(log)) - log) * UNIT), 0, DEAREST).astype(np.uint32)
    return np.maximum.accumulate(costs)


def as_words(projections: NDArray[np.float32]) -> NDArray[np.uint32]:
    """W_j as the kernels take it: the bits of float32, of which magnitudes are in order."""
    return np.ascontiguousarray(projections, np.float32).view(np.uint32)


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
        scratch, out = self._scratch(count), np.zeros((CHUNK, count + 1), np.uint32)

        def lists(rows: Rows) -> NDArray[np.uint32]:
            if count:
                vosh.list_flips(weights, rows, 0, len(rows), self.bits, self.distance, count, self.table, scratch, out)
            return out[: len(rows)]

        return lists

    def ranks(self, weights: NDArray[np.uint32], rows: Rows, wanted: NDArray[np.uint32]) -> Rows:
        """At which look-up of the query in each row the flips `wanted` come: 0 is its own header."""
        out = np.empty(len(rows), np.int64)
        vosh.find_ranks(weights, rows, wanted, self.bits, self.distance, self.table, self._scratch(self.every), out)
        return out

    def _scratch(self, count: int) -> tuple[NDArray[Any], ...]:
        """What the kernels need for `count` subsets."""
        lanes = [np.zeros(vosh.LANES, np.uint32) for _ in range(4)]
        return (*lanes, np.empty(count + self.distance + 1, np.uint64), np.empty(count, np.uint64))
