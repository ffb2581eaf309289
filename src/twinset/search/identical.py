"""Rows whose packed sketches are the same: joined once for all of them, and put back into the answer."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from twinset.errors import TooManyPairs
from twinset.search.candidates import Rows

Words = NDArray[np.uint64]  # pairs, as left << 32 | right

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Groups:
    """Rows `live`, ascending, and for each of them the first row of the same sketch."""

    live: Rows
    leaders: Rows

    @cached_property
    def firsts(self) -> Rows:
        """The first row of each group, ascending."""
        firsts: Rows = self.live[self.leaders == self.live]
        return firsts

    @cached_property
    def sizes(self) -> Rows:
        """How many rows each group has."""
        return np.bincount(np.searchsorted(self.firsts, self.leaders), minlength=len(self.firsts))

    @cached_property
    def members(self) -> Rows:
        """The rows group by group, ascending in each."""
        return self.live[np.argsort(self.leaders, kind="stable")]

    @cached_property
    def begins(self) -> Rows:
        """Where each group begins among the members."""
        return np.cumsum(self.sizes) - self.sizes

    def pairs_within(self, pairs: Words, most: int) -> tuple[Rows, Rows]:
        """All pairs of rows, from ascending pairs of first rows: those of each group, and each row of one group with each of the other."""
        if len(self.firsts) == len(self.live):
            refuse_beyond(most, len(pairs), 1)
            return unpacked(pairs)
        one, other = (np.searchsorted(self.firsts, rows) for rows in unpacked(pairs))
        inside = int((self.sizes * (self.sizes - 1) // 2).sum())
        refuse_beyond(most, inside + int((self.sizes[one] * self.sizes[other]).sum()), int(self.sizes.max()))
        left, right = product(self.members, self.begins[one], self.sizes[one], self.members, self.begins[other], self.sizes[other])
        position = np.arange(len(self.members))
        after = np.repeat(self.begins + self.sizes, self.sizes) - position - 1
        first, second = product(self.members, position, np.ones_like(after), self.members, position + 1, after)
        return unpacked(np.sort(packed(np.concatenate([np.minimum(left, right), first]), np.concatenate([np.maximum(left, right), second]))))

    def pairs_across(self, other: "Groups", pairs: Words, most: int) -> tuple[Rows, Rows]:
        """All pairs of a row of these and a row of the others, from pairs of first rows."""
        if len(self.firsts) == len(self.live) and len(other.firsts) == len(other.live):
            refuse_beyond(most, len(pairs), 1)
            return unpacked(pairs)
        rows = unpacked(pairs)
        one, two = np.searchsorted(self.firsts, rows[0]), np.searchsorted(other.firsts, rows[1])
        refuse_beyond(most, int((self.sizes[one] * other.sizes[two]).sum()), max(int(self.sizes.max(initial=0)), int(other.sizes.max(initial=0))))
        return unpacked(np.sort(packed(*product(self.members, self.begins[one], self.sizes[one], other.members, other.begins[two], other.sizes[two]))))

    def stars(self, pairs: Words) -> tuple[Rows, Rows]:
        """The pairs of first rows, and each first row with the others of its group."""
        later = self.leaders != self.live
        return unpacked(np.sort(np.concatenate([pairs, packed(self.leaders[later], self.live[later])])))


def product(left: Rows, left_begin: Rows, left_count: Rows, right: Rows, right_begin: Rows, right_count: Rows) -> tuple[Rows, Rows]:
    """For each i, all pairs of one of left[left_begin[i] :][: left_count[i]] and one of right[right_begin[i] :][: right_count[i]]."""
    counts = left_count * right_count
    which = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    one, two = np.divmod(place, right_count[which])
    return left[left_begin[which] + one], right[right_begin[which] + two]


def packed(left: Rows, right: Rows) -> Words:
    return left.astype(np.uint64) << HALF | right.astype(np.uint64)


def unpacked(pairs: Words) -> tuple[Rows, Rows]:
    return (pairs >> HALF).astype(np.int64), (pairs & LOW).astype(np.int64)


def refuse_beyond(most: int, pairs: int, largest: int) -> None:
    if pairs > most:
        raise TooManyPairs(
            f"the answer has {pairs} pairs, and the largest group of equal sketches {largest} rows; allowed: {most} pairs; "
            "raise `most`, raise the threshold, or join with expand=False, which pairs equal sketches with the first of them only"
        )
