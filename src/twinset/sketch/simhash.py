"""The SimHash sketcher: texts, sets or weighted features in, fingerprints out."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.config import SimConfig
from twinset.documents.columns import Column, column
from twinset.documents.sets import features
from twinset.documents.shingles import Shingler, Shingles
from twinset.errors import BadInput, BadOption
from twinset.kernels import simhash as kernels
from twinset.kernels import terms
from twinset.kernels.shingles import count_room
from twinset.parallel import Range, ranges, spread
from twinset.sketch.fingerprints import Fingerprints
from twinset.sketch.frequencies import Frequencies, count
from twinset.sketch.seeds import splitmix64

TEXT_STEP = 1 << 20  # bytes of text that a thread takes at a time
SET_STEP = 1 << 17  # features that a thread takes at a time
SUMS = 1 << 17  # bytes of sums held before their signs are taken
KINDS = {"constant": terms.CONSTANT, "tf": terms.TIMES, "tfidf": terms.INVERSE}
LEVELS = int(kernels.LEVELS) + 1
GRAIN = 1 << 12  # values of the Gaussian table are multiples of 1 / GRAIN, so that sums of them are exact in any order
LEAST, MOST = 1e-100, 1e100  # weights whose squares add up without overflow or loss
GIVEN = "allowed: (values, offsets, weights), with a weight for each value"

NOTHING = (np.zeros(1, np.uint64), np.zeros(1), 0.0)  # a table that holds no factor

Pack = Callable[[int, Shingles], None]


class SimHash:
    """Fingerprints of documents under one frozen configuration: `SimHash(weights="tfidf", shingle="words:1", bits=64, seed=42)`."""

    def __init__(self, config: SimConfig | None = None, **options: Any) -> None:
        self.config = SimConfig(**options) if config is None else config
        per_word = kernels.WORD // kernels.PER_HASH if self.config.gaussian else 1
        self._salts = splitmix64(self.config.seed, self.config.words * per_word)

    def __repr__(self) -> str:
        return f"SimHash({self.config})"

    def sketch(self, texts: Any, *, frequencies: Frequencies | None = None, keep: bool = False, threads: int | None = None, strict: bool = False) -> Fingerprints:
        """Fingerprints of a list of str or an Arrow string array, in order.

        With weights "tfidf" document frequencies are those of these texts, or the given ones: a query takes its collection's, `Fingerprints.frequencies`.
        A feature that they do not hold counts as rarer than any in it. `keep` keeps the projections W_j. `strict` refuses malformed UTF-8 instead of
        replacing it by U+FFFD.
        """
        return self.sketch_column(column(texts), frequencies=frequencies, keep=keep, threads=threads, strict=strict)

    def sketch_column(
        self, texts: Column, *, frequencies: Frequencies | None = None, keep: bool = False, threads: int | None = None, strict: bool = False, first: int = 0
    ) -> Fingerprints:
        """`sketch` for texts that are already bytes and offsets; messages number them from `first`."""
        chosen = self._chosen(frequencies, self._source, lambda: self._count_column(texts, threads, strict, first))
        shingler = Shingler(self.config, strict, first, repeats=True)

        def prepare(pack: Pack) -> Callable[[int, int], None]:
            shingle = shingler.prepare(texts)

            def work(first: int, last: int) -> None:
                for row, found in shingle(first, last):
                    pack(row, found)

            return work

        done = self._run(len(texts.offsets) - 1, ranges(texts.offsets, TEXT_STEP, 1 << 16), prepare, chosen, keep, threads)
        return replace(done, malformed=shingler.malformed)

    def fit(self, texts: Any, *, threads: int | None = None, strict: bool = False) -> Frequencies:
        """The document frequencies of a collection of texts, for `sketch(..., frequencies=...)`. Those of several batches merge."""
        return self._count_column(column(texts), threads, strict, 0)

    def sketch_sets(self, sets: Any, *, frequencies: Frequencies | None = None, keep: bool = False, threads: int | None = None) -> Fingerprints:
        """Fingerprints of features that are not text: an iterable of collections of int, bytes or str, an Arrow list array, or (values, offsets).

        An element that repeats counts as often as it occurs, unless weights are "constant".
        """
        hashes, offsets = features(sets)
        values = np.empty_like(hashes)
        terms.sort_rows(hashes, offsets, np.empty(count_room(int(np.diff(offsets).max(initial=0))), np.int32), values)
        rows, steps = Shingles(values, offsets), ranges(offsets, SET_STEP, 1 << 16)

        def part(first: int, last: int) -> Shingles:
            return Shingles(*rows.span(first, last))

        chosen = self._chosen(frequencies, "sets", lambda: count(len(rows), steps, lambda: lambda first, last: [part(first, last)], "sets", threads))
        return self._run(len(rows), steps, lambda pack: lambda first, last: pack(first, part(first, last)), chosen, keep, threads)

    def sketch_weighted(self, weighted: Any, *, keep: bool = False, threads: int | None = None) -> Fingerprints:
        """Fingerprints of features with the caller's weights, under weights="given": (values, offsets, weights), values whole numbers.

        A document's features are added in the order given; the weights of a feature that repeats add up. A weight is finite and not negative, and a document
        that has features has one above 0.
        """
        if self.config.weights != "given":
            raise BadOption(f"weights is {self.config.weights!r}, by which sketch_weighted would not go; allowed: 'given'")
        values, offsets, weights = _weighted(weighted)
        store, ends = _Store(self.config, len(offsets) - 1, keep), offsets[1:]

        def prepare() -> Callable[[int, int], None]:
            project = self._projector(store)
            return lambda first, last: project(values, weights, ends, first, last, 0)

        spread(ranges(offsets, SET_STEP, 1 << 16), prepare, threads)
        return store.fingerprints(self.config, None)

    @property
    def _source(self) -> str:
        """What its features of texts are."""
        return f"{self.config.shingle}, case {self.config.case}, space {self.config.space}, {self.config.rules['unicode']}, scheme {self.config.rules['scheme']}"

    def _chosen(self, given: Frequencies | None, source: str, counted: Callable[[], Frequencies]) -> Frequencies | None:
        """The frequencies to weigh by: the given ones, checked, or else those counted; None under weights that need none."""
        if self.config.weights == "given":
            raise BadOption("weights is 'given', and there are none; allowed here: constant, tf, tfidf")
        if self.config.weights != "tfidf":
            if given is not None:
                raise BadOption(f"weights is {self.config.weights!r}, which takes no frequencies; allowed with them: 'tfidf'")
            return None
        if given is None:
            return counted()
        given.check(source)
        return given

    def _count_column(self, texts: Column, threads: int | None, strict: bool, first: int) -> Frequencies:
        shingler = Shingler(self.config, strict, first, repeats=True)

        def prepare() -> Callable[[int, int], Iterable[Shingles]]:
            shingle = shingler.prepare(texts)
            return lambda first, last: (found for _, found in shingle(first, last))

        return count(len(texts.offsets) - 1, ranges(texts.offsets, TEXT_STEP, 1 << 16), prepare, self._source, threads)

    def _run(
        self, rows: int, spans: list[Range], prepare: Callable[[Pack], Callable[[int, int], None]], frequencies: Frequencies | None, keep: bool, threads: int | None
    ) -> Fingerprints:
        """Fingerprints of `rows` rows that each thread's `prepare(pack)` hands to `pack`, ascending with repeats."""
        store, kind = _Store(self.config, rows, keep), KINDS[self.config.weights]
        table = NOTHING if frequencies is None else frequencies.table

        def start() -> Callable[[int, int], None]:
            project = self._projector(store)

            def pack(row: int, found: Shingles) -> None:
                weights, ends = np.empty(len(found.values)), np.empty(len(found), np.int64)
                terms.weigh_rows(found.values, found.offsets, kind, *table, weights, ends)
                project(found.values, weights, ends, 0, len(found), row)

            return prepare(pack)

        spread(spans, start, threads)
        return store.fingerprints(self.config, frequencies)

    def _projector(self, store: "_Store") -> Callable[..., None]:
        """A function from rows first to last - 1 of (values, weights, ends) to the rows of the store that begin at `row` + first; it owns the sums it works in."""
        step = max(1, SUMS // (8 * self.config.bits))
        sums = np.empty((step, self.config.bits))

        def project(values: NDArray[np.uint64], weights: NDArray[np.float64], ends: NDArray[np.int64], first: int, last: int, row: int) -> None:
            for begin in range(first, last, step):
                end = min(begin + step, last)
                if self.config.gaussian:
                    kernels.project_gaussian(values, weights, ends, begin, end, self._salts, _normal(), sums)
                else:
                    kernels.project_signs(values, weights, ends, begin, end, self._salts, sign_table(), sums)
                kernels.take_signs(sums, weights, ends, begin, end, store.words[row:], store.projections[row:], store.empty[row:])

        return project


class _Store:
    """Where the threads write, each its own rows."""

    def __init__(self, config: SimConfig, rows: int, keep: bool) -> None:
        self.words, self.empty = np.empty((rows, config.words), np.uint64), np.empty(rows, np.bool_)
        self.projections = np.empty((rows, config.bits if keep else 0), np.float32)

    def fingerprints(self, config: SimConfig, frequencies: Frequencies | None) -> Fingerprints:
        return Fingerprints(self.words, config, self.projections if self.projections.shape[1] else None, empty=self.empty, frequencies=frequencies)


@cache
def sign_table() -> NDArray[np.float64]:
    """1 for each one bit of each byte value, -1 for each zero bit, lowest first: 8 doubles to a byte value, on whole lines of the cache."""
    room = np.empty(256 * 8 + 8)
    table = room[-(room.ctypes.data // 8) % 8 :][: 256 * 8]
    table[:] = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8), bitorder="little") - 1
    return table


@cache
def _normal() -> NDArray[np.float64]:
    """Equally likely values of a normal variable of mean 0 and variance 1, ascending: the middles of LEVELS equal shares of it."""
    middles = np.array([NormalDist().inv_cdf((i + 0.5) / LEVELS) for i in range(LEVELS)])
    return np.asarray(np.rint(middles / middles.std() * GRAIN) / GRAIN)


def _weighted(weighted: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
    """Hashes, offsets and weights, checked."""
    if not isinstance(weighted, tuple) or len(weighted) != 3:
        raise BadInput(f"weighted features are a {type(weighted).__name__}; {GIVEN}")
    values, offsets = features((np.asarray(weighted[0]), weighted[1]))
    weights = np.asarray(weighted[2])
    if weights.shape != values.shape or weights.dtype.kind not in "iuf":
        raise BadInput(f"weights have type {weights.dtype} and shape {weights.shape}, the values shape {values.shape}; {GIVEN}")
    weights = np.ascontiguousarray(weights, np.float64)
    wrong = ~((weights == 0) | ((weights >= LEAST) & (weights <= MOST)))
    if wrong.any():
        raise BadInput(f"a weight is {weights[wrong.argmax()]}; allowed: 0, or from {LEAST} to {MOST}")
    positive = np.concatenate([np.zeros(1, np.int64), np.cumsum(weights > 0)])[offsets]
    hollow = (np.diff(positive) == 0) & (np.diff(offsets) > 0)
    if hollow.any():
        raise BadInput(f"the weights of document {hollow.argmax()} are all 0; allowed: a weight above 0 in each document that has features")
    return values, offsets, weights
