"""What every searcher answers, and the protocol that they share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.parallel import go_on

Rows = NDArray[np.int64]
Progress = Callable[[int, int], None]  # units of work done, and in all; it may raise to cancel the search
Data = TypeVar("Data", contravariant=True)


@dataclass(frozen=True)
class Candidates:
    """Pairs of rows that may be similar, ascending and without repeats.

    From `join` left < right; from `query` left is a row of the new data, right one of the old.
    """

    left: Rows
    right: Rows

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, chosen: NDArray[np.bool_] | Rows) -> "Candidates":
        return Candidates(self.left[chosen], self.right[chosen])

    @classmethod
    def gather(cls, pieces: Iterable[tuple[Rows, Rows]], *, ordered: bool = False) -> "Candidates":
        """From pieces in any order and with repeats. Unless `ordered`, a pair may come either way round and is turned to left < right."""
        lefts, rights = [], []
        for one, other in pieces:
            lefts.append(one)
            rights.append(other)
        left, right = (np.concatenate([np.zeros(0, np.int64), *side]) for side in (lefts, rights))
        if not ordered:
            left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((right, left))
        left, right = left[order], right[order]
        fresh = np.ones(len(left), bool)
        fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        return cls(left[fresh], right[fresh])


class Searcher(Protocol[Data]):
    """Holds one set of data; finds the similar pairs within it, and those between new data and it. Neither answer depends on the threads."""

    def join(self, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs within the set."""

    def query(self, new: Data, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs between the rows of `new` (left) and those of the set (right)."""

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that a pair of this similarity (resemblance, or Hamming distance) becomes a candidate."""

    @property
    def about(self) -> str:
        """One sentence: which search this is and at which settings, for a person who wonders what was done."""


def counted(progress: Progress | None, total: int) -> Callable[[int], None]:
    """A function that any thread calls with the units it has just done; it tells `progress` the sum, and does not return to a search that has been stopped."""
    lock, done = Lock(), 0

    def add(units: int) -> None:
        nonlocal done
        go_on()
        with lock:
            done += units
            if progress is not None:
                progress(done, total)

    return add
