"""In how many documents of a collection each feature occurs: what TF-IDF weights are made of."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.documents.shingles import Shingles
from twinset.errors import IncompatibleSketches
from twinset.kernels import terms as kernels
from twinset.parallel import Range, spread

SLOTS = 1 << 10  # of a new table
GRAIN = 1 << 16  # factors are multiples of 1 / GRAIN, so that sums of them are exact in any order


@dataclass(frozen=True)
class Frequencies:
    """`terms` uint64, the hashes of all features of a collection, ascending; `counts` int64, in how many of its `documents` each occurs.

    `source` says what the features are ("words:1 ..."), since hashes of different kinds of features never meet.
    """

    terms: NDArray[np.uint64]
    counts: NDArray[np.int64]
    documents: int
    source: str

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that differ whenever two collections could give different weights."""
        digest = hashlib.sha256(f"{self.source} {self.documents}".encode())
        for column in (self.terms.astype("<u8", copy=False), self.counts.astype("<i8", copy=False)):
            digest.update(np.ascontiguousarray(column).data)
        return digest.hexdigest()[:16]

    def merge(self, other: "Frequencies") -> "Frequencies":
        """Those of two collections together, which share no document."""
        self.check(other.source)
        return gather([(self.terms, self.counts), (other.terms, other.counts)], self.documents + other.documents, self.source)

    def check(self, source: str) -> None:
        """Refuse frequencies of another kind of features."""
        if source != self.source:
            raise IncompatibleSketches(f"document frequencies are of {self.source}; allowed here: of {source}")

    def factors(self, counts: ArrayLike) -> NDArray[np.float64]:
        """idf = 1 + ln((1 + documents) / (1 + count)), to the nearest 2^-16: from 1, of what every document has, to that of a count of 0, what none has."""
        exact = 1 + np.log((1 + self.documents) / (1 + np.asarray(counts, np.float64)))
        return np.asarray(np.rint(exact * GRAIN) / GRAIN)

    @cached_property
    def table(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], float]:
        """The open table of terms and their factors that the kernels read, and the factor of any other term."""
        keys, factors = _empty(2 * len(self) + 1, np.float64)
        kernels.fill_table(self.terms, self.factors(self.counts), keys, factors)
        return keys, factors, float(self.factors(0))


Pieces = Callable[[int, int], Iterable[Shingles]]


def count(documents: int, spans: list[Range], prepare: Callable[[], Pieces], source: str, threads: int | None) -> Frequencies:
    """The frequencies of `documents` documents. Each thread calls `prepare` once, for a function from a range of them to their rows, ascending."""
    tables: list[_Table] = []

    def start() -> Callable[[int, int], None]:
        table, rows = _Table(), prepare()
        tables.append(table)

        def work(first: int, last: int) -> None:
            for piece in rows(first, last):
                table.add(piece)

        return work

    spread(spans, start, threads)
    return gather([table.content() for table in tables], documents, source)


def gather(parts: list[tuple[NDArray[np.uint64], NDArray[np.int64]]], documents: int, source: str) -> Frequencies:
    """Frequencies from parts (terms, counts), in any order, whose counts add up."""
    terms = np.concatenate([np.zeros(0, np.uint64), *(terms for terms, _ in parts)])
    counts = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in parts)])
    order = np.argsort(terms)
    terms, counts = terms[order], counts[order]
    fresh = np.flatnonzero(np.concatenate([np.ones(min(1, len(terms)), bool), terms[1:] != terms[:-1]]))
    return Frequencies(terms[fresh], np.add.reduceat(counts, fresh) if len(fresh) else counts, documents, source)


class _Table:
    """The counts of one thread, in an open table that doubles when it is half full."""

    def __init__(self) -> None:
        self.keys, self.counts = _empty(SLOTS, np.int64)
        self.filled = 0

    def add(self, rows: Shingles) -> None:
        row = 0
        while True:
            row, self.filled = kernels.count_rows(rows.values, rows.offsets, row, len(rows), self.keys, self.counts, self.filled)
            if row == len(rows):
                return
            terms, counts = self.content()
            self.keys, self.counts = _empty(max(2 * len(self.keys), 4 * int(rows.offsets[row + 1] - rows.offsets[row])), np.int64)
            kernels.fill_table(terms, counts, self.keys, self.counts)

    def content(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        used = self.counts > 0
        return self.keys[used], self.counts[used]


def _empty(least: int, kind: Any) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """A table of the power of two from `least` on."""
    places = 1 << max(0, least - 1).bit_length()
    return np.empty(places, np.uint64), np.zeros(places, kind)
