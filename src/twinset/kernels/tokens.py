"""Rows of 64-bit values to rows of small numbers, for the exact join: equal rows found, equal values numbered, useless ones forgotten, the rest in order of rarity.

A value is *useful* if it can be shared by a pair that is asked for: within one set, if it is in two rows; between two sets, rows below `border` and the others, if it is
on both sides of the border. Within one set the border is 0.
"""

import numpy as np
from numba import njit

from twinset.kernels.shingles import mix

FACTOR = np.uint64(0x9E3779B97F4A7C15)
ZERO = np.uint64(0)
ONE = np.uint64(1)
S32 = np.uint64(32)
FREE, MET, USEFUL = np.uint8(0), np.uint8(1), np.uint8(2)


@njit(nogil=True, cache=True)
def hash_rows(values, offsets, first, last, out):
    """Write out[d] = the sum of mix(x) over the values x of row d, mod 2^64, for first <= d < last. values uint64 · out uint64 (n,)."""
    for d in range(first, last):
        total = ZERO
        for i in range(offsets[d], offsets[d + 1]):
            total += mix(values[i])
        out[d] = total


@njit(nogil=True, cache=True)
def compare_rows(values, offsets, left, right, first, last, out):
    """Write out[i] = whether rows left[i] and right[i] are equal, for first <= i < last. out bool (pairs,)."""
    for i in range(first, last):
        a, b = offsets[left[i]], offsets[right[i]]
        size = offsets[left[i] + 1] - a
        same = size == offsets[right[i] + 1] - b
        k = 0
        while same and k < size:
            same = values[a + k] == values[b + k]
            k += 1
        out[i] = same


@njit(nogil=True, cache=True)
def find(values, begins, ends, lower, out):
    """Write out[r] = the first i of begins[r] <= i <= ends[r] with values[i] >= lower, or ends[r]. Values ascend within a row. int64 (rows,)."""
    for r in range(begins.shape[0]):
        low, high = begins[r], ends[r]
        while low < high:
            middle = (low + high) >> 1
            if values[middle] < lower:
                low = middle + 1
            else:
                high = middle
        out[r] = low


@njit(nogil=True, cache=True)
def reach(values, begins, ends, upper, out):
    """As `find`, walking from begins[r] on. Returns the number of values passed: those from begins[r] to out[r] - 1, in all rows."""
    passed = 0
    for r in range(begins.shape[0]):
        i, end = begins[r], ends[r]
        while i < end and values[i] < upper:
            i += 1
        out[r] = i
        passed += i - begins[r]
    return passed


@njit(nogil=True, cache=True)
def is_useful(below, above, border):
    """Whether a value in `below` rows under the border and in `above` others can be shared by a pair."""
    return above > 1 if border == 0 else below > 0 and above > 0


@njit(nogil=True, cache=True)
def number(values, begins, ends, border, state, keys, labels, base, ids):
    """Number the useful among the values i of all rows, begins[r] <= i < ends[r]: base, base + 1 ... Returns how many there are.

    Writes ids[i] = the number of values[i], -1 if it is not useful. values uint64 (nnz,) · begins, ends int64 (rows,) · ids int (nnz,).
    Scratch, of equal length, a power of two and more than the values: state uint8, keys uint64, labels int32.
    """
    mask = np.uint64(state.shape[0] - 1)
    state[:] = FREE
    rows = begins.shape[0]
    for k in range(rows):
        r = (k + border) % rows  # what is below the border comes last, and is only looked up
        for i in range(begins[r], ends[r]):
            x = values[i]
            cell = ((x * FACTOR) >> S32) & mask
            while state[cell] != FREE and keys[cell] != x:
                cell = (cell + ONE) & mask
            if state[cell] != FREE and (border == 0 or r < border):
                state[cell] = USEFUL
            elif r >= border:
                keys[cell] = x
                state[cell] = MET
            ids[i] = cell
    useful = 0
    for cell in range(state.shape[0]):
        labels[cell] = useful if state[cell] == USEFUL else -1
        useful += np.int64(state[cell] == USEFUL)
    for r in range(begins.shape[0]):
        for i in range(begins[r], ends[r]):
            label = labels[ids[i]]
            ids[i] = base + label if label >= 0 else -1
    return useful


@njit(nogil=True, cache=True)
def close_gaps(ids, begins, ends, bases, gaps, first, last, out):
    """Take gaps[s] off each id from bases[s] to bases[s + 1] - 1, and write out[r] = how many ids of row r are not -1, for first <= r < last. Those ascend by s within a row."""
    for r in range(first, last):
        numbered, s = 0, 0
        for i in range(begins[r], ends[r]):
            if ids[i] >= 0:
                while ids[i] >= bases[s + 1]:
                    s += 1
                ids[i] -= gaps[s]
                numbered += 1
        out[r] = numbered


@njit(nogil=True, cache=True)
def tally(ids, begins, ends, border, rows, first, last, frequency):
    """Add to frequency[x, side] for each id x >= 0 of the rows rows[first:last]; side 0 is below the border. frequency int32 (ids, 2)."""
    for k in range(first, last):
        r = rows[k]
        side = np.int64(r >= border)
        for i in range(begins[r], ends[r]):
            if ids[i] >= 0:
                frequency[ids[i], side] += 1


@njit(nogil=True, cache=True)
def forget(ids, begins, ends, border, rows, first, last, frequency, out):
    """In the rows rows[first:last], write ids[i] = -1 where the id is not useful any more, and out[k] = how many are left in row rows[k]."""
    for k in range(first, last):
        left = 0
        for i in range(begins[rows[k]], ends[rows[k]]):
            x = ids[i]
            if x >= 0:
                if is_useful(frequency[x, 0], frequency[x, 1], border):
                    left += 1
                else:
                    ids[i] = -1
        out[k] = left


@njit(nogil=True, cache=True)
def arrange(ids, begins, ends, rank, rows, first, last, offsets, tokens):
    """Write the ranks of the ids >= 0 of row rows[k], ascending, to tokens[offsets[k]:offsets[k + 1]], for first <= k < last."""
    for k in range(first, last):
        at = offsets[k]
        for i in range(begins[rows[k]], ends[rows[k]]):
            if ids[i] >= 0:
                tokens[at] = rank[ids[i]]
                at += 1
        tokens[offsets[k] : at].sort()
