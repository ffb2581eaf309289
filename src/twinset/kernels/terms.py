"""Features with their multiplicities: sorted hashes with repeats, and the table of how many documents have each."""

import numpy as np
from numba import njit

from twinset.kernels.shingles import hash_row, sort_hashes

S16 = np.uint64(16)
CONSTANT, TIMES, INVERSE = 0, 1, 2  # weight 1, how often it occurs, that times a factor from a table


@njit(nogil=True, cache=True)
def term_rows(text, offsets, first, last, tables, mode, width, codes, normal, hashes, counts, values, ends):
    """`shingle_rows`, of which each row keeps its repeats."""
    filled = malformed = 0
    spans = np.empty((2, 0), np.int64)
    for d in range(first, last):
        found, bad = hash_row(text, offsets[d], offsets[d + 1], tables, mode, width, codes, normal, hashes, spans)
        if found > values.shape[0] - filled:
            return d, malformed, found
        sort_hashes(hashes, found, counts, values[filled:])
        filled += found
        ends[d - first] = filled
        malformed += bad
    return last, malformed, 0


@njit(nogil=True, cache=True)
def sort_rows(values, offsets, counts, out):
    """Write every row of values (nnz,) to its place in out (nnz,), ascending, repeats kept. counts as in `sort_hashes`, for the longest row."""
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        sort_hashes(values[begin:end], end - begin, counts, out[begin:])


@njit(nogil=True, cache=True)
def place_of(x, keys, used):
    """Where x is, or would go, in an open table: the first place that holds x or is unused, from the one that bits 16 to 15 + t of x name on.

    keys uint64 (2^t,) · used (2^t,): 0 marks an unused place, of which there is at least one · x uniformly spread.
    """
    mask = keys.shape[0] - 1
    at = np.int64(x >> S16) & mask
    while used[at] and keys[at] != x:
        at = (at + 1) & mask
    return at


@njit(nogil=True, cache=True)
def count_rows(values, offsets, first, last, keys, used, filled):
    """Add 1 to the count of each distinct member of each row from `first` on, until `last` or until a row could fill more than half the table.

    values uint64 (nnz,), rows ascending · offsets int64 (n+1,) · keys, used as in `place_of`, used int64: the counts · filled: places in use.
    Returns (the row it stopped at, places in use).
    """
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        if 2 * (filled + end - begin) > keys.shape[0]:
            return d, filled
        for i in range(begin, end):
            x = values[i]
            if i == begin or x != values[i - 1]:
                at = place_of(x, keys, used)
                filled += np.int64(used[at] == 0)
                keys[at] = x
                used[at] += 1
    return last, filled


@njit(nogil=True, cache=True)
def fill_table(terms, entries, keys, used):
    """Put each of the distinct terms uint64 (m,) with its entry (m,), not 0, into an empty table of more than m places."""
    for i in range(terms.shape[0]):
        at = place_of(terms[i], keys, used)
        keys[at], used[at] = terms[i], entries[i]


@njit(nogil=True, cache=True)
def weigh_rows(values, offsets, kind, keys, factors, unseen, weights, ends):
    """Move the distinct members of each row together, in place, and write their weights; row d then ends at ends[d], and begins where the one before it ends.

        values uint64 (nnz,), rows ascending · offsets int64 (n+1,) · kind: S16 = np.uint64(16)
    CONSTANT, TIMES or INVERSE · keys, factors float64: the table for INVERSE, and `unseen`
        the factor of what is not in it · weights float64 (nnz,) · ends int64 (n,). A weight is 1, the multiplicity, or multiplicity * factor.
    """
    filled = 0
    for d in range(offsets.shape[0] - 1):
        i, end = offsets[d], offsets[d + 1]
        while i < end:
            x, begin = values[i], i
            while i < end and values[i] == x:
                i += 1
            weight = 1.0 if kind == CONSTANT else np.float64(i - begin)
            if kind == INVERSE:
                factor = factors[place_of(x, keys, factors)]
                weight *= factor if factor > 0 else unseen
            values[filled], weights[filled] = x, weight
            filled += 1
        ends[d] = filled
