"""`bands`: pairs that agree in all samples of a band (LSH), over whole values or packed b-bit samples (theory.md, section 7; docs/bands.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption, UnreachableRecall
from twinset.estimate.banding import Banding, choose_banding
from twinset.estimate.sequential import differing_cdf
from twinset.layout import Component, Layout
from twinset.search.buckets import Bucket, Joiner, Samples, Sides, Slices, Words, leaders
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.search.identical import Groups
from twinset.sketch.sketches import Sketches

MISS = 1e-6  # of the pairs at the threshold that share a band, the part that may be refuted by their sketches or lost in a large bucket
MOST = 1 << 30  # pairs of an answer: 16 GB
ROWS = 1 << 32  # row numbers take 32 bits of an entry
COMPARED = 0.2  # nanoseconds to compare a word of heads in a tile, and what comes with it
KEYED = 40.0  # nanoseconds to make and sort the key of a row of a large bucket


@dataclass
class Report:
    """What a join or a query did. `compared` and `refined` count the large buckets joined each way, `largest` is the size of the largest of them."""

    rows: int = 0
    empty: int = 0
    identical: int = 0  # rows whose packed sketch is that of an earlier row: they took no part by themselves
    compared: int = 0
    refined: int = 0
    largest: int = 0
    pairs: int = 0

    def __str__(self) -> str:
        large = self.compared + self.refined
        how = (
            f"{large} large buckets, the largest of {self.largest} rows: {self.refined} split by further samples, {self.compared} compared in full" if large else "no large bucket"
        )
        return f"{self.rows} rows, {self.empty} of them empty, {self.identical} identical to an earlier one; {how}; {self.pairs} pairs"


class Bands:
    """Finds the pairs of packed sketches that share a band, less those that their sketches refute.

    `miss` bounds what is lost of the pairs at or above the threshold that share a band: half of it by refuting a pair when more samples differ than R = threshold
    makes plausible, half of it in buckets too large to compare. With 0 every pair that shares a band is reported, and large buckets are compared in full.
    Without a `banding`, the cheapest is chosen that finds a pair at the threshold with probability `recall`. A row without shingles matches nothing.
    An answer of more than `most` pairs is refused with TooManyPairs, before it is made. `room` is how many samples of a reported pair may differ.
    """

    def __init__(self, sketches: Sketches, threshold: float, *, recall: float = 0.99, banding: Banding | None = None, miss: float = MISS, most: int = MOST) -> None:
        if not 0 <= miss < 1:
            raise BadOption(f"miss is {miss}; allowed: 0 or more, and below 1")
        self.sketches, self.threshold, self.miss, self.most, self.report = sketches, threshold, miss, most, Report()
        layout, self.density = sketches.config.layout, _density(sketches)
        if banding is None:
            stricter = recall / (1 - miss) if recall + miss < 1 else recall  # of which `miss` may go
            banding = choose_banding(layout, threshold, stricter, documents=max(len(sketches), 2), r1=self.density, r2=self.density)
        if not 0 < threshold <= 1:
            raise BadOption(f"threshold is {threshold}; allowed: above 0 and at most 1")
        self.banding = banding
        if self.banding.layout.components != layout.components:
            raise BadOption(f"the banding is for layout {self.banding.layout.text!r} of {self.banding.layout.samples} samples; allowed: {layout.text!r} of {layout.samples}")
        passed = differing_cdf(layout.components, threshold, self.density)
        self.room = min(int(np.searchsorted(passed, 1 - miss / 2)), layout.samples) if miss else layout.samples
        self._slices = Slices(layout, banded_samples(self.banding), self.room)

    @property
    def about(self) -> str:
        bands = " and ".join(f"{count} bands of {rows}" for count, rows in self.banding.parts if count)
        return (
            f"bands: {bands} samples of {self.banding.layout.samples} of {self.sketches.config.bits} bits; a pair at {self.threshold:g} is found with probability "
            f"{float(self.detection(self.threshold)):.4f}" + (f"; {self.report}" if self.report.rows else "")
        )

    def detection(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that a pair of this resemblance becomes a candidate; below the threshold, where sketches refute many pairs, no more than a lower bound."""
        flat = np.asarray(similarity, np.float64)
        shared = self.banding.detection(flat, self.density, self.density)
        if not self.miss:
            return shared
        passed = np.ones(flat.shape)
        for lower in np.unique(flat[flat < self.threshold]):
            passed[flat == lower] = differing_cdf(self.banding.layout.components, float(lower), self.density)[self.room]
        return np.asarray(shared * passed * (1 - self.miss))

    def join(self, *, threads: int | None = None, progress: Progress | None = None, expand: bool = True) -> Candidates:
        """The pairs within the set. Without `expand`, rows of equal sketches come as pairs of the first of them with each other one, and only the first has other pairs."""
        done = counted(progress, self._units(len(self.sketches)))
        groups = _groups(self.sketches, threads, done)
        sides = Sides(_words(self.sketches))
        pairs = self._pairs(sides, groups.firsts, threads, done)
        self._count([self.sketches], [groups])
        left, right = groups.pairs_within(pairs, self.most) if expand else groups.stars(pairs)
        return self._answer(left, right)

    def query(self, new: Sketches, *, threads: int | None = None, progress: Progress | None = None) -> Candidates:
        """The pairs between the rows of `new` (left) and those of the set (right). Every call makes the keys of the whole set anew."""
        self.sketches.compatible(new)
        done = counted(progress, self._units(len(new) + len(self.sketches)))
        ours, theirs = _groups(self.sketches, threads, done), _groups(new, threads, done)
        sides = Sides(_words(new), _words(self.sketches))
        pairs = self._pairs(sides, np.concatenate([theirs.firsts, ours.firsts + sides.shift]), threads, done)
        self._count([new, self.sketches], [theirs, ours])
        return self._answer(*theirs.pairs_across(ours, pairs, self.most))

    def _units(self, rows: int) -> int:
        """Of progress: each row once for equal rows, and once for each band."""
        return rows * (1 + self.banding.bands)

    def _pairs(self, sides: Sides, rows: Rows, threads: int | None, done: Callable[[int], None]) -> Words:
        """The pairs among `rows`, none of them twice, ascending."""
        if sides.shift + len(rows) >= ROWS:
            raise BadOption(f"there are {len(rows)} rows; allowed: fewer than {ROWS}")
        self.report = Report()
        joiner = Joiner(sides, threads, done)

        def larger(buckets: list[Bucket]) -> None:
            for bucket in buckets:
                self._join_large(joiner, bucket)

        joiner.join(rows, self._slices, 0, self.banding.bands, larger)
        done(self.banding.bands * (sides.total - len(rows)))
        return np.sort(np.concatenate([np.zeros(0, np.uint64), *joiner.pieces]))

    def _join_large(self, joiner: Joiner, bucket: Bucket) -> None:
        """Join a bucket that does not fit a tile: by bands of the samples outside its own, if that is cheaper than to compare every pair."""
        self.report.largest = max(self.report.largest, len(bucket.rows))
        band, extra = bucket.band, self._finer(self._slices.bands[bucket.band])
        slices = self._slices.refined(band, extra)
        inner = Joiner(joiner.sides, joiner.threads, lambda units: joiner.done(0))  # these rows have been counted

        def compare(buckets: list[Bucket]) -> None:
            for each in buckets:
                inner.compare(each, slices)

        if extra and self._splits(joiner, bucket, slices, len(extra)):
            self.report.refined += 1
            inner.join(bucket.rows, slices, band, band + len(extra), compare)
            joiner.pieces += inner.pieces
        else:
            self.report.compared += 1
            joiner.compare(bucket, self._slices)

    def _splits(self, joiner: Joiner, bucket: Bucket, slices: Slices, count: int) -> bool:
        """Whether `count` finer bands cost less than a comparison of all pairs, judged by the pairs that share the first of them."""
        first = joiner.keys(bucket.rows, slices, bucket.band, bucket.band + 1)[0]
        shared = sum(joiner.sides.pairs(bucket.rows[rows]) for rows in _equal(first))
        compare = COMPARED * slices.head_words
        return count * (KEYED * len(first) + compare * shared) < compare * joiner.sides.pairs(bucket.rows)

    def _finer(self, band: Rows) -> Samples:
        """Bands of the samples outside `band`, of which a pair at the threshold shares one but for half of `miss`; none if there are too few samples."""
        parts, first = [], 0
        rest: list[Rows] = []
        for part in self.banding.layout.components:
            left = np.setdiff1d(np.arange(first, first + part.samples), band)
            first += part.samples
            if len(left):
                parts.append(Component(len(left), part.bits, part.xor))
                rest.append(left)
        if not parts or not self.miss:
            return []
        try:
            finer = _chosen(Layout(self.banding.layout.text, tuple(parts)), self.threshold, 1 - self.miss / 2, self.density)
        except UnreachableRecall:
            return []
        return [samples[i * rows : (i + 1) * rows] for samples, (bands, rows) in zip(rest, finer.parts, strict=True) for i in range(bands)]

    def _count(self, sides: list[Sketches], groups: list[Groups]) -> None:
        self.report.rows = sum(map(len, sides))
        self.report.empty = self.report.rows - sum(len(each.live) for each in groups)
        self.report.identical = sum(len(each.live) - len(each.firsts) for each in groups)

    def _answer(self, left: Rows, right: Rows) -> Candidates:
        self.report.pairs = len(left)
        return Candidates(left, right)


