"""The pairs of a bucket: rows that share the key of a band, compared with one another. Entries as in banding.py.

A pair counts when, in this order, its sketches do not refute it, it agrees in the band of the bucket, and it agrees in no band before that: so a pair that
shares many bands is written once, and no set of pairs is kept anywhere. `blocks` int64 (blocks, 2) describes each block of 64 samples: its first word and its
planes. `room` is how many samples of a pair may differ before its sketches refute it.

A head is the first plane of each block, or the first few where every component has them. Samples that agree agree in their heads, so heads that differ too much
refute a pair without any further risk.
"""

import numpy as np
from numba import njit

from twinset.kernels.agreement import TOGETHER, WIDE
from twinset.kernels.probing import prefetch
from twinset.kernels.scanning import _near
from twinset.kernels.vector import count_ones, trailing_zeros

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ZERO, ONE = np.uint64(0), np.uint64(1)
HEAD = 4  # planes of a head, at most: unrelated samples agree in it once in 16 times
AHEAD = 16  # entries between the one whose row is asked of the memory and the bucket at work
LINE, MOST = 8, 256  # words of a cache line, and of a row that are asked for at most
FEW = 512  # a bucket of so many pairs is compared in place; the columns of a larger one are copied to a tile first


@njit(nogil=True, cache=True)
def _differing(a, i, b, j, blocks, most, differing):
    """The number of samples that differ in the first `most` planes; differing[t] gets those of block t. a, b flat, i and j the first words of the rows."""
    total = 0
    for t in range(blocks.shape[0]):
        word, planes = blocks[t, 0], min(blocks[t, 1], most)
        difference = ZERO
        for p in range(planes):  # unsigned, because an index that may be negative hinders vectors
            difference |= a[np.uint64(i + word + p)] ^ b[np.uint64(j + word + p)]
        differing[t] = difference
        total += np.int64(count_ones(difference))
    return total


@njit(nogil=True, cache=True)
def _agrees(differing, band, begins, places, masks):
    for s in range(begins[band], begins[band + 1]):  # noqa: SIM110 - a loop that Numba compiles
        if differing[places[s]] & masks[s]:
            return False
    return True


@njit(nogil=True, cache=True)
def counts_here(a, i, b, j, blocks, room, band, begins, places, masks, differing):
    """Whether the pair is to be written at `band`: see above. begins int64 (bands + 1,): the slices of each band; places int64, masks uint64 (slices,)."""
    if _differing(a, i, b, j, blocks, HEAD, differing) > room:
        return False
    if _differing(a, i, b, j, blocks, 64, differing) > room or not _agrees(differing, band, begins, places, masks):
        return False
    for earlier in range(band):  # noqa: SIM110 - a loop that Numba compiles
        if _agrees(differing, earlier, begins, places, masks):
            return False
    return True


