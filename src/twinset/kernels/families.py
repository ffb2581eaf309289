"""The papers' hash families, for study: each finds out[d, j] = min over x in d of h_j(x), with x taken as it is, so that a weak family shows its weakness.

Shared contract: values uint64 (nnz,) · offsets int64 (n+1,) · out uint32 (n, lanes), row d written once. An empty document gets EMPTY everywhere.
A hash may equal EMPTY too (probability 2^-32 for each element), except in `modular` and `permutations`: emptiness is known from the offsets, not from the minimum.
"""

import numpy as np
from numba import njit

EMPTY = np.uint32(0xFFFFFFFF)
PRIME = np.uint64(4294967291)  # 2^32 - 5, the largest prime below 2^32
FOLD = np.uint64(5)  # 2^32 mod PRIME
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

POSITIONS = 7  # 4 characters of a 32-bit key and 3 derived ones
CHARACTERS = 4
FIELD = 257  # the smallest prime above 256
FIELD64 = np.uint64(FIELD)
BYTE = np.uint64(0xFF)
EIGHT = np.uint64(8)

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S27, S30, S31 = np.uint64(27), np.uint64(30), np.uint64(31)
ONE = np.uint64(1)


@njit(nogil=True, cache=True)
def modular(values, offsets, multipliers, increments, out):
    """h_j(x) = (multipliers[j] * x + increments[j]) mod PRIME for x < 2^32.   (UPC report, 4.2.2.1.1)

    multipliers uint64 (lanes,), 1 to PRIME - 1 · increments uint64 (lanes,), 0 to PRIME - 1. A permutation of 0 .. PRIME - 1; the five x >= PRIME
    meet the five x - PRIME. PRIME < 2^32 rather than 2^32 + 15, so that a hash fits in 32 bits and never equals EMPTY. Cost: nnz * lanes * 3 multiplications.
    """
    for d in range(len(offsets) - 1):
        out[d, :] = EMPTY
        for i in range(offsets[d], offsets[d + 1]):
            x = values[i]
            for j in range(len(multipliers)):
                h = multipliers[j] * x + increments[j]  # below 2^64: (p - 1)(2^32 - 1) + p - 1
                h = (h >> HALF) * FOLD + (h & LOW)  # below 6 * 2^32, and equal mod PRIME
                h = (h >> HALF) * FOLD + (h & LOW)  # below 2^32 + 25
                if h >= PRIME:
                    h -= PRIME
                out[d, j] = min(out[d, j], np.uint32(h))


@njit(nogil=True, cache=True)
def mix96(a, b, c):
    """Robert Jenkins' reversible mix of three uint32; the third word is the hash. (Dr. Dobb's Journal, September 1997)"""
    a = np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(13))
    b = np.uint32(b - c - a) ^ np.uint32(a << np.uint32(8))
    c = np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(13))
    a = np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(12))
    b = np.uint32(b - c - a) ^ np.uint32(a << np.uint32(16))
    c = np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(5))
    a = np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(3))
    b = np.uint32(b - c - a) ^ np.uint32(a << np.uint32(10))
    c = np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(15))
    return np.uint32(c)


@njit(nogil=True, cache=True)
def jenkins(values, offsets, first, second, out):
    """h_j(x) = mix96(first[j], second[j], x) for x < 2^32.   (UPC report, 4.2.2.1.2)

    first, second uint32 (lanes,). Cost: nnz * lanes * 36 operations.
    """
    for d in range(len(offsets) - 1):
        out[d, :] = EMPTY
        for i in range(offsets[d], offsets[d + 1]):
            x = np.uint32(values[i])
            for j in range(len(first)):
                out[d, j] = min(out[d, j], mix96(first[j], second[j], x))


@njit(nogil=True, cache=True)
def universal(values, offsets, multipliers, increments, out):
    """h_j(x) = high32((multipliers[j] * x + increments[j]) mod 2^64) for x < 2^32.   (Dietzfelbinger 1996: 2-independent)

    multipliers, increments uint64 (lanes,), any. Cost: nnz * lanes multiplications.
    """
    for d in range(len(offsets) - 1):
        out[d, :] = EMPTY
        for i in range(offsets[d], offsets[d + 1]):
            x = values[i]
            for j in range(len(multipliers)):
                out[d, j] = min(out[d, j], np.uint32((multipliers[j] * x + increments[j]) >> HALF))


