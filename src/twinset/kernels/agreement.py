"""How many samples of two packed sketches agree, component by component (M_i of theory.md, E1 and E4). `parts` as in packing.py."""

import numpy as np
from numba import njit

from twinset.kernels.vector import count_agreeing, count_ones

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
WIDE = 32  # columns of a group: what `count_agreeing` covers
TOGETHER = 4  # queries that share each load of a tile


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
def agree_rows(queries, first, last, tile, count, parts, counts, out, column):
    """Write out[q - first, column + i, c] = agreeing samples of component c between query row q and column i, first <= q < last, i < count.

    queries uint64 (n, words) · tile uint64 (>= groups, words, WIDE) from `transpose`, contiguous · counts int32 (components, TOGETHER * WIDE), scratch · out int32
    (last - first, >= column + count, components). Best where the tile fits the second-level cache: it is read once for TOGETHER queries, and their sums stay in registers.
    """
    words, kinds = tile.shape[1], parts.shape[0]
    asked, flat, agreeing, found, row_size = queries.reshape(-1), tile.reshape(-1), counts.reshape(-1), out.reshape(-1), out.shape[1] * kinds
    for q in range(first, last, TOGETHER):
        together = TOGETHER if q + TOGETHER <= last else 1
        for row in range(q, min(q + TOGETHER, last), together):
            for g in range((count + WIDE - 1) // WIDE):
                word, at = 0, (row - first) * row_size + (column + g * WIDE) * kinds
                direct = kinds == 1 and (g + 1) * WIDE <= count
                for c in range(kinds):
                    samples, bits = parts[c, 0], parts[c, 1]
                    blocks, start, place = (samples + 63) // 64, row * words + word, (g * words + word) * WIDE
                    if direct:
                        _count_group(asked, start, words, flat, place, blocks, bits, together, samples, found, at, row_size)
                    else:
                        _count_group(asked, start, words, flat, place, blocks, bits, together, samples, agreeing, c * TOGETHER * WIDE, WIDE)
                    word += blocks * bits
                if not direct:
                    for r in range(together):
                        _weave(agreeing, np.uint64(r * WIDE), np.uint64(kinds), np.uint64(min(WIDE, count - g * WIDE)), found, np.uint64(at + r * row_size))


@njit(nogil=True, cache=True)
def _count_group(asked, start, stride, flat, place, blocks, bits, together, samples, out, at, step):
    """`count_agreeing` for TOGETHER queries or one, with its loop over the words of a block unrolled for the usual numbers of bits."""
    if together == 1:
        count_agreeing(asked, start, stride, flat, place, blocks, bits, 0, 1, samples, out, at, step)
    elif bits == 1:
        count_agreeing(asked, start, stride, flat, place, blocks, bits, 1, TOGETHER, samples, out, at, step)
    elif bits == 2:
        count_agreeing(asked, start, stride, flat, place, blocks, bits, 2, TOGETHER, samples, out, at, step)
    else:
        count_agreeing(asked, start, stride, flat, place, blocks, bits, 0, TOGETHER, samples, out, at, step)


@njit(nogil=True, cache=True)
def _weave(counts, begin, kinds, width, out, at):
    """Write out[at + kinds * i + c] = counts[begin + c * TOGETHER * WIDE + i], i < width. Unsigned numbers, because an index that may be negative hinders vectors."""
    if kinds == TWO:
        other = begin + np.uint64(TOGETHER * WIDE)
        for i in range(width):
            out[at + TWO * i] = counts[begin + i]
            out[at + TWO * i + ONE] = counts[other + i]
    else:
        for c in range(kinds):
            for i in range(width):
                out[at + kinds * i + c] = counts[begin + c * np.uint64(TOGETHER * WIDE) + i]
