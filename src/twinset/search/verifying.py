"""Candidates to verified pairs: by exact resemblance where shingles are at hand, by the sketch's estimate otherwise."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from twinset.documents.shingles import Shingles
from twinset.estimate.probability import Floats
from twinset.search.candidates import Candidates, Rows
from twinset.sketch.sketches import Sketches


@dataclass(frozen=True)
class Verified:
    """Pairs of rows with their resemblance and its interval, which is a point where it was counted (`exact`)."""

    pairs: Candidates
    resemblance: Floats
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]
    containment_left: Floats
    containment_right: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, chosen: NDArray[np.bool_] | Rows) -> "Verified":
        return Verified(**{part.name: getattr(self, part.name)[chosen] for part in fields(self)})

    def at(self, rows: Rows) -> "Verified":
        """The same pairs under other names of the rows, ascending with the old ones."""
        return replace(self, pairs=Candidates(rows[self.pairs.left], rows[self.pairs.right]))


def by_counting(shingles: Shingles, pairs: Candidates, shared: NDArray[np.int64], threshold: float) -> Verified:
    """The pairs whose shingles, `shared` of them in common, give the threshold or more (R1, R3)."""
    left, right = shingles.sizes[pairs.left], shingles.sizes[pairs.right]
    resemblance = np.asarray(shared / np.maximum(left + right - shared, 1))
    exact = np.ones(len(pairs), bool)
    return Verified(pairs, resemblance, resemblance, resemblance, exact, shared / np.maximum(left, 1), shared / np.maximum(right, 1))[resemblance >= threshold]


def by_estimate(sketches: Sketches, pairs: Candidates, threshold: float, level: float) -> Verified:
    """The pairs whose estimated resemblance (E4) is the threshold or more."""
    found = sketches.resemblance(pairs.left, pairs.right, level=level)
    counted = np.zeros(len(pairs), bool)
    ways = found.containment_left.value, found.containment_right.value
    return Verified(pairs, found.value, found.low, found.high, counted, *ways)[found.value >= threshold]