def banded_samples(banding: Banding) -> Samples:
    """The samples of each band, numbered through the layout; bands of the first component come first."""
    samples, first = [], 0
    for (bands, rows), part in zip(banding.parts, banding.layout.components, strict=True):
        samples += [np.arange(first + i * rows, first + (i + 1) * rows) for i in range(bands)]
        first += part.samples
    return samples


@lru_cache(maxsize=64)
def _chosen(layout: Layout, threshold: float, recall: float, density: float) -> Banding:
    return choose_banding(layout, threshold, recall, r1=density, r2=density)


def _equal(keys: Words) -> list[Rows]:
    """The places of each key that occurs more than once, ascending."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.concatenate([[True], keys[order][1:] != keys[order][:-1]]))
    ends = np.append(begins[1:], len(keys))
    return [order[begin:end] for begin, end in zip(begins, ends, strict=True) if end - begin > 1]


def _groups(sketches: Sketches, threads: int | None, done: Callable[[int], None]) -> Groups:
    """The rows that have shingles, those of equal sketches together."""
    live = np.flatnonzero(sketches.sizes.bounds()[1] > 0)
    done(len(sketches) - len(live))
    return Groups(live, leaders(_words(sketches), live, sketches.config.layout, threads, done)[live])


def _words(sketches: Sketches) -> Words:
    return np.ascontiguousarray(sketches.words)


def _density(sketches: Sketches) -> float:
    """The largest density r = f / D of the sets, for which samples agree least often; 0 in a practically infinite universe."""
    universe = sketches.config.universe
    return float(sketches.sizes.bounds()[1].max(initial=0)) / universe if universe else 0.0
