"""Subsets of volatile bits in falling probability: the volatility ordered set heap (VOSH) of Sood and Loguinov, section 5.

A flip costs -ln(p / (1 - p)) >= 0, in whole steps of 2^-12, so that sums are exact: by S3 the subset of least cost is the likeliest. Positions are those of a header's bits in
ascending order of cost; a subset is a key, uint64: its cost in the high half, one bit for each of its positions in the low half. Equal costs go by the low half.
"""

import numpy as np
from numba import njit

from twinset.kernels.probing import LEAN, leading_zeros, magnitude_keys, rank_lanes
from twinset.kernels.vector import trailing_zeros

ONE = np.uint64(1)
HALF = np.uint64(32)
TOP = np.uint64(63)
LOW = np.uint64(0xFFFFFFFF)
LANES = 32  # bits of a header, at most
NOWHERE = LANE = np.uint32(31)  # the last lane: a position that no header reaches, where costs are 0
SECOND, THIRD, FOURTH = np.uint32(8), np.uint32(16), np.uint32(24)
INDEX_BITS = np.uint32(12)  # of a key in `pick`: the subset's number, below its cost
DEAREST = (1 << 18) - 1  # the most a flip costs: 64 times the unit of logarithms; four of them leave room for the subset's number
MAGNITUDE = np.uint32(0x7FFFFFE0)  # a float32 without its sign and its last five bits, where the bit's number goes
CELL = np.uint32(17)  # a magnitude's exponent and six further bits are its cell in the table of costs
CELLS = 1 << 14


@njit(**LEAN)
def order_bits(weights, row, bits, table, keys, ranks, places, costs):
    """Order the header's bits by |W_j|: places[s] has the one bit of a header that is at position s, and costs[s] is its cost. Beyond `bits` both are 0.

    weights uint32 (n, fingerprint bits): W_j as the bits of float32, of which the header has columns 64 - bits to 63 · table uint32 (CELLS,), rising · keys, ranks uint32 (LANES,),
    scratch · places, costs uint32 (LANES,), written. Magnitudes that agree to 2^-18 go by bit. Cost: a comparison for every two lanes, 16 at a time.
    """
    magnitude_keys(weights, row * weights.shape[1] + LANES, bits, MAGNITUDE, keys)
    rank_lanes(keys, LANES, ranks, 0)
    for j in range(LANES - bits, LANES):
        s = ranks[j]
        places[s] = np.uint32(1) << np.uint32(j - LANES + bits)
        costs[s] = table[keys[j] >> CELL]
    for s in range(bits, LANES):
        places[s] = 0
        costs[s] = 0


@njit(**LEAN)
def flips_of(key, places):
    """The header bits that a subset flips."""
    chosen, flips = key & LOW, np.uint32(0)
    while chosen:
        flips |= places[trailing_zeros(chosen)]
        chosen &= chosen - ONE
    return flips


@njit(**LEAN)
def moved(key, position, costs):
    """The subset with `position` replaced by the next one."""
    return (key ^ (np.uint64(3) << np.uint64(position))) + (np.uint64(costs[position + 1] - costs[position]) << HALF)


@njit(**LEAN)
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


@njit(**LEAN)
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


@njit(**LEAN)
def rise(heap, size, key):
    """Add a key to a heap of `size` keys."""
    at = size
    while at and heap[(at - 1) >> 1] > key:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key


@njit(**LEAN)
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


@njit(**LEAN)
def pick(costs, places, chosen, count, keys, ranks, order, flips, row):
    """flips[row, 1:] = the header bits of the `count` subsets of least cost among `chosen`, in the order of `likeliest`.

    chosen uint32 (up to 4096,): four positions, a byte each, the last lane for none, ascending as sets of bits · keys, ranks, order uint32 (room, a multiple of LANES), scratch;
    keys beyond the chosen are all ones. Cost: a comparison for every two, 16 at a time.
    """
    for i in range(len(chosen)):
        four = chosen[i]
        total = costs[four & LANE] + costs[four >> SECOND & LANE] + costs[four >> THIRD & LANE] + costs[four >> FOURTH]
        keys[i] = total << INDEX_BITS | np.uint32(i)
    for at in range(0, len(keys), LANES):
        rank_lanes(keys, len(chosen), ranks, at)
    for i in range(len(chosen)):
        order[ranks[i]] = chosen[i]
    for s in range(count):
        four = order[s]
        flips[row, s + 1] = places[four & LANE] | places[four >> SECOND & LANE] | places[four >> THIRD & LANE] | places[four >> FOURTH]


@njit(**LEAN)
def list_flips(weights, rows, bits, distance, count, table, chosen, scratch, flips):
    """Write the header bits to flip for each of the rows: none, then the `count` likeliest subsets in falling probability; for rows[i] to flips[i, :].

    weights, table: see `order_bits` · rows int64 · count at most the number of subsets · chosen: see `pick`; the subsets that can be among the likeliest, or none of them, and the
    heap does it · scratch: keys, ranks, places, costs uint32 (LANES,), heap uint64 (count + distance + 1,), out uint64 (count,), and the keys, ranks and order of `pick`
    flips uint32 (at least as many rows, count + 1).
    """
    keys, ranks, places, costs, heap, out, more_keys, more_ranks, order = scratch
    for i in range(len(rows)):
        flips[i, 0] = 0
        if count:
            order_bits(weights, rows[i], bits, table, keys, ranks, places, costs)
            if len(chosen):
                pick(costs, places, chosen, count, more_keys, more_ranks, order, flips, i)
            else:
                likeliest(costs, bits, distance, count, heap, out)
                for s in range(count):
                    flips[i, s + 1] = flips_of(out[s], places)


@njit(**LEAN)
def find_ranks(weights, rows, wanted, bits, distance, table, scratch, out):
    """out[i] = the rank of the subset wanted[i] (uint32, header bits) among those of row rows[i], likeliest first: 0 for no bits, 1 for the likeliest subset.

    wanted: up to `distance` bits each · scratch as in `list_flips`, for all subsets · out int64, written whole.
    """
    keys, ranks, places, costs, heap, found = scratch[:6]
    for i in range(len(rows)):
        out[i] = 0
        if wanted[i]:
            order_bits(weights, rows[i], bits, table, keys, ranks, places, costs)
            for s in range(likeliest(costs, bits, distance, len(found), heap, found)):
                if flips_of(found[s], places) == wanted[i]:
                    out[i] = s + 1
                    break
