"""Packed sketches of one configuration: comparing, merging, selecting."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from twinset.config import Config
from twinset.documents.shingles import first_equal
from twinset.errors import BadOption, CannotMerge, IncompatibleSketches
from twinset.estimate.resemblance import Estimate, estimate
from twinset.kernels import agreement, overlap, packing
from twinset.parallel import spread
from twinset.rows import aligned, checked
from twinset.sketch.sizes import Sizes

TILE = 512  # sketches compared at a time: a tile of 24-word sketches fills 96 KB of the second-level cache


@dataclass(frozen=True)
class Sketches:
    """`words` uint64 (n, words of the layout), the set sizes, and the configuration; `ids` if the documents have names."""

    words: NDArray[np.uint64]
    sizes: Sizes
    config: Config
    ids: pa.Array | None = None
    malformed: int = 0  # UTF-8 sequences that were replaced by U+FFFD

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> "Sketches":
        """The sketches of a slice or an array of row numbers."""
        rows = np.arange(len(self))[rows]
        if rows.ndim != 1:
            raise BadOption("sketches are selected by a slice or an array of rows; a single sketch is sketches[[row]]")
        return replace(self, words=self.words[rows], sizes=self.sizes[rows], ids=None if self.ids is None else self.ids.take(pa.array(rows)))

    @property
    def fingerprint(self) -> str:
        """What has to be equal for two sketches to be compared."""
        return self.config.fingerprint

    @property
    def nbytes(self) -> int:
        """Bytes of packed samples; the sizes beside them take `sizes.nbytes` more."""
        return int(self.words.nbytes)

    def resemblance(self, left: ArrayLike, right: ArrayLike, other: "Sketches | None" = None, *, level: float = 0.95) -> Estimate:
        """Estimate R of rows `left` of these sketches and rows `right` of these or the `other` ones.

        The two broadcast: equal lengths are aligned pairs, one row against an array of rows is one against all.
        """
        other = self.compatible(other)
        a, b = aligned(left, len(self), right, len(other))
        agreeing = np.empty((len(a), len(self.config.layout.components)), np.int32)
        agreement.agree_pairs(self.words, a, other.words, b, parts_of(self.config), agreeing)
        return self._estimate(agreeing, self.sizes[a], other.sizes[b], level)

    def blocks(self, other: "Sketches | None" = None, *, rows: int = TILE, threads: int | None = None) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """Every sketch against every other, block by block: (first left row, first right row, agreeing samples (left rows, right rows, components)).

        Within one group of sketches only blocks on and above the diagonal come.
        """
        against = self.compatible(other)
        for i in range(0, len(self), rows):
            for j in range(i if other is None else 0, len(against), rows):
                yield i, j, self._block(against, (i, min(i + rows, len(self))), (j, min(j + rows, len(against))), threads)

    def matrix(self, other: "Sketches | None" = None, *, level: float = 0.95, threads: int | None = None) -> Estimate:
        """Estimate R of every sketch with every other (rows) or every one of the `other` ones (columns): arrays (n, m)."""
        against = self.compatible(other)
        agreeing = self._block(against, (0, len(self)), (0, len(against)), threads)
        left, right = np.meshgrid(np.arange(len(self)), np.arange(len(against)), indexing="ij")
        flat = self._estimate(agreeing.reshape(-1, agreeing.shape[2]), self.sizes[left.reshape(-1)], against.sizes[right.reshape(-1)], level)
        return flat.reshape(len(self), len(against))

    def merge(self, other: "Sketches") -> "Sketches":
        """Row by row, the sketch of the union of the two sets. Needs whole minima (bits 32 or 64).

        The size of a union is not in the sketches: it is (f1 + f2) / (1 + R), with the estimated R.
        """
        self.compatible(other)
        if not self.config.layout.whole:
            raise CannotMerge(f"layout {self.config.bits!r} keeps too few bits of each minimum to merge; allowed: '32' or '64'")
        if len(self) != len(other):
            raise BadOption(f"merge pairs rows, but there are {len(self)} and {len(other)}; allowed: equal numbers")
        smallest = np.minimum(self.samples(), other.samples())
        words = np.empty_like(self.words)
        packing.pack(smallest, len(words), parts_of(self.config), words)
        rows = np.arange(len(self))
        left, right = self.sizes.counts(rows), other.sizes.counts(rows)
        union = np.rint((left + right) / (1 + self.resemblance(rows, rows, other).value))
        union = np.minimum(union, self.config.universe or np.inf)  # sizes known only by code can add up to more
        return replace(self, words=words, sizes=Sizes.store(union.astype(np.int64), self.config.sizes, self.config.universe))

    def samples(self, rows: ArrayLike | None = None) -> NDArray[np.uint64]:
        """The unpacked samples (rows, samples), component after component."""
        wanted = np.arange(len(self)) if rows is None else checked(rows, len(self)).reshape(-1)
        out = np.empty((len(wanted), self.config.layout.samples), np.uint64)
        packing.unpack(self.words, wanted, parts_of(self.config), out)
        return out

    def first_equal(self) -> NDArray[np.int64]:
        """For each row the first row with the same sketch and size: itself, if no row before it has."""
        both = np.concatenate([self.words, self.sizes.counts()[:, None].view(np.uint64)], axis=1)
        digests = np.empty((len(both), 2), np.uint64)
        overlap.digests(both.reshape(-1), np.arange(len(both) + 1) * both.shape[1], digests)
        return first_equal(digests)

    def save(self, path: str | Path) -> None:
        """Write to a Parquet or Arrow file, which appears whole or not at all; `twinset.load` reads it."""
        from twinset.sketch.storing import save  # storing needs this class

        save(self, path)

    def _block(self, other: "Sketches", left: tuple[int, int], right: tuple[int, int], threads: int | None) -> NDArray[np.int32]:
        parts = parts_of(self.config)
        out = np.empty((left[1] - left[0], right[1] - right[0], len(parts)), np.int32)
        tiles = [(j, min(j + TILE, right[1])) for j in range(right[0], right[1], TILE)]

        def prepare() -> Any:
            tile = np.empty((TILE // agreement.WIDE, self.words.shape[1], agreement.WIDE), np.uint64)
            counts = np.empty((len(parts), agreement.TOGETHER * agreement.WIDE), np.int32)

            def work(first: int, last: int) -> None:
                agreement.transpose(other.words, first, last, tile)
                agreement.agree_rows(self.words, left[0], left[1], tile, last - first, parts, counts, out, first - right[0])

            return work

        spread(tiles, prepare, threads)
        return out

    def _estimate(self, agreeing: NDArray[np.int32], left: Sizes, right: Sizes, level: float) -> Estimate:
        return estimate(self.config.layout, agreeing, left.counts(), right.counts(), universe=self.config.universe, level=level, ceiling=left.ceiling(right))

    def compatible(self, other: "Sketches | None") -> "Sketches":
        """The other sketches, or these if there are none; IncompatibleSketches if they cannot be compared."""
        if other is None:
            return self
        if other.fingerprint != self.fingerprint:
            differing = [f"{name} {value!r} and {other.config.to_dict()[name]!r}" for name, value in self.config.to_dict().items() if other.config.to_dict()[name] != value]
            raise IncompatibleSketches(f"sketches differ in {', '.join(differing) or 'their scheme'}; allowed: equal fingerprints ({self.fingerprint} is not {other.fingerprint})")
        return other


def parts_of(config: Config) -> NDArray[np.int64]:
    """The layout as the kernels read it: one row (samples, bits, xor) for each component."""
    return np.array([(part.samples, part.bits, part.xor) for part in config.layout.components], np.int64)