@njit(nogil=True, cache=True)
def characters(values, matrix, out):
    """out[i] = the 4 bytes of values[i] < 2^32, lowest first, then 3 derived characters: bytes @ matrix mod FIELD.

    values uint64 (nnz,) · matrix uint64 (4, 3), entries below FIELD · out uint16 (nnz, 7), each below FIELD, row i written once.
    """
    for i in range(len(values)):
        x = values[i]
        for c in range(CHARACTERS):
            out[i, c] = np.uint16(x & BYTE)
            x >>= EIGHT
        for t in range(POSITIONS - CHARACTERS):
            total = np.uint64(0)
            for c in range(CHARACTERS):
                total += np.uint64(out[i, c]) * matrix[c, t]
            out[i, CHARACTERS + t] = np.uint16(total % FIELD64)


@njit(nogil=True, cache=True)
def tabulation(keys, offsets, tables, out):
    """h_j(x) = XOR over i < 7 of tables[j, i, keys[x, i]].   (Thorup & Zhang 2004: 4-independent when the tables are random)

    keys uint16 (nnz, 7) from `characters` · tables uint32 (lanes, 7, FIELD). Cost: nnz * lanes * 7 look-ups in 7 KB.

    Why 4-independent. Hashes of 4 distinct keys are independent unless some of them cover every position evenly: each character at each position occurs
    an even number of times. One or three keys cannot (their number is odd), two would be equal. With four keys, every position pairs them as 12|34, 13|24 or 14|23.
    A matrix all of whose square submatrices are invertible makes the 7 characters a code in which a nonzero word has at most 3 zeros. Put
    e = x1 + x2 - x3 - x4: it is 0 wherever the pairing is not 12|34, that is at 4 positions or more, since x1 - x2 is not the zero word and so at most 3 positions
    pair as 12|34. Hence e = 0, likewise x1 - x2 + x3 - x4 = 0, and the sum 2 (x1 - x4) = 0: x1 = x4, as FIELD is odd. Contradiction.
    The road not taken: over GF(2^8) the last step fails, and four keys x, x+u, x+v, x+u+v that cover evenly do exist.
    """
    for j in range(len(tables)):
        table = tables[j]
        for d in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[d], offsets[d + 1]):
                key = keys[i]
                h = table[0, key[0]]
                for p in range(1, POSITIONS):
                    h ^= table[p, key[p]]
                least = min(least, np.uint32(h))
            out[d, j] = least


@njit(nogil=True, cache=True)
def shuffle(state, out):
    """Write a uniformly random permutation of 0 .. len(out) - 1, by Fisher and Yates with splitmix64 from `state`; exact, by Lemire's rejection (2019).

    state uint64 · out uint32 (D,), D <= 2^32.
    """
    for i in range(len(out)):
        out[i] = np.uint32(i)
    for i in range(len(out) - 1, 0, -1):
        bound = np.uint64(i) + ONE
        while True:
            state += GAMMA
            z = (state ^ (state >> S30)) * FIRST
            z = (z ^ (z >> S27)) * SECOND
            product = ((z ^ (z >> S31)) >> HALF) * bound
            if (product & LOW) >= bound or (product & LOW) >= (LOW - bound + ONE) % bound:
                break
        other = np.int64(product >> HALF)
        out[i], out[other] = out[other], out[i]


@njit(nogil=True, cache=True)
def permutations(values, offsets, states, scratch, out):
    """h_j = a true random permutation of 0 .. D-1, by `shuffle` from states[j]; x < D.

    states uint64 (lanes,) · scratch uint32 (D,), overwritten. Cost: lanes * (D + nnz) steps.
    """
    for j in range(len(states)):
        shuffle(states[j], scratch)
        for d in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[d], offsets[d + 1]):
                least = min(least, scratch[values[i]])
            out[d, j] = least
