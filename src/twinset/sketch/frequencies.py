"""In how many documents of a collection each feature occurs: what TF-IDF weights are made of."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frequencies:
    """`terms` uint64, the hashes of all features of a collection, ascending; `counts` int64, in how many of its `documents` each occurs."""

    terms: NDArray[np.uint64]
    counts: NDArray[np.int64]
    documents: int

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that differ whenever two collections could give different weights."""
        digest = hashlib.sha256(str(self.documents).encode())
        for column in (self.terms.astype("<u8", copy=False), self.counts.astype("<i8", copy=False)):
            digest.update(np.ascontiguousarray(column).data)
        return digest.hexdigest()[:16]
