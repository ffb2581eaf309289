"""Keys of bands from packed words, and rows put together by key: what LSH banding does before any pair is looked at.

A band is a set of samples. In packed form (packing.py) it is a few `slices`: a block of 64 samples, and a mask of those that belong to the band; two rows agree
in the band exactly when no plane of these blocks differs under the masks. An entry is a uint64: 32 bits of a key above the 32 bits of a row number.
"""

import numpy as np
from numba import njit

from twinset.kernels.probing import prefetch

ZERO, LOW = np.uint64(0), np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
BYTE = np.uint64(255)
DIGITS = np.array([32, 40, 48, 56], np.uint64)
AHEAD = 16  # rows between the one whose words are asked of the memory and the one at work
LINE = 8  # words of a cache line
MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def band_keys(words, rows, first, last, blocks, begins, masks, bands, salts, out):
    """Write out[j, i] = the key of band j in row rows[i], for first <= i < last.

    The key is the NH hash of Black et al. (1999), multiplied and folded: over the planes w of the band's slices, the sum modulo 2^64 of
    ((low half of the masked word + low half of salts[w]) mod 2^32) * (the same of the high halves). Bands that differ get equal sums with probability 2^-32 at most.
    words uint64 (n, words) · rows int64 · blocks int64 (blocks, >= 2): first word and number of planes that count · begins int64 (blocks + 1,): the slices of
    each block · masks uint64, bands int64 (slices,): the samples and the band of each · salts uint64 (words,) · out uint64 (bands, rows).
    Cost: slices * planes for a row, a vector of planes at a time.
    """
    flat, width = words.reshape(-1), words.shape[1]
    for i in range(first, last):
        ahead = rows[min(i + AHEAD, last - 1)] * width
        for t in range(blocks.shape[0]):
            for line in range(0, blocks[t, 1], LINE):
                prefetch(flat, ahead + blocks[t, 0] + line)
        for j in range(out.shape[0]):
            out[j, i] = ZERO
        for t in range(blocks.shape[0]):
            begin, end = blocks[t, 0], blocks[t, 0] + blocks[t, 1]
            planes, salt = words[rows[i], begin:end], salts[begin:end]
            for s in range(begins[t], begins[t + 1]):
                out[bands[s], i] += _hash(planes, masks[s], salt)
        for j in range(out.shape[0]):
            key = out[j, i]
            key = (key ^ (key >> HALF)) * MIX
            out[j, i] = key ^ (key >> HALF)


@njit(nogil=True, cache=True)
def _hash(planes, mask, salts):
    """The sum over one slice. Its index is unsigned, because one that may be negative hinders vectors."""
    total = ZERO
    for plane in range(planes.shape[0]):
        p = np.uint64(plane)
        part = planes[p] & mask
        total += (((part & LOW) + (salts[p] & LOW)) & LOW) * (((part >> HALF) + (salts[p] >> HALF)) & LOW)
    return total


@njit(nogil=True, cache=True)
def partition(keys, rows, bits, starts, entries):
    """Put rows together by the highest `bits` bits of their keys: write entries[starts[d] : starts[d + 1]] for each value d of these bits, in the order given.

    keys uint64, rows int64 (n,) · bits >= 1 · starts int64 (2^bits + 1,) · entries uint64 (n,): the 32 bits of the key below those, and the row.
    """
    shift = np.uint64(64 - bits)
    starts[:] = 0
    for i in range(keys.shape[0]):
        starts[np.int64(keys[i] >> shift) + 1] += 1
    for d in range(1, starts.shape[0]):
        starts[d] += starts[d - 1]
    for i in range(keys.shape[0]):
        d = np.int64(keys[i] >> shift)
        entries[starts[d]] = ((keys[i] >> (shift - HALF)) & LOW) << HALF | np.uint64(rows[i])
        starts[d] += 1
    for d in range(starts.shape[0] - 1, 0, -1):  # each start has moved to the next one's place
        starts[d] = starts[d - 1]
    starts[0] = 0


@njit(nogil=True, cache=True)
def sort_entries(entries, first, last, scratch, counts):
    """Sort entries[first:last] by their keys, rows in the order they stand: a radix sort of four bytes.

    scratch uint64 (>= last - first,) · counts int64 (4, 256) scratch. Cost: five readings of the entries, and 1024 counters.
    """
    counts[:] = 0
    for i in range(first, last):
        for q in range(4):
            counts[q, np.int64((entries[i] >> DIGITS[q]) & BYTE)] += 1
    for q in range(4):
        total = 0
        for d in range(256):
            counts[q, d], total = total, total + counts[q, d]
    _scatter(entries[first:last], counts[0], DIGITS[0], scratch)
    _scatter(scratch[: last - first], counts[1], DIGITS[1], entries[first:last])
    _scatter(entries[first:last], counts[2], DIGITS[2], scratch)
    _scatter(scratch[: last - first], counts[3], DIGITS[3], entries[first:last])


@njit(nogil=True, cache=True)
def _scatter(source, counts, shift, target):
    for i in range(source.shape[0]):
        digit = np.int64((source[i] >> shift) & BYTE)
        target[counts[digit]] = source[i]
        counts[digit] += 1


@njit(nogil=True, cache=True)
def sort_partitions(entries, starts, first, last, scratch, counts):
    """`sort_entries` for each of the partitions first to last - 1."""
    for d in range(first, last):
        if starts[d + 1] - starts[d] > 1:
            sort_entries(entries, starts[d], starts[d + 1], scratch, counts)


@njit(nogil=True, cache=True)
def collapse(words, entries, first, last, leaders):
    """Among the sorted entries of keys of whole rows: leaders[row] = the first row of equal key, where all words of the two are equal; the row itself elsewhere.

    words uint64 (n, words) · leaders int64 (n,), written for the rows of entries[first:last]. A row that shares only the key of the first one stays alone.
    """
    leader = 0
    for i in range(first, last):
        row = np.int64(entries[i] & LOW)
        if i == first or entries[i] >> HALF != entries[i - 1] >> HALF:
            leader = row
        leaders[row] = leader if row == leader or _equal(words[row], words[leader]) else row


@njit(nogil=True, cache=True)
def _equal(one, other):
    for w in range(one.shape[0]):  # noqa: SIM110 - a loop that Numba compiles
        if one[w] != other[w]:
            return False
    return True
