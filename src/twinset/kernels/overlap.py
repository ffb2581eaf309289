"""Exact set operations on the shingles shape."""

import numpy as np
from numba import njit


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
