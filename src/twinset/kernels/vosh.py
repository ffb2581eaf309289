"""Subsets of volatile bits in falling probability: the volatility ordered set heap (VOSH) of Sood and Loguinov, section 5.

A flip costs -ln(p / (1 - p)) >= 0, in whole steps of 2^-20, so that sums are exact: by S3 the subset of least cost is the likeliest. Positions are those of a header's bits in ascending
order of cost; a subset is a key, uint64: its cost in the high half, one bit for each of its positions in the low half. Equal costs go by the low half.
"""

import numpy as np
from numba import njit

from twinset.kernels.probing import leading_zeros, rank_lanes
from twinset.kernels.vector import trailing_zeros

ONE = np.uint64(1)
HALF = np.uint64(32)
TOP = np.uint64(63)
LOW = np.uint64(0xFFFFFFFF)
LANES = 32  # bits of a header, at most
BIT_NUMBER = np.uint32(31)
MAGNITUDE = np.uint32(0x7FFFFFE0)  # a float32 without its sign and its last five bits, where the bit's number goes
CELL = np.uint32(17)  # a magnitude's exponent and six further bits name its cell in the table of costs
FIRST_CELL = 115 << 6  # 2^-12: what is less costs no less
CELLS = 16 << 6  # up to 2^4: what is more costs no more


@njit(nogil=True, cache=True)
def order_bits(weights, row, bits, table, keys, ranks, places, costs):
    """Order the header's bits by |W_j|: places[s] is the bit (of a header value) at position s, and costs[s] its cost.

    weights uint32 (n, fingerprint bits): W_j as the bits of float32, of which the header has columns 64 - bits to 63 · table uint32 (CELLS,), rising · keys, ranks uint32 (LANES,), scratch
    places uint32, costs uint32 (LANES,), the first `bits` written. Magnitudes that agree to 2^-18 go by bit. Cost: a comparison for every two bits, 16 at a time.
    """
    for j in range(bits):
        keys[j] = weights[row, 64 - bits + j] & MAGNITUDE | np.uint32(j)
    rank_lanes(keys, bits, ranks)
    for j in range(bits):
        cell = np.int64(keys[j] >> CELL) - FIRST_CELL
        places[ranks[j]] = j
        costs[ranks[j]] = table[min(max(cell, 0), CELLS - 1)]


@njit(nogil=True, cache=True)
def flips_of(key, places):
    """The header bits that a subset flips."""
    chosen, flips = key & LOW, np.uint32(0)
    while chosen:
        flips |= np.uint32(1) << places[np.int64(trailing_zeros(chosen))]
        chosen &= chosen - ONE
    return flips


@njit(nogil=True, cache=True)
def moved(key, position, costs):
    """The subset with `position` replaced by the next one."""
    return (key ^ (np.uint64(3) << np.uint64(position))) + (np.uint64(costs[position + 1] - costs[position]) << HALF)


@njit(nogil=True, cache=True)
def children(key, bits, costs):
    """The left and the right child of a subset, 0 where there is none.

    Left: the last position + 1. Right: over the positions from the last down, at the first gap of 2 or more; if it is exactly 2, the position before it + 1.
    """
    chosen = key & LOW
    last = np.int64(TOP - leading_zeros(chosen))
    left = moved(key, last, costs) if last + 1 < bits else np.uint64(0)
    unbroken = np.int64(leading_zeros(~(chosen << np.uint64(63 - last))))
    gap = last - unbroken  # the highest position below the unbroken end that is not chosen
    if gap < 1 or not chosen >> np.uint64(gap - 1) & ONE:
        return left, np.uint64(0)
    return left, moved(key, gap - 1, costs)


@njit(nogil=True, cache=True)
def sink(heap, size, key):
    """Put a key at the root of a heap whose root is free, least key first."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key


@njit(nogil=True, cache=True)
def rise(heap, size, key):
    """Add a key to a heap of `size` keys."""
    at = size
    while at and heap[(at - 1) >> 1] > key:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key


@njit(nogil=True, cache=True)
def likeliest(costs, bits, distance, count, heap, out):
    """Write the keys of the `count` likeliest subsets of 1 to `distance` of `bits` positions, in falling probability; return how many there were.

    costs uint32 (at least bits,), ascending, `distance` of them below 2^32 in sum · heap uint64 (count + distance + 1,), scratch · out uint64 (count,). Cost: count * log(count).
    """
    size, key = 0, np.uint64(0)
    for s in range(min(distance, bits)):
        key = (key | ONE << np.uint64(s)) + (np.uint64(costs[s]) << HALF)
        rise(heap, size, key)
        size += 1
    written = 0
    while written < count and size:
        out[written] = heap[0]
        written += 1
        left, right = children(heap[0], bits, costs)
        if left == 0:
            size -= 1
            left = heap[size]
        sink(heap, size, left)
        if right:
            rise(heap, size, right)
            size += 1
    return written


@njit(nogil=True, cache=True)
def list_flips(weights, rows, first, last, bits, distance, count, table, scratch, flips):
    """Write the header bits to flip for each of rows[first:last]: none, then the `count` likeliest subsets in falling probability; row rows[first + i] to flips[i, :].

    weights, table: see `order_bits` · rows int64 · count at most the number of subsets · scratch: keys, ranks, places, costs uint32 (LANES,), heap uint64 (count + distance + 1,),
    out uint64 (count,) · flips uint32 (at least last - first, count + 1).
    """
    keys, ranks, places, costs, heap, out = scratch
    for i in range(first, last):
        flips[i - first, 0] = 0
        if count:
            order_bits(weights, rows[i], bits, table, keys, ranks, places, costs)
            likeliest(costs, bits, distance, count, heap, out)
        for s in range(count):
            flips[i - first, s + 1] = flips_of(out[s], places)


@njit(nogil=True, cache=True)
def find_ranks(weights, rows, wanted, bits, distance, table, scratch, out):
    """out[i] = the rank of the subset wanted[i] (uint32, header bits) among those of row rows[i], likeliest first: 0 for no bits, 1 for the likeliest subset.

    wanted: up to `distance` bits each · scratch as in `list_flips`, for all subsets · out int64, written whole.
    """
    keys, ranks, places, costs, heap, found = scratch
    for i in range(len(rows)):
        out[i] = 0
        if wanted[i]:
            order_bits(weights, rows[i], bits, table, keys, ranks, places, costs)
            for s in range(likeliest(costs, bits, distance, len(found), heap, found)):
                if flips_of(found[s], places) == wanted[i]:
                    out[i] = s + 1
                    break
