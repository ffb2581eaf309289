"""`scan`: every sketch against every other, by their heads first. Nothing is lost but what the sketches themselves do not show."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.estimate.sequential import Cut, cut
from twinset.kernels import agreement, scanning
from twinset.parallel import go_on, spread
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.sketch.sketches import Sketches, parts_of

TILE = 1 << 17  # bytes of heads that stay in the second-level cache while queries pass
QUERIES = 1 << 14  # queries of a piece of work, at most; with a tile they are about a tenth of a second's
LEAST = 1 << 17  # groups times queries of a piece of work, at least: a few milliseconds
CAPACITY = 1 << 16  # pairs of a thread's buffer
ROUNDING = 1e-9


class Scan:
    """Finds pairs of packed sketches whose samples differ no more than those of pairs at the threshold do, in all but 1 - recall of cases.

    `miss` is the part of that loss allowed to early abandoning; with 0 a pair is given up only when no further word could save it. Rows whose sizes alone
    rule out the threshold are not compared. A row without shingles matches nothing.
    """

    def __init__(self, sketches: Sketches, threshold: float, *, recall: float = 0.99, miss: float = 1e-6) -> None:
        self.sketches, self.threshold, self.recall = sketches, threshold, recall
        low, high = sketches.sizes.bounds()
        universe = sketches.config.universe
        self.cut: Cut = cut(sketches.config.layout, threshold, recall, miss, float(high.max(initial=0)) / universe if universe else 0.0)
        self._rows = _by_size(low)
        self._low, self._high = low[self._rows], high[self._rows]
        heads = self._heads(sketches, self._rows)
        self._tiles = np.empty((-(-len(heads) // agreement.WIDE), self.cut.words, agreement.WIDE), np.uint64)
        agreement.transpose(heads, 0, len(heads), self._tiles)

    @property
    def about(self) -> str:
        cut = self.cut
        return (
            f"scan: every sketch against every other whose size allows {self.threshold:g}, by the lowest {cut.planes} of {self.sketches.config.layout.components[0].bits} bits of "
            f"{cut.blocks * 64} samples first; a pair at the threshold is found with probability {float(self.detection(self.threshold)):.4f}"
        )

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that a pair of this resemblance becomes a candidate."""
        return self.cut.detection(similarity)

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set."""
        stops = np.searchsorted(self._low, self._high / self.threshold * (1 + ROUNDING), side="right")
        left, right = self._scan(self.sketches, self._rows, np.arange(1, len(self._rows) + 1), stops, threads, progress)
        return Candidates.gather([(left, right)])

    def query(self, new: Sketches, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs between the rows of `new` (left) and those of the set (right)."""
        self.sketches.compatible(new)
        low, high = new.sizes.bounds()
        rows = _by_size(low)
        starts = np.searchsorted(self._high, low[rows] * self.threshold * (1 - ROUNDING))
        stops = np.searchsorted(self._low, high[rows] / self.threshold * (1 + ROUNDING), side="right")
        left, right = self._scan(new, rows, starts, stops, threads, progress)
        return Candidates.gather([(left, right)], ordered=True)

    def _scan(self, new: Sketches, rows: Rows, starts: Rows, stops: Rows, threads: int | None, progress: Progress | None) -> tuple[Rows, Rows]:
        """The pairs (row of `new`, row of the set) among queries `rows` and their ranges of columns."""
        asked, parts = self._heads(new, rows), parts_of(self.sketches.config)
        pieces: list[NDArray[np.int64]] = []
        pace, chunks = max(1, TILE // (8 * self.cut.words * agreement.WIDE), LEAST // max(len(rows), 1)), -(-len(rows) // QUERIES)
        units = -(-len(self._tiles) // pace) * chunks
        done = counted(progress, units)

        def prepare() -> Callable[[int, int], None]:
            out = np.empty((2, CAPACITY), np.int64)

            def work(unit: int, _: int) -> None:
                group, first = unit // chunks * pace, unit % chunks * QUERIES
                last, limit = min(first + QUERIES, len(rows)), min(group + pace, len(self._tiles))
                q, g = first + int(np.searchsorted(stops[first:last], group * agreement.WIDE, side="right")), group
                last = q + int(np.searchsorted(starts[q:last], limit * agreement.WIDE))
                while q < last:
                    q, g, filled = scanning.scan(
                        asked, starts, stops, q, last, group, limit, g, self._tiles, self.cut.planes, self.cut.most,
                        new.words, rows, self.sketches.words, self._rows, parts, self.cut.limits, out, 0,
                    )  # fmt: skip
                    pieces.append(out[:, :filled].copy())
                    go_on()
                done(1)

            return work

        spread([(unit, unit + 1) for unit in range(units)], prepare, threads)
        pairs = np.concatenate([np.empty((2, 0), np.int64), *pieces], axis=1)
        return rows[pairs[0]], self._rows[pairs[1]]

    def _heads(self, sketches: Sketches, rows: Rows) -> NDArray[np.uint64]:
        out = np.empty((len(rows), self.cut.words), np.uint64)
        scanning.heads(sketches.words, rows, self.cut.layout.components[0].bits, self.cut.planes, self.cut.blocks, out)
        return out


def _by_size(low: NDArray[np.float64]) -> Rows:
    """The rows that have shingles, smaller sets first."""
    order = np.argsort(low, kind="stable")
    return order[np.searchsorted(low[order], 0, side="right") :]
