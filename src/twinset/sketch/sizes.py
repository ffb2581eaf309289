"""Set sizes beside the sketches: exact, or in 8 or 4 bits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.estimate.sizes import bounds, ceiling, decode, encode


@dataclass(frozen=True)
class Sizes:
    """One size for each sketch, stored as `kind` says: int64 counts ("exact"), uint8 codes ("8"), or two codes to a byte ("4").

    The scale of the codes depends on the `universe` of the sets, 0 for a practically infinite one.
    """

    stored: NDArray[Any]
    kind: str
    rows: int
    universe: int = 0

    @classmethod
    def store(cls, counts: NDArray[np.int64], kind: str, universe: int = 0) -> "Sizes":
        if kind == "exact":
            return cls(counts, kind, len(counts), universe)
        return cls.of_codes(encode(counts, int(kind), universe), kind, universe)

    @classmethod
    def of_codes(cls, codes: NDArray[np.uint8], kind: str, universe: int = 0) -> "Sizes":
        """From one code in each byte."""
        if kind == "8":
            return cls(codes, kind, len(codes), universe)
        even = np.concatenate([codes, np.zeros(len(codes) % 2, np.uint8)])
        return cls(even[0::2] | even[1::2] << np.uint8(4), kind, len(codes), universe)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: NDArray[np.int64]) -> "Sizes":
        if self.kind == "exact":
            return Sizes(self.stored[rows], self.kind, len(rows), self.universe)
        return Sizes.of_codes(self.codes()[rows], self.kind, self.universe)

    @property
    def nbytes(self) -> int:
        return int(self.stored.nbytes)

    def codes(self) -> NDArray[np.uint8]:
        """One code in each byte, for the quantised kinds."""
        if self.kind == "8":
            return self.stored
        both = np.stack([self.stored & np.uint8(15), self.stored >> np.uint8(4)], axis=1)
        return both.reshape(-1)[: self.rows]

    def counts(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The sizes of `rows` (all of them by default); for the quantised kinds the middle of what the code covers."""
        wanted = np.arange(self.rows) if rows is None else rows
        if self.kind == "exact":
            return self.stored[wanted].astype(np.float64)
        return decode(self.codes()[wanted], int(self.kind), self.universe)

    def ceiling(self, other: "Sizes") -> NDArray[np.float64] | None:
        """Row by row, the largest resemblance that the codes of two sets allow; None for exact sizes, whose ratio says it."""
        return None if self.kind == "exact" else ceiling(self.codes(), other.codes(), int(self.kind), self.universe)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Row by row, the smallest and the largest size that is stored this way; equal for exact sizes."""
        return (self.counts(), self.counts()) if self.kind == "exact" else bounds(self.codes(), int(self.kind), self.universe)
