"""How many samples of two packed sketches agree, component by component (M_i of theory.md, E1 and E4). `parts` as in packing.py."""

import numpy as np
from numba import njit

from twinset.kernels.vector import count_agreeing, count_ones

ZERO = np.uint64(0)
WIDE = 32  # columns of a group: what `count_agreeing` covers


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
    """Write tile[g, w, i] = words[first + WIDE * g + i, w] for the rows first to last - 1, and 0 beyond them. tile uint64 (>= groups, words, WIDE)."""
    for g in range((last - first + WIDE - 1) // WIDE):
        begin = first + g * WIDE
        count = min(WIDE, last - begin)
        for w in range(words.shape[1]):
            for i in range(count):
                tile[g, w, i] = words[begin + i, w]
            tile[g, w, count:] = ZERO


@njit(nogil=True, cache=True)
def agree_tile(query, tile, groups, parts, out):
    """Write out[c, WIDE * g + i] = agreeing samples of component c between `query` and column i of group g < groups of a transposed tile.

    query uint64 (words,) · tile uint64 (>= groups, words, WIDE), contiguous · out int64 (components, >= WIDE * groups). A group is read from its first word
    to its last, in a stream that lies in the second-level cache at best; its counts stay in registers.
    """
    words = tile.shape[1]
    flat, agreeing, columns = tile.reshape(-1), out.reshape(-1), out.shape[1]
    for g in range(groups):
        word = 0
        for c in range(parts.shape[0]):
            samples, bits = parts[c, 0], parts[c, 1]
            blocks, place, at = (samples + 63) // 64, (g * words + word) * WIDE, c * columns + g * WIDE
            if bits == 1:
                count_agreeing(query, word, flat, place, blocks, bits, 1, samples, agreeing, at)
            elif bits == 2:
                count_agreeing(query, word, flat, place, blocks, bits, 2, samples, agreeing, at)
            elif bits == 4:
                count_agreeing(query, word, flat, place, blocks, bits, 4, samples, agreeing, at)
            elif bits == 8:
                count_agreeing(query, word, flat, place, blocks, bits, 8, samples, agreeing, at)
            else:
                count_agreeing(query, word, flat, place, blocks, bits, 0, samples, agreeing, at)
            word += blocks * bits


@njit(nogil=True, cache=True)
def agree_rows(queries, first, last, tile, count, parts, counts, out, column):
    """Write out[q - first, column + i, c] for the query rows first to last - 1 against the columns i < count of a transposed tile.

    As `agree_tile`, with counts int64 (components, >= count, to the next multiple of WIDE) as scratch and out int32 (last - first, >= column + count, components).
    """
    for q in range(first, last):
        agree_tile(queries[q], tile, (count + WIDE - 1) // WIDE, parts, counts)
        for c in range(parts.shape[0]):
            for i in range(count):
                out[q - first, column + i, c] = counts[c, i]
