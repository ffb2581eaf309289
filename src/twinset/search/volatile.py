"""`volatile`: probabilistic SimHash matching (Sood and Loguinov; PSM). One sorted copy; the bits of a query that flip most easily are flipped first."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadInput, BadOption
from twinset.estimate.flips import Flips
from twinset.estimate.shares import Share
from twinset.kernels import hamming
from twinset.kernels.hamming import OPEN, OTHERS
from twinset.parallel import spread
from twinset.rows import checked
from twinset.search.calibration import LEAST, Calibration, NearPairs, near_pairs
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.search.probes import Probes, as_words, cost_table
from twinset.search.runs import NONE_GONE, Buffer, Pair, Words, byte_count, checked_distance, chunks, gathered, log2, sort_runs, stored_rows
from twinset.sketch.fingerprints import Fingerprints

WORD = 64
SPARE = 3  # headers have so many bits less than the rows would fill: a run is then a cache line or two, and its look-up costs no more
SOON = 5  # flips of the second round with `first`; the first is the query's own header
SCALE = 0.3  # standard deviation of Y for want of pairs to learn it from: documents of cosine 0.955

Work = Callable[[int, int], None]


class Volatile:
    """Finds fingerprints that differ in at most `distance` bits, in a stated share `recall` of cases: those whose header differs in likely bits.

    The header is the first `header_bits` bits of a fingerprint. A query looks up its own and those with its `probes` likeliest subsets of flips, by the
    projections W_j of the query and the chances `flips`. Left out, both are learned: from the matches of a sample of the queries `sample`, or of the set itself.
    With `first` a query stops at its first match. A pair of `join` is found if either of its rows finds the other.
    """

    def __init__(
        self,
        fingerprints: Fingerprints,
        distance: int = 3,
        *,
        recall: float = 0.95,
        flips: Flips | None = None,
        probes: int | None = None,
        header_bits: int | None = None,
        first: bool = False,
        sample: Fingerprints | None = None,
    ) -> None:
        if not 0 < recall <= 1:
            raise BadOption(f"recall is {recall}; allowed: more than 0, up to 1")
        if probes is not None and probes < 0:
            raise BadOption(f"probes is {probes}; allowed: 0 or more")
        rows = stored_rows(fingerprints)
        self.header_bits = checked_header(fingerprints.bits, distance, header_bits, len(rows))
        self.fingerprints, self.distance, self.first = fingerprints, distance, first
        self._sample, self._gone = sample, NONE_GONE
        for each in (fingerprints, self._asking):
            check_projections(each, self.header_bits)
        if self._asking.projections is None and (flips is None or probes is None):
            raise BadInput("no projections to calibrate with; allowed: SimHash.sketch(..., keep=True), a `sample` of queries that have them, or both `flips` and `probes`")
        if fingerprints.projections is None and flips is None:
            raise BadInput("no projections to learn the chances of flips from; allowed: SimHash.sketch(..., keep=True), or `flips`")
        self._runs = sort_runs(fingerprints.words[rows], rows, self.header_bits)
        self.flips = self._learned() if flips is None else flips
        self._probes = Probes(self.header_bits, distance, cost_table(self.flips))
        if probes is None:
            probes = self._calibration.needed(recall) if self._calibration.enough else self._probes.every
        self.probes = min(probes, self._probes.every)

    @property
    def about(self) -> str:
        found = "the first match of each row" if self.first else "pairs"
        known = self.probes == self._probes.every or self._asking.projections is not None
        share = f"{self.recall.value:.1%} of them ({self.recall.low:.1%} to {self.recall.high:.1%})" if known else "a share not measured"
        return f"volatile: {found} within {self.distance} bits, {share}, by the first {self.header_bits} bits as they are and with their {self.probes} likeliest flips"

    @property
    def nbytes(self) -> int:
        """Bytes of memory that look-ups read: the sorted copy, row numbers and the table."""
        return byte_count([self._runs])

    @cached_property
    def recall(self) -> Share:
        """The share of matches that a query finds, measured on the half of the sample that did not choose `probes`: of pairs, or with `first` of queries that have a match.

        Equal fingerprints are found in any case and do not count. `join` finds more: a pair may be found from either side. Where every header within the
        distance is looked up, nothing is missed.
        """
        if self.probes == self._probes.every:
            return Share(1.0, 1.0, 1.0, 0)
        return self._calibration.recall(self.probes)

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that a query finds its pair at this Hamming distance, as measured with `recall`."""
        whole = np.rint(np.asarray(similarity, np.float64)).astype(np.int64)
        shares = np.ones(self.distance + 1) if self.probes == self._probes.every else self._calibration.by_distance(self.probes, self.distance)
        return np.where((whole >= 0) & (whole <= self.distance), shares[np.clip(whole, 0, self.distance)], 0.0)

    def remove(self, rows: ArrayLike) -> None:
        """Leave these rows out of all further answers. Their memory stays in use."""
        gone = np.zeros(len(self.fingerprints), np.uint8) if not len(self._gone) else self._gone.copy()
        gone[checked(rows, len(gone)).reshape(-1)] = 1
        self._gone = gone

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set; with `first`, for each row one of those that it finds."""
        rows = self._runs.rows.astype(np.int64)  # neighbours in this order share cache lines
        if len(self._gone):
            rows = rows[self._gone[rows] == 0]
        return gathered(self._search(self.fingerprints, rows, OTHERS, threads, progress))

    def query(self, new: Fingerprints, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs between the rows of `new` (left) and those of the set (right); with `first`, one for each row of `new` that finds a match."""
        self.fingerprints.compatible(new)
        check_projections(new, self.header_bits)
        return gathered(self._search(new, np.flatnonzero(~new.empty), OPEN, threads, progress), ordered=True)

    def _search(self, new: Fingerprints, rows: Rows, which: int, threads: int | None, progress: Progress | None) -> list[Pair]:
        if self.probes and new.projections is None:
            raise BadInput("the querying fingerprints have no projections, which say what bits are volatile; allowed: SimHash.sketch(..., keep=True), or probes=0")
        found, pieces = np.zeros(len(new), np.uint8), list[Pair]()
        weights = as_words(new.projections) if new.projections is not None else np.empty((0, WORD), np.uint32)
        rules = (self.first, which, np.empty((0, new.words.shape[1]), np.uint64), self._gone)
        done = counted(progress, len(rows))

        rest = self._runs, np.uint64(self.distance), rules, found

        def prepare() -> Work:
            buffer, differing, lists = Buffer(), np.empty(new.words.shape[1], np.uint64), self._probes.lister(weights, self.probes)

            def look(asked: Words, numbers: Rows, active: Rows, flips: NDArray[np.uint32]) -> None:
                owner, each = np.repeat(active.astype(np.uint32), flips.shape[1]), flips.reshape(-1)

                def step(begin: int, left: Rows, right: Rows) -> tuple[int, int]:
                    result: tuple[int, int] = hamming.look_up(asked, numbers, owner, each, begin, len(each), *rest, differing, left, right)
                    return result

                pieces.extend(buffer.pieces(step, len(each), self._runs.rows))

            def work(first: int, last: int) -> None:
                numbers = rows[first:last]
                asked, active = new.words[numbers], np.arange(last - first)
                if not self.first:
                    look(asked, numbers, active, lists(numbers))
                else:
                    look(asked, numbers, active, np.zeros((last - first, 1), np.uint32))
                    active = active[found[numbers] == 0]
                    flips = lists(numbers[active])
                    look(asked, numbers, active, flips[:, 1:SOON])
                    still = found[numbers[active]] == 0
                    look(asked, numbers, active[still], flips[still, SOON:])
                done(last - first)

            return work

        spread(chunks(len(rows)), prepare, threads)
        return pieces

    @property
    def _asking(self) -> Fingerprints:
        """Whose queries are sampled."""
        return self.fingerprints if self._sample is None else self._sample

    @cached_property
    def _pairs(self) -> NearPairs:
        asking = self._asking
        return near_pairs(self._runs, self.fingerprints.words, asking.words, np.flatnonzero(~asking.empty), self.distance, own=self._sample is None)

    @cached_property
    def _calibration(self) -> Calibration:
        if self._asking.projections is None:
            raise BadInput("the fingerprints have no projections to measure the recall with; allowed: SimHash.sketch(..., keep=True), or a `sample` of queries that have them")
        ranks = self._probes.ranks(as_words(self._asking.projections), self._pairs.queries, self._pairs.flips)
        return Calibration(self._pairs, ranks, self.first)

    def _learned(self) -> Flips:
        """The chances of flips, from one pair of each query of the learning half."""
        near = self._pairs[self._pairs.learning]
        _, once = np.unique(near.queries, return_index=True)
        ours, theirs = self._asking.projections, self.fingerprints.projections
        if len(once) < LEAST or ours is None or theirs is None:
            return Flips.normal(SCALE)
        return Flips.learn(ours[near.queries[once]], theirs[near.rows[once]])


def checked_header(bits: int, distance: int, header: int | None, rows: int) -> int:
    """The bits of a header: as asked, or SPARE less than the logarithm of the rows."""
    checked_distance(distance, bits)
    most = log2(rows)
    if header is None:
        return max(most - SPARE, 0)
    if not 0 <= header <= most:
        raise BadOption(f"header_bits is {header}; allowed: 0 to {most}, the logarithm of {rows} fingerprints to base 2")
    return header


def check_projections(fingerprints: Fingerprints, bits: int) -> None:
    """Refuse projections that are not finite in the bits of the header."""
    projections = fingerprints.projections
    if projections is not None and not np.isfinite(projections[:, WORD - bits : WORD]).all():
        row = int(np.argmin(np.isfinite(projections[:, WORD - bits : WORD]).all(axis=1)))
        raise BadInput(f"the projections of row {row} are not all finite; allowed: what SimHash.sketch(..., keep=True) gives")
