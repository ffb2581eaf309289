"""Exact set operations on the shingles shape."""

import numpy as np
from numba import njit

SEED, HALF = np.uint64(0x243F6A8885A308D3), np.uint64(32)
FIRST, SECOND = np.uint64(0x9FB21C651E98DF25), np.uint64(0xD6E8FEB86659FD93)  # odd


@njit(nogil=True, cache=True)
def intersections(values, offsets, left, right, first, last, out):
    """Write out[i] = |row left[i] ∩ row right[i]| for first <= i < last.

    values uint64 (nnz,) · offsets int64 (n+1,), rows sorted and distinct · left, right int64 (pairs,) · out int64 (pairs,). Cost: the two rows' lengths.
    """
    for i in range(first, last):
        a, a_end = offsets[left[i]], offsets[left[i] + 1]
        b, b_end = offsets[right[i]], offsets[right[i] + 1]
        common = 0
        while a < a_end and b < b_end:
            x, y = values[a], values[b]
            common += np.int64(x == y)
            a += np.int64(x <= y)
            b += np.int64(y <= x)
        out[i] = common


@njit(nogil=True, cache=True)
def digests(values, offsets, out):
    """Write two words for each row that are equal for equal rows, and for unequal ones with a probability of about 2^-120.

    values uint64 (nnz,), sorted in a row · offsets int64 (n+1,) · out uint64 (n, 2).
    """
    for d in range(out.shape[0]):
        one, other = SEED, ~SEED
        for i in range(offsets[d], offsets[d + 1]):
            one = (one ^ values[i]) * FIRST
            one ^= one >> HALF
            other = (other + values[i]) * SECOND
            other ^= other >> HALF
        out[d, 0], out[d, 1] = one, other


@njit(nogil=True, cache=True)
def take(values, offsets, rows, out, out_offsets):
    """Write the rows `rows` one after another. out uint64 (their lengths,) · out_offsets int64 (len(rows) + 1,), already the running sum of those lengths."""
    for i in range(rows.shape[0]):
        begin = offsets[rows[i]]
        for e in range(out_offsets[i + 1] - out_offsets[i]):
            out[out_offsets[i] + e] = values[begin + e]
