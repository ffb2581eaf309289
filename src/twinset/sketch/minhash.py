"""The MinHash sketcher: texts or sets in, packed sketches out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.columns import Column, column
from twinset.documents.sets import from_sets
from twinset.documents.shingles import Shingler, Shingles
from twinset.kernels import minhash as kernels
from twinset.kernels import overlap, packing
from twinset.layout import WORD
from twinset.parallel import ranges, spread
from twinset.sketch.families import study_minima
from twinset.sketch.seeds import splitmix64
from twinset.sketch.sizes import Sizes
from twinset.sketch.sketches import Sketches, parts_of

TEXT_STEP = 1 << 20  # bytes of text that a thread takes at a time: its shingles then fit the second-level cache
SET_STEP = 1 << 17  # elements of sets likewise
MINIMA = 1 << 18  # bytes of minima held before they are packed


class MinHash:
    """Sketches documents under one frozen configuration: `MinHash(bits="1.5", samples=1024, shingle="words:5", seed=42)`."""

    def __init__(self, config: Config | None = None, **options: Any) -> None:
        self.config = Config(**options) if config is None else config
        self._parts = parts_of(self.config)
        self._wide = any(part.bits == WORD for part in self.config.layout.components)
        self._multipliers = _multipliers(self.config, self._wide)

    def __repr__(self) -> str:
        return f"MinHash({self.config})"

    def sketch(self, texts: Any, *, threads: int | None = None, strict: bool = False) -> Sketches:
        """Sketch a list of str or an Arrow string array, in order. `strict` refuses malformed UTF-8 instead of replacing it by U+FFFD."""
        return self.sketch_column(column(texts), threads=threads, strict=strict)

    def sketch_column(self, texts: Column, *, threads: int | None = None, strict: bool = False, first: int = 0, digests: NDArray[np.uint64] | None = None) -> Sketches:
        """`sketch` for texts that are already bytes and offsets; messages number them from `first`. `digests` (n, 2) gets words that are equal for equal shingle sets."""
        shingler = Shingler(self.config, strict, first)

        def prepare(store: "_Store") -> Callable[[int, int], None]:
            shingle, pack = shingler.prepare(texts), self._packer(store)

            def work(first: int, last: int) -> None:
                for row, shingles in shingle(first, last):
                    pack(row, shingles)
                    if digests is not None:
                        overlap.digests(shingles.values, shingles.offsets, digests[row : row + len(shingles)])

            return work

        sketches = self._run(len(texts.offsets) - 1, ranges(texts.offsets, TEXT_STEP, 1 << 16), prepare, threads)
        return replace(sketches, malformed=shingler.malformed)

    def sketch_sets(self, sets: Any, *, threads: int | None = None) -> Sketches:
        """Sketch sets that are not text: an iterable of sets of int, bytes or str, an Arrow list array, or (values, offsets)."""
        return self.sketch_shingles(from_sets(sets, mixed=self.config.family == "production"), threads=threads)

    def sketch_shingles(self, shingles: Shingles, *, threads: int | None = None) -> Sketches:
        """Sketch sets that are in the shingles shape already."""

        def prepare(store: "_Store") -> Callable[[int, int], None]:
            pack = self._packer(store)
            return lambda first, last: pack(first, Shingles(shingles.values, shingles.offsets[first : last + 1]))

        return self._run(len(shingles), ranges(shingles.offsets, SET_STEP, 1 << 16), prepare, threads)

    def _run(self, rows: int, spans: list[tuple[int, int]], prepare: Callable[["_Store"], Callable[[int, int], None]], threads: int | None) -> Sketches:
        store = _Store(np.empty((rows, self.config.layout.words), np.uint64), np.empty(rows, np.int64))
        spread(spans, lambda: prepare(store), threads)
        return Sketches(store.words, Sizes.store(store.sizes, self.config.sizes, self.config.universe), self.config)

    def _packer(self, store: "_Store") -> Callable[[int, Shingles], None]:
        """A function that sketches shingles into the store from a given row on; it owns the minima it works in."""
        lanes = len(self._multipliers)
        step = max(1, MINIMA // (lanes * self._multipliers.itemsize))
        minima = np.empty((step, lanes), self._multipliers.dtype)

        def pack(row: int, shingles: Shingles) -> None:
            store.sizes[row : row + len(shingles)] = np.diff(shingles.offsets)
            for first in range(0, len(shingles), step):
                last = min(first + step, len(shingles))
                found = self._minima(shingles, first, last, minima)
                packing.pack(found, last - first, self._parts, store.words[row + first : row + last])

        return pack

    def _minima(self, shingles: Shingles, first: int, last: int, scratch: NDArray[Any]) -> NDArray[Any]:
        """The finished minima of rows first to last - 1."""
        if self.config.family != "production":
            return study_minima(self.config, *shingles.span(first, last), self.config.layout.lanes)
        minima, finish = (kernels.minima64, kernels.finish64) if self._wide else (kernels.minima32, kernels.finish32)
        minima(shingles.values, shingles.offsets, first, last, self._multipliers, scratch)
        lane = 0
        for part in self.config.layout.components:
            if part.bits != 8 * scratch.itemsize:  # whole minima stay as they are, so that they can merge
                finish(scratch, last - first, lane, lane + part.lanes, self._multipliers)
            lane += part.lanes
        return scratch


class _Store:
    """Where the threads write, each its own rows."""

    def __init__(self, words: NDArray[np.uint64], sizes: NDArray[np.int64]) -> None:
        self.words, self.sizes = words, sizes


def _multipliers(config: Config, wide: bool) -> NDArray[Any]:
    """One odd multiplier for each lane, padded to whole vectors; a prefix of those for more lanes."""
    per_vector = kernels.BLOCK // (8 if wide else 4)
    lanes = -(-config.layout.lanes // per_vector) * per_vector
    words = splitmix64(config.seed, lanes)
    return words | np.uint64(1) if wide else (words >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
