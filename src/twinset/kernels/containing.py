"""Which sets hold a stated share of another one: the rarest tokens of each are looked up in all."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def probe(first, last, tokens, offsets, needs, heads, postings, border, seen, touched, out, filled):
    """Append to out[:, filled:] the (row a, row b, tokens shared) with at least needs[a] shared, first <= a < last, a or b from the border on.

    tokens int32 or int64 (nnz,), ascending in a row · offsets int64 (n + 1,) · needs int64 (n,), at least 1 · heads
    int64 (tokens + 1,), postings int32 or int64 (nnz,): the rows of each token · seen int64 (n,), not equal to any a before · touched int64 (n,), scratch · out
    int64 (3, capacity). Any row that shares needs[a] tokens has one of the first size - needs[a] + 1; tokens of one row alone may be left out of all arrays, not of needs.
    Returns (row to go on with, filled); it stops where `out` may not hold all pairs of a row, unless the row is `first`, for which it has room for n.
    """
    for a in range(first, last):
        begin, end = offsets[a], offsets[a + 1]
        if begin == end:
            continue
        if a > first and filled + offsets.shape[0] > out.shape[1]:
            return a, filled
        count = 0
        for t in range(begin, end - needs[a] + 1):
            for e in range(heads[tokens[t]], heads[tokens[t] + 1]):
                b = postings[e]
                if b != a and seen[b] != a and (a >= border or b >= border):
                    seen[b] = a
                    touched[count] = b
                    count += 1
        for c in range(count):
            b = touched[c]
            shared = _shared(tokens, begin, end, offsets[b], offsets[b + 1], needs[a])
            if shared >= needs[a]:
                out[0, filled], out[1, filled], out[2, filled] = a, b, shared
                filled += 1
    return last, filled


@njit(nogil=True, cache=True)
def _shared(tokens, i, i_end, j, j_end, need):
    """Tokens that two rows share; some number below `need` if they cannot share so many."""
    common = 0
    while i < i_end and j < j_end:
        if common + min(i_end - i, j_end - j) < need:
            return -1
        x, y = tokens[i], tokens[j]
        common += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    return common
