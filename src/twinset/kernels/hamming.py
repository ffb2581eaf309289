"""Fingerprints near a query by Hamming distance: runs of equal headers, a table of where each run begins, and look-ups in it.

The header of a fingerprint is the highest bits of its first word. `heads` uint64 (n rounded up to a multiple of 8, aligned to 64 bytes) holds the first words in ascending order of
header; `tails` uint64 (n, words - 1) what follows them; `rows` uint32 (n,) whose they are. Words beyond the n-th are never taken for an answer.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from twinset.kernels.probing import LEAN, near_eight, prefetch
from twinset.kernels.vector import count_ones, trailing_zeros

ONE = np.uint64(1)
EIGHT = 8  # words in a cache line
LINES = 7  # clears the place within a line: x & ~LINES
AHEAD = 16  # look-ups between asking for a slot of the table and asking for its run, and again between that and scanning it
ASKED = 4  # cache lines of a run that are asked for; the machine itself fetches the rest of a long run
OPEN, OTHERS, LATER = 0, 1, 2  # which rows answer: all; all but the query's own; those of a higher number


class Runs(NamedTuple):
    """Fingerprints in order of header, with `table` uint32 (2^bits + 1,): those of header x are table[x] up to table[x + 1]. An empty table stands for binary search."""

    heads: np.ndarray
    tails: np.ndarray
    rows: np.ndarray
    table: np.ndarray
    bits: int


@njit(**LEAN)
def header(word, bits):
    """The highest `bits` bits (0 to 64) of a uint64, as an int64."""
    return np.int64((word >> ONE) >> np.uint64(63 - bits))


@njit(**LEAN)
def permute(words, rows, first, last, moves, out):
    """Move bit ranges of words[rows[first:last]] to where they stand in another order of blocks: row rows[i] goes to out[i - first].

    words uint64 (n, w) · rows whole numbers · moves uint64 (m, 5), each a source word, its shift right, a mask, a target word and its shift left · out uint64 (at least
    last - first, w), written whole in those rows.
    """
    for i in range(first, last):
        for w in range(words.shape[1]):
            out[i - first, w] = 0
        for m in range(moves.shape[0]):
            out[i - first, moves[m, 3]] |= ((words[rows[i], moves[m, 0]] >> moves[m, 1]) & moves[m, 2]) << moves[m, 4]


@njit(**LEAN)
def spread_digit(heads, tails, rows, shift, bits, starts, out_heads, out_tails, out_rows):
    """One pass of a radix sort, stable: reorder by the `bits` bits of the first words from bit `shift` on.

    heads uint64 (n,) · tails uint64 (n, w - 1) · rows uint32 (n,) · starts int64 (2^bits,), scratch · out: the same shapes, written whole. Cost: two readings.
    """
    mask, down = (ONE << np.uint64(bits)) - ONE, np.uint64(shift)
    starts[:] = 0
    for i in range(len(rows)):
        starts[np.int64((heads[i] >> down) & mask)] += 1
    total = 0
    for digit in range(len(starts)):
        count = starts[digit]
        starts[digit] = total
        total += count
    for i in range(len(rows)):
        digit = np.int64((heads[i] >> down) & mask)
        place = starts[digit]
        starts[digit] = place + 1
        out_heads[place] = heads[i]
        out_rows[place] = rows[i]
        for w in range(tails.shape[1]):
            out_tails[place, w] = tails[i, w]


@njit(**LEAN)
def tabulate(heads, count, bits, table):
    """table[x] = how many of the first `count` words, ascending by header, have a header below x, for x in 0 to 2^bits.

    heads uint64 · table uint32 (2^bits + 1,), written whole. Cost: one reading of both.
    """
    filled = 0
    for i in range(count):
        x = header(heads[i], bits)
        while filled <= x:
            table[filled] = i
            filled += 1
    for x in range(filled, len(table)):
        table[x] = count


@njit(**LEAN)
def admitted(differing, masks):
    """Whether a pair that differs in these bits is this table's to report: none of them is under masks[0], and some are under each other mask.

    differing uint64 (w,) · masks uint64 (tables, w): the header of this table, then those of the tables before it. Without masks all pairs are in.
    """
    for m in range(masks.shape[0]):
        under = np.uint64(0)
        for w in range(masks.shape[1]):
            under |= differing[w] & masks[m, w]
        if (under == 0) != (m == 0):
            return False
    return True


@njit(**LEAN)
def report(near, line, begin, end, queries, q, number, runs, distance, rules, differing, left, right, count):
    """Write the pairs (number, place) of a query with those of eight places that `near` has bits for, in begin to end, and that are within the distance in all words.

    Returns the new count, or -1 if they do not fit left and right. With `single` only the first is written.
    """
    single, which, masks, gone = rules
    while near:
        place = line + np.int64(trailing_zeros(near))
        near &= near - ONE
        if place < begin or place >= end:
            continue
        ones = np.uint64(0)
        for w in range(queries.shape[1]):
            differing[w] = queries[q, w] ^ (runs.heads[place] if w == 0 else runs.tails[place, w - 1])
            ones += count_ones(differing[w])
        if ones > distance or not admitted(differing, masks):
            continue
        if which != OPEN or len(gone):  # else the row is not read: it would be one more wait for memory
            row = np.int64(runs.rows[place])
            if (which == OTHERS and row == number) or (which == LATER and row <= number) or (len(gone) and gone[row]):
                continue
        if count == len(left):
            return -1
        left[count], right[count] = number, place
        count += 1
        if single:
            break
    return count


@njit(**LEAN)
def look_up(queries, numbers, owner, flips, first, last, runs, distance, rules, found, differing, left, right):
    """Do look-ups first to last; write the pairs (number of the query, place in the runs); return (the look-up to go on with, pairs written): short of `last` if they do not fit.

    queries uint64 (m, w) · numbers int64 (m,): their names, indices of `found` uint8 · look-up i flips the bits flips[i] (uint32) of the header of query owner[i] (uint32) and
    scans the run of that header for a total distance up to `distance` (uint64) · rules (single: stop a query at its first pair; which rows answer; masks; gone: uint8, 1 for rows
    removed, empty if none are) · differing uint64 (w,), scratch · left, right int64. Slots of the table and lines of runs are asked for ahead of need, so that the waits for memory
    overlap. The order of pairs is that of look-ups, then of places.
    """
    heads, table, shift = runs.heads, runs.table, np.uint64(63 - runs.bits)
    single, count = rules[0], 0
    for i in range(first - 2 * AHEAD, last):
        if i + 2 * AHEAD < last:
            q = owner[i + 2 * AHEAD]
            prefetch(table, np.int64(((queries[q, 0] >> ONE) >> shift) ^ flips[i + 2 * AHEAD]))
        if first <= i + AHEAD < last:
            q = owner[i + AHEAD]
            x = np.int64(((queries[q, 0] >> ONE) >> shift) ^ flips[i + AHEAD])
            line, end = np.int64(table[x]) & ~LINES, min(np.int64(table[x + 1]), (np.int64(table[x]) & ~LINES) + ASKED * EIGHT)
            while line < end:
                prefetch(heads, line)
                line += EIGHT
        q = owner[max(i, first)]
        if i < first or (single and found[numbers[q]]):
            continue
        query, before = queries[q, 0], count
        x = np.int64(((query >> ONE) >> shift) ^ flips[i])
        begin, end = np.int64(table[x]), np.int64(table[x + 1])
        for line in range(begin & ~LINES, end, EIGHT):
            near = near_eight(heads, line, query, distance)
            if near:
                count = report(near, line, begin, end, queries, q, numbers[q], runs, distance, rules, differing, left, right, count)
                if count < 0:
                    return i, before
                if count > before:
                    found[numbers[q]] = 1
                    if single:
                        break
    return last, count


@njit(**LEAN)
def lower_bound(heads, count, x, bits):
    """The first of `count` places whose header is not below x, by halving."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if header(heads[middle], bits) < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**LEAN)
def search(queries, numbers, first, last, runs, distance, rules, found, differing, left, right):
    """As `look_up`, in the way of the papers: halving to the first of the run of each query's own header, then one fingerprint after another until the header changes."""
    heads, bits, stored, count = runs.heads, runs.bits, len(runs.rows), 0
    for q in range(first, last):
        if rules[0] and found[numbers[q]]:
            continue
        query, before, x = queries[q, 0], count, header(queries[q, 0], bits)
        place = lower_bound(heads, stored, x, bits)
        while place < stored and header(heads[place], bits) == x:
            if count_ones(query ^ heads[place]) <= distance:
                count = report(ONE, place, place, place + 1, queries, q, numbers[q], runs, distance, rules, differing, left, right, count)
                if count < 0:
                    return q, before
                if count > before:
                    found[numbers[q]] = 1
                    if rules[0]:
                        break
            place += 1
    return last, count
