"""SimHash fingerprints of one configuration: selecting, Hamming distances, cosines."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from twinset.config import SimConfig
from twinset.errors import BadOption, IncompatibleSketches
from twinset.estimate.angle import Cosine, cosine
from twinset.kernels import agreement
from twinset.rows import aligned
from twinset.sketch.frequencies import Frequencies


@dataclass(frozen=True)
class Fingerprints:
    """`words` uint64 (n, bits / 64), bit j of a document at bit j % 64 of its word j // 64; and the configuration.

    A document without features is marked in `empty`: all its bits are 1, and no searcher may match it.
    """

    words: NDArray[np.uint64]
    config: SimConfig
    projections: NDArray[np.float32] | None = None  # W_j (n, bits), of documents scaled to length 1: S1
    ids: pa.Array | None = None
    empty: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))  # (n,); left out: no document is
    frequencies: Frequencies | None = None  # of the collection, where weights are "tfidf"
    malformed: int = 0  # UTF-8 sequences that were replaced by U+FFFD

    def __post_init__(self) -> None:
        if self.words.ndim != 2 or self.words.shape[1] != self.config.words:
            raise BadOption(f"words have shape {self.words.shape}; allowed: (documents, {self.config.words}) for {self.config.bits} bits")
        if self.projections is not None and self.projections.shape != (len(self), self.bits):
            raise BadOption(f"projections have shape {self.projections.shape}; allowed: {(len(self), self.bits)}")
        if not len(self.empty):
            object.__setattr__(self, "empty", np.zeros(len(self), bool))
        if self.empty.shape != (len(self),):
            raise BadOption(f"empty has shape {self.empty.shape}; allowed: {(len(self),)}")

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> "Fingerprints":
        """The fingerprints of a slice or an array of row numbers."""
        rows = np.arange(len(self))[rows]
        if rows.ndim != 1:
            raise BadOption("fingerprints are selected by a slice or an array of rows; a single one is fingerprints[[row]]")
        projections = None if self.projections is None else self.projections[rows]
        ids = None if self.ids is None else self.ids.take(pa.array(rows))
        return replace(self, words=self.words[rows], projections=projections, ids=ids, empty=self.empty[rows])

    @property
    def bits(self) -> int:
        return self.config.bits

    @property
    def nbytes(self) -> int:
        """Bytes of the fingerprints alone."""
        return int(self.words.nbytes)

    @property
    def fingerprint(self) -> str:
        """What has to be equal for two documents to be compared: the configuration, and with "tfidf" the document frequencies."""
        return self.config.fingerprint if self.frequencies is None else f"{self.config.fingerprint}-{self.frequencies.fingerprint}"

    def distance(self, left: ArrayLike, right: ArrayLike, other: "Fingerprints | None" = None) -> NDArray[np.int64]:
        """In how many bits rows `left` of these fingerprints and rows `right` of these or the `other` ones differ.

        The two broadcast: equal lengths are aligned pairs, one row against an array of rows is one against all. Empty documents are at distance 0 of each
        other: see `empty`.
        """
        other = self.compatible(other)
        a, b = aligned(left, len(self), right, len(other))
        agreeing = np.empty((len(a), 1), np.int32)
        agreement.agree_pairs(self.words, a, other.words, b, np.array([(self.bits, 1, 1)]), agreeing)
        return np.asarray(self.bits - agreeing[:, 0].astype(np.int64))

    def cosine(self, left: ArrayLike, right: ArrayLike, other: "Fingerprints | None" = None, *, level: float = 0.95) -> Cosine:
        """Estimate the cosine between the weighted features of aligned rows (as in `distance`): value, low, high. An empty document has cosine 0 with any."""
        against = self.compatible(other)
        a, b = aligned(left, len(self), right, len(against))
        return cosine(self.distance(a, b, other), self.bits, level=level, nothing=self.empty[a] | against.empty[b])

    def save(self, path: str | Path) -> None:
        """Write to a Parquet or Arrow file, which appears whole or not at all; `twinset.load` reads it."""
        from twinset.sketch.filing import save  # filing needs this class

        save(self, path)

    def compatible(self, other: "Fingerprints | None") -> "Fingerprints":
        """The other fingerprints, or these if there are none; unequal ones are refused."""
        if other is None or other.fingerprint == self.fingerprint:
            return self if other is None else other
        theirs = other.config.to_dict()
        differing = [f"{name} {value!r} and {theirs[name]!r}" for name, value in self.config.to_dict().items() if theirs[name] != value]
        reason = ", ".join(differing) or "the document frequencies behind their weights"
        raise IncompatibleSketches(f"fingerprints differ in {reason}; allowed: equal fingerprints ({self.fingerprint} is not {other.fingerprint})")
