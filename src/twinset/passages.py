"""Aligned passages: what two texts have in common, as stretches of one and of the other."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.columns import column
from twinset.documents.shingles import SLACK, Shingler
from twinset.documents.unicode import tables
from twinset.errors import BadOption
from twinset.kernels import normalise, shingles
from twinset.kernels import passages as kernels

GAP = 8  # words that two neighbouring runs may have between them, in either text, and be one passage
NONE: NDArray[np.uint64] = np.empty(0, np.uint64)

Span = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A stretch of the left text and its twin in the right one: characters [first, last) of each."""

    left: Span
    right: Span
    shingles: int  # that the runs hold; shingles across a gap are not shared
    words: int  # in the runs: words, or for 'chars:K' characters
    runs: tuple[tuple[Span, Span], ...]  # what is the same on both sides, in order: between them is what differs


@dataclass(frozen=True)
class Located:
    """The shingles of a text in its order, and where its units (words or characters) are: unit i is characters spans[i, 0] to spans[i, 1] - 1."""

    hashes: NDArray[np.uint64]
    spans: NDArray[np.int64]
    width: int  # units in a shingle: fewer than the configuration says if the text has no more

    def stretches(self, begins: Iterable[int], ends: Iterable[int]) -> list[Span]:
        """The characters of units begins[i] to ends[i] - 1."""
        return [(int(self.spans[begin, 0]), int(self.spans[end - 1, 1])) for begin, end in zip(begins, ends, strict=True)]


def locate(text: str, config: Config) -> Located:
    """The shingles of a text in its order, and where its words are."""
    data, known = column([text]), tables(config.case)
    room, columns = shingles.scratch_room(*data, 0, 1, known)
    room += SLACK
    normal, hashes = np.empty(room, np.uint8), np.empty(room, np.uint64)
    origins, spans = np.empty((2, room), np.int64), np.empty((room, 2), np.int64)
    mode = Shingler(config).mode
    length, _ = normalise.normalise(data.text, 0, int(data.offsets[1]), known, mode, np.empty((2, columns), np.uint32), normal, origins)
    normal[length : length + SLACK] = 0
    units = (shingles.word_hashes if mode == normalise.WORDS else shingles.character_hashes)(normal, length, hashes)
    count = shingles.combine(hashes, units, config.width)
    shingles.unit_spans(normal, length, mode, origins, spans)
    characters = np.concatenate([np.zeros(1, np.int64), np.cumsum(data.text & 0xC0 != 0x80)])
    first, last = spans[:units].T
    return Located(hashes[:count].copy(), np.stack([characters[first], characters[last]], axis=1), min(config.width, units))


def passages(left: str, right: str, config: Config, ignored: NDArray[np.uint64] | None = None, *, gap: int = GAP) -> list[Passage]:
    """What two texts have in common, in the order of the left one.

    Each place of the left text is in one passage at most; where runs of shared shingles compete for it, the longest has it. A place of the right text may be the twin of
    several. Runs with at most `gap` words between them on both sides are one passage. No run holds a shingle that is among `ignored`.
    """
    return align(locate(left, config), locate(right, config), ignored, gap=gap)


def align(left: Located, right: Located, ignored: NDArray[np.uint64] | None = None, *, gap: int = GAP) -> list[Passage]:
    """As `passages`, of texts that are located already."""
    if gap < 0:
        raise BadOption(f"gap is {gap}; allowed: 0 or more")
    begins, sizes, partners = _tiles(*_symbols(left, right, NONE if ignored is None else ignored), left.width, len(left.spans))
    if not len(begins):
        return []
    ends, partner_ends = begins + sizes, partners + sizes
    before, between = begins[1:] - ends[:-1], partners[1:] - partner_ends[:-1]
    parts = np.flatnonzero(np.concatenate([[True], (before > gap) | (between < 0) | (between > gap)]))
    runs = list(zip(left.stretches(begins, ends), right.stretches(partners, partner_ends), strict=True))
    words = np.add.reduceat(sizes, parts).tolist()
    shared = np.add.reduceat(sizes - left.width + 1, parts).tolist()
    bounds = [*parts.tolist(), len(runs)]
    return [_passage(tuple(runs[bounds[i] : bounds[i + 1]]), shared[i], words[i]) for i in range(len(parts))]


def template(text: Located, ignored: NDArray[np.uint64]) -> list[Span]:
    """The stretches of a text that its ignored shingles cover, in order and apart from one another."""
    starts = np.flatnonzero(np.isin(text.hashes, ignored))
    if not len(starts):
        return []
    fresh = np.flatnonzero(np.concatenate([[True], np.diff(starts) > text.width]))
    return text.stretches(starts[fresh].tolist(), (starts[np.append(fresh[1:] - 1, -1)] + text.width).tolist())


def _passage(runs: tuple[tuple[Span, Span], ...], shared: int, words: int) -> Passage:
    (first, last), (start, end) = ((runs[0][side][0], runs[-1][side][1]) for side in (0, 1))
    return Passage((first, last), (start, end), shared, words, runs)


def _symbols(left: Located, right: Located, ignored: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hashes as small numbers, the same on both sides: on the left -1 for what is ignored, on the right a number that nothing else has."""
    known, numbers = np.unique(right.hashes, return_inverse=True)
    numbers = np.where(np.isin(right.hashes, ignored), len(known) + np.arange(len(right.hashes)), numbers)
    places = np.searchsorted(known, left.hashes)
    found = known[np.minimum(places, len(known) - 1)] == left.hashes if len(known) else np.zeros(len(places), bool)
    return np.where(found & ~np.isin(left.hashes, ignored), places, kernels.NONE), numbers.astype(np.int64)


def _tiles(left: NDArray[np.int64], right: NDArray[np.int64], width: int, units: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where each run begins in the left text, its units, and where it begins in the right text; in the order of the left one."""
    n = len(right)
    states, edges = np.empty((4, 2 * n + 2), np.int32), np.empty((4, 3 * n + 3), np.int32)
    table = np.full(1 << (6 * n + 6).bit_length(), kernels.NONE, np.int32)
    kernels.automaton(right, states, edges, table)
    lengths, ends = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
    kernels.walk(left, states, edges, table, lengths, ends)
    last = np.flatnonzero((lengths > 0) & (np.append(lengths[1:], 0) != lengths + 1))  # where a stretch cannot go on
    begins, sizes, shift = last - lengths[last] + 1, lengths[last] + width - 1, ends[last] - last
    heap = np.sort(sizes << 32 | kernels.LOW - np.arange(len(last)))[::-1].copy()
    kernels.tile(begins, sizes, width, heap, np.zeros((2, units), np.int64))
    kept = sizes > 0
    return begins[kept], sizes[kept], (begins + shift)[kept]
