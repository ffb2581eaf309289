"""Every sketch against every other, tile by tile: the heads of sketches first, and only what survives them whole. `parts` as in packing.py."""

import numpy as np
from numba import njit

from twinset.kernels.agreement import TOGETHER, WIDE
from twinset.kernels.vector import count_ones, near_columns, trailing_zeros

ZERO, ONE, NONE = np.uint64(0), np.uint64(1), np.uint32(0)


@njit(nogil=True, cache=True)
def heads(words, rows, bits, planes, blocks, out):
    """Write the heads of some rows: out[i, k * planes + p] = words[rows[i], k * bits + p]. out uint64 (len(rows), planes * blocks)."""
    for i in range(rows.shape[0]):
        for k in range(blocks):
            for p in range(planes):
                out[i, k * planes + p] = words[rows[i], k * bits + p]


@njit(nogil=True, cache=True)
def scan(asked, starts, stops, first, last, group, groups, resumed, head, planes, most, left, left_rows, right, right_rows, parts, limits, out, filled):
    """Append to out[:, filled:] the pairs (query q, column i) that pass, first <= q < last, group <= i // WIDE < groups, starts[q] <= i < stops[q].

    asked uint64 (queries, words of a head) · starts, stops int64 (queries,), both ascending · head uint64 (groups, words of a head, WIDE), the heads of the
    columns, transposed · at most `most` samples of a head may differ · left, right uint64 (n, words): the sketches, of which left_rows[q] and right_rows[i] are
    meant · limits as in estimate/sequential.py · out int64 (2, capacity). Query `first` begins at group `resumed`. Returns (q, g, filled): where to resume
    if `out` had no room, else q = last.
    """
    words = asked.shape[1]
    flat_asked, flat, blocks = asked.reshape(-1), head.reshape(-1), words // planes
    q = first
    while q < last:
        together = TOGETHER if q + TOGETHER <= last else 1
        end = min(groups, (stops[q + together - 1] + WIDE - 1) // WIDE)
        for g in range(max(resumed, starts[q] // WIDE), end):
            if filled + TOGETHER * WIDE > out.shape[1]:
                return q, g, filled
            masks = _near(flat_asked, q * words, words, flat, g * words * WIDE, blocks, planes, together, most)
            if masks[0] | masks[1] | masks[2] | masks[3]:
                for r in range(together):
                    mask = np.uint64(masks[r])
                    while mask:
                        i = g * WIDE + np.int64(trailing_zeros(mask))
                        mask &= mask - ONE
                        if starts[q + r] <= i < stops[q + r] and passes(left[left_rows[q + r]], right[right_rows[i]], parts, limits):
                            out[0, filled], out[1, filled] = q + r, i
                            filled += 1
        resumed = group
        q += together
    return q, group, filled


@njit(nogil=True, cache=True)
def _near(asked, start, stride, flat, place, blocks, planes, together, most):
    """`near_columns` for TOGETHER queries, or one and no masks for the others."""
    if together == 1:
        if planes == 1:
            only = near_columns(asked, start, stride, flat, place, blocks, planes, 1, 1, most)
        else:
            only = near_columns(asked, start, stride, flat, place, blocks, planes, 0, 1, most)
        return only[0], NONE, NONE, NONE
    if planes == 1:
        return near_columns(asked, start, stride, flat, place, blocks, planes, 1, TOGETHER, most)
    if planes == 2:
        return near_columns(asked, start, stride, flat, place, blocks, planes, 2, TOGETHER, most)
    return near_columns(asked, start, stride, flat, place, blocks, planes, 0, TOGETHER, most)


@njit(nogil=True, cache=True)
def passes(a, b, parts, limits):
    """Whether two packed sketches differ in at most limits[i] samples after block i, for every block. Unused bits agree in both."""
    differing, word, block = 0, 0, 0
    for c in range(parts.shape[0]):
        bits = parts[c, 1]
        for _ in range((parts[c, 0] + 63) // 64):
            difference = ZERO
            for w in range(word, word + bits):
                difference |= a[w] ^ b[w]
            differing += np.int64(count_ones(difference))
            if differing > limits[block]:
                return False
            word += bits
            block += 1
    return True