@njit(nogil=True, cache=True)
def _fill(entries, first, last, words, width, shift, blocks, planes, tile):
    """Write the heads of the rows of entries[first:last] to a tile of groups of 32 columns; what lies beyond them keeps what it held."""
    for c in range(last - first):
        begin = (np.int64(entries[first + c] & LOW) - shift) * width
        for t in range(blocks.shape[0]):
            for p in range(planes):
                tile[c // WIDE, t * planes + p, c % WIDE] = words[begin + blocks[t, 0] + p]


@njit(nogil=True, cache=True)
def join_block(entries, row, last, first_column, last_column, band, left, right, width, shift, rule, scratch, written, out):
    """Write the pairs of entries[row:last] with entries[first_column:last_column] from out[written] on; return the row to go on from, and the pairs written so far.

    Within one set (shift 0) only columns after the row itself. The columns' heads are copied to a tile, and those of four rows at a time compared with it.
    left to shift as in join_buckets · rule: blocks, room, begins, places, masks, planes of a head · scratch: tile uint64 (groups, head words, 32), heads uint64
    (4, head words), differing uint64 (blocks,) · out uint64 (>= 4 * columns,): left << 32 | right.
    """
    blocks, room, begins, places, masks, planes = rule
    tile, heads, differing = scratch
    _fill(entries, first_column, last_column, right, width, shift, blocks, planes, tile)
    flat, asked, words = tile.reshape(-1), heads.reshape(-1), heads.shape[1]
    while row < last:
        together = TOGETHER if row + TOGETHER <= last else 1
        begin = max(first_column, row + 1) if shift == 0 else first_column
        if written + together * (last_column - begin) > out.shape[0]:
            return row, written
        for r in range(together):
            one = np.int64(entries[row + r] & LOW) * width
            for t in range(blocks.shape[0]):
                for p in range(planes):
                    heads[r, t * planes + p] = left[one + blocks[t, 0] + p]
        for g in range((begin - first_column) // WIDE, (last_column - first_column + WIDE - 1) // WIDE):
            near = _near(asked, 0, words, flat, g * words * WIDE, blocks.shape[0], planes, together, room)
            if near[0] | near[1] | near[2] | near[3]:
                for r in range(together):
                    mask = np.uint64(near[r])
                    one = np.int64(entries[row + r] & LOW)
                    while mask:
                        column = first_column + g * WIDE + np.int64(trailing_zeros(mask))
                        mask &= mask - ONE
                        if column < last_column and (shift > 0 or column > row + r):
                            other = np.int64(entries[column] & LOW) - shift
                            if counts_here(left, one * width, right, other * width, blocks, room, band, begins, places, masks, differing):
                                out[written] = np.uint64(one) << HALF | np.uint64(other)
                                written += 1
        row += together
    return row, written


@njit(nogil=True, cache=True)
def _join_few(entries, first, split, last, band, left, right, width, shift, rule, differing, written, out):
    """As join_block for a small bucket, which `out` has room for; return the pairs written so far."""
    blocks, room, begins, places, masks, _ = rule
    for row in range(first, split):
        one = np.int64(entries[row] & LOW)
        for column in range(row + 1 if shift == 0 else split, last):
            other = np.int64(entries[column] & LOW) - shift
            if counts_here(left, one * width, right, other * width, blocks, room, band, begins, places, masks, differing):
                out[written] = np.uint64(one) << HALF | np.uint64(other)
                written += 1
    return written


@njit(nogil=True, cache=True)
def _ask(entry, left, right, width, shift):
    """Ask the memory for the words of an entry's row."""
    row = np.int64(entry & LOW)
    for line in range(0, min(width, MOST), LINE):
        if row < shift or shift == 0:
            prefetch(left, row * width + line)
        else:
            prefetch(right, (row - shift) * width + line)


@njit(nogil=True, cache=True)
def join_buckets(entries, place, row, last, band, left, right, width, shift, rule, scratch, out, large, found):
    """Write the pairs of every bucket of sorted entries[place:last]; return where to go on: (place, row, pairs written, large buckets found).

    left, right flat uint64, rows of `width` words. Within one set `right` is `left` and shift is 0; else entries with rows from `shift` on are the rows
    less `shift` of `right`, the others those of `left`, and only pairs of one of each count. Buckets of more columns than the tile holds are only noted, in
    large int64 (>= buckets of that size, 2): first and last place. `row` is where in the bucket at `place` to begin; `rule` to `out` as in join_block, out (>= FEW,).
    """
    columns, written, asked = scratch[0].shape[0] * WIDE, 0, place
    while place < last:
        end = place + 1
        while end < last and entries[end] >> HALF == entries[place] >> HALF:
            end += 1
        while asked < min(end + AHEAD, last - 1):
            if entries[asked] >> HALF == entries[asked + 1] >> HALF:
                _ask(entries[asked], left, right, width, shift)
                _ask(entries[asked + 1], left, right, width, shift)
            asked += 1
        split = end
        if shift > 0:
            split = place
            while split < end and np.int64(entries[split] & LOW) < shift:
                split += 1
        begin = place if shift == 0 else split
        if end - place > 1 and split > place and end > begin:
            if end - begin > columns:
                large[found, 0], large[found, 1] = place, end
                found += 1
            elif (split - place) * (end - begin) > FEW:
                row, written = join_block(entries, max(row, place), split, begin, end, band, left, right, width, shift, rule, scratch, written, out)
                if row < split:
                    return place, row, written, found
            else:
                if written + FEW > out.shape[0]:
                    return place, place, written, found
                written = _join_few(entries, place, split, end, band, left, right, width, shift, rule, scratch[2], written, out)
        place = end
    return place, place, written, found
