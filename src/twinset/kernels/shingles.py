"""Normalised text to sorted, distinct 64-bit shingle hashes."""

import numpy as np
from numba import njit

from twinset.kernels.vector import load_word, token_mask, trailing_zeros

LENGTH = np.uint64(0x9E3779B97F4A7C15)
FACTOR = np.uint64(0xD6E8FEB86659FD93)
BASE = np.uint64(0xA0761D6478BD642F)
MIX_A, MIX_B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
S32, S33, S63 = np.uint64(32), np.uint64(33), np.uint64(63)
ZERO, ONE, EIGHT, ONES = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True)
def mix(x):
    """A bijection of uint64 in which every output bit depends on every input bit (the finish of MurmurHash3)."""
    x = (x ^ (x >> S33)) * MIX_A
    x = (x ^ (x >> S33)) * MIX_B
    return x ^ (x >> S33)


@njit(nogil=True, cache=True)
def mix_all(values, out):
    """Write out[i] = mix(values[i]); both uint64 (n,)."""
    for i in range(values.shape[0]):
        out[i] = mix(values[i])


@njit(nogil=True, cache=True)
def hash_unit(text, begin, end):
    """The hash of the bytes [begin, end) of `text`, which is readable for eight bytes past `end`. Eight bytes a step, little-endian."""
    length = end - begin
    h = np.uint64(length) * LENGTH
    while length > 8:
        h = (h ^ load_word(text, begin)) * FACTOR
        h ^= h >> S32
        begin += 8
        length -= 8
    keep = ONES >> (np.uint64(64) - EIGHT * np.uint64(length)) if length > 0 else ZERO
    h = (h ^ (load_word(text, begin) & keep)) * FACTOR
    return h ^ (h >> S32)


@njit(nogil=True, cache=True)
def word_hashes(text, length, hashes):
    """Write the hash of each token of `text[:length]` and return their number.

    text uint8, normalised (a token is a run of ASCII letters, ASCII digits and bytes from 0x80 up), readable for 64 bytes past `length`
    · hashes uint64, room for (length + 1) // 2.
    """
    count, begin, carry = 0, 0, ZERO
    for base in range(0, length + 1, 64):  # one past the end, so that a token that reaches the end is closed
        mask = token_mask(text, base)
        if length - base < 64:
            mask &= (ONE << np.uint64(length - base)) - ONE
        edges = mask ^ ((mask << ONE) | carry)
        inside = carry
        carry = mask >> S63
        while edges:
            position = base + np.int64(trailing_zeros(edges))
            edges &= edges - ONE
            if inside:
                hashes[count] = hash_unit(text, begin, position)
                count += 1
            else:
                begin = position
            inside ^= ONE
    return count


@njit(nogil=True, cache=True)
def character_hashes(text, length, hashes):
    """Write the hash of each code point of `text[:length]` (valid UTF-8, readable for eight bytes past it) and return their number. hashes uint64 (length,)."""
    count, begin = 0, 0
    for i in range(1, length + 1):
        if i == length or text[i] & 0xC0 != 0x80:
            hashes[count] = hash_unit(text, begin, i)
            count += 1
            begin = i
    return count


@njit(nogil=True, cache=True)
def combine(hashes, count, width):
    """Replace the first unit hashes by shingle hashes, in place, and return the number of shingles.

    Shingle i is mix(n * LENGTH + sum over u < n of hashes[i + u] * BASE^(n - 1 - u)) mod 2^64, with n = min(width, count); none if count = 0.
    """
    if count == 0:
        return 0
    n = min(width, count)
    first, power = ZERO, ONE
    for u in range(n):
        first = first * BASE + hashes[u]
        power *= BASE
    salt = np.uint64(n) * LENGTH
    for i in range(count - n):
        following = first * BASE - hashes[i] * power + hashes[i + n]
        hashes[i] = mix(first + salt)
        first = following
    hashes[count - n] = mix(first + salt)
    return count - n + 1


@njit(nogil=True, cache=True)
def sort_distinct(values, n, counts, out):
    """Write the distinct members of `values[:n]` to `out`, ascending, and return their number.

    values uint64, uniformly spread (they are hashes) · counts int32, room for 2 * (the power of two above n) · out uint64 (n,). One pass puts each
    value into the bucket of its leading bits, one insertion pass mends the order inside buckets: expected cost is linear, repeats included.
    """
    if n < 2:
        out[:n] = values[:n]
        return n
    shift = np.uint64(64)
    buckets = 1
    while buckets < n:
        buckets *= 2
        shift -= ONE
    if buckets < 1 << 30:
        buckets *= 2
        shift -= ONE
    counts[:buckets] = 0
    for i in range(n):
        counts[values[i] >> shift] += 1
    total = 0
    for bucket in range(buckets):
        total += counts[bucket]
        counts[bucket] = total
    for i in range(n):
        bucket = values[i] >> shift
        counts[bucket] -= 1
        out[counts[bucket]] = values[i]
    return _settle(out, n)


@njit(nogil=True, cache=True)
def _settle(values, n):
    """Sort `values[:n]` by insertion, drop repeats, return how many are left."""
    for i in range(1, n):
        x = values[i]
        j = i
        while j > 0 and values[j - 1] > x:
            values[j] = values[j - 1]
            j -= 1
        values[j] = x
    kept = 1
    for i in range(1, n):
        values[kept] = values[i]
        kept += values[kept] != values[kept - 1]
    return kept
