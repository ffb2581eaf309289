"""How many samples of two packed sketches agree, component by component (M_i of theory.md, E1 and E4). `parts` as in packing.py."""

import numpy as np
from numba import njit

from twinset.kernels.vector import count_ones, subtract_differing

ZERO = np.uint64(0)
WIDE = 32  # columns that `subtract_differing` covers


@njit(nogil=True, cache=True)
def agree_pairs(left, left_rows, right, right_rows, parts, out):
    """Write out[i, c] = agreeing samples of component c between left[left_rows[i]] and right[right_rows[i]].

    left, right uint64 (n, words) · rows int64 (pairs,) · out int32 (pairs, components). Unused bits agree in both, and do not count.
    """
    for i in range(left_rows.shape[0]):
        a, b = left[left_rows[i]], right[right_rows[i]]
        word = 0
        for c in range(parts.shape[0]):
            samples, bits = parts[c, 0], parts[c, 1]
            blocks = (samples + 63) // 64
            differing = ZERO
            if bits == 1:
                for w in range(word, word + blocks):
                    differing += count_ones(a[w] ^ b[w])
            else:
                for w in range(word, word + blocks * bits, bits):
                    difference = ZERO
                    for p in range(w, w + bits):
                        difference |= a[p] ^ b[p]
                    differing += count_ones(difference)
            out[i, c] = samples - np.int64(differing)
            word += blocks * bits


@njit(nogil=True, cache=True)
def transpose(words, first, last, tile):
    """Write tile[w, i] = words[first + i, w] for the rows first to last - 1. tile uint64 (words, >= last - first)."""
    for i in range(last - first):
        for w in range(words.shape[1]):
            tile[w, i] = words[first + i, w]


@njit(nogil=True, cache=True)
def agree_tile(query, tile, count, parts, difference, out):
    """Write out[c, i] = agreeing samples of component c between `query` and column i < count of a transposed tile.

    query uint64 (words,) · tile uint64 (words, >= count), rows contiguous · difference uint64 (>= count,), scratch · out int64 (components, >= count).
    Every loop runs along the tile, so a machine with vector bit counts does a whole register of sketches at a time. Fastest where the rows of the tile
    begin at multiples of 64 bytes: vectors that straddle two cache lines cost a third of the speed.
    """
    word, even = 0, count - count % WIDE
    for c in range(parts.shape[0]):
        samples, bits = parts[c, 0], parts[c, 1]
        blocks, agreeing = (samples + 63) // 64, out[c]
        agreeing[:count] = samples
        eights = blocks * bits // 8 if bits == 1 or bits == 2 or bits == 4 or bits == 8 else 0
        _subtract_eights(query, tile, word, eights, bits, even, agreeing)
        rest = word + 8 * eights
        word += blocks * bits
        _subtract_blocks(query, tile, rest, word, bits, even, difference, agreeing)
        if even < count:
            _subtract_blocks(query, tile[:, even:], word - blocks * bits, word, bits, count - even, difference, agreeing[even:])


@njit(nogil=True, cache=True)
def _subtract_eights(query, tile, word, eights, bits, count, agreeing):
    """Take the differing samples of 8 * eights words off `agreeing`, eight words a pass to spare the accumulator's traffic. count: a multiple of WIDE."""
    for w in range(word, word + 8 * eights, 8):
        q0, q1, q2, q3 = query[w], query[w + 1], query[w + 2], query[w + 3]
        q4, q5, q6, q7 = query[w + 4], query[w + 5], query[w + 6], query[w + 7]
        if bits == 1:
            for i in range(0, count, WIDE):
                subtract_differing(agreeing, tile, w, i, 1, q0, q1, q2, q3, q4, q5, q6, q7)
        elif bits == 2:
            for i in range(0, count, WIDE):
                subtract_differing(agreeing, tile, w, i, 2, q0, q1, q2, q3, q4, q5, q6, q7)
        elif bits == 4:
            for i in range(0, count, WIDE):
                subtract_differing(agreeing, tile, w, i, 4, q0, q1, q2, q3, q4, q5, q6, q7)
        else:
            for i in range(0, count, WIDE):
                subtract_differing(agreeing, tile, w, i, 8, q0, q1, q2, q3, q4, q5, q6, q7)


@njit(nogil=True, cache=True)
def _subtract_blocks(query, tile, word, end, bits, count, difference, agreeing):
    """Take the differing samples of the blocks from `word` to `end` off `agreeing`, for any number of blocks, bits and columns."""
    for w in range(word, end, bits):
        if bits == 1:
            q, t = query[w], tile[w]
            for i in range(count):
                agreeing[i] -= np.int64(count_ones(q ^ t[i]))
        else:
            _subtract_planes(query, tile, w, bits, count, difference, agreeing)


@njit(nogil=True, cache=True)
def _subtract_planes(query, tile, word, bits, count, difference, agreeing):
    """Take the differing samples of one block of `bits` planes off `agreeing`, two planes a pass."""
    q0, q1 = query[word], query[word + 1]
    t0, t1 = tile[word], tile[word + 1]
    if bits == 2:
        for i in range(count):
            agreeing[i] -= np.int64(count_ones((q0 ^ t0[i]) | (q1 ^ t1[i])))
        return
    for i in range(count):
        difference[i] = (q0 ^ t0[i]) | (q1 ^ t1[i])
    for p in range(word + 2, word + bits):
        q, t = query[p], tile[p]
        for i in range(count):
            difference[i] |= q ^ t[i]
    for i in range(count):
        agreeing[i] -= np.int64(count_ones(difference[i]))


@njit(nogil=True, cache=True)
def agree_rows(queries, first, last, tile, count, parts, difference, counts, out, column):
    """Write out[q - first, column + i, c] for the query rows first to last - 1 against the columns i < count of a transposed tile.

    As `agree_tile`, with counts int64 (components, >= count) as scratch and out int32 (last - first, >= column + count, components).
    """
    for q in range(first, last):
        agree_tile(queries[q], tile, count, parts, difference, counts)
        for c in range(parts.shape[0]):
            for i in range(count):
                out[q - first, column + i, c] = counts[c, i]
