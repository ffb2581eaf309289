"""Normalised text to sorted, distinct 64-bit shingle hashes."""

import numpy as np
from numba import njit

from twinset.kernels.normalise import WORDS, capacity, in_token, normalise
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
    """Write out[i] = mix(values[i] + LENGTH); both uint64 (n,). The salt keeps 0, a frequent element, off the hash 0, which is the minimum of every lane."""
    for i in range(values.shape[0]):
        out[i] = mix(values[i] + LENGTH)


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
    """Write the distinct members of `values[:n]` to `out`, ascending, and return their number. As `sort_hashes` otherwise."""
    sort_hashes(values, n, counts, out)
    if n < 2:
        return n
    kept, previous = 1, out[0]  # kept by name: to read back what was just stored costs as much as the sort
    for i in range(1, n):
        x = out[i]
        out[kept] = x
        kept += x != previous
        previous = x
    return kept


@njit(nogil=True, cache=True)
def sort_hashes(values, n, counts, out):
    """Write `values[:n]` to `out`, ascending.

    values uint64, uniformly spread (they are hashes) · counts int32, room for 2 * (the power of two above n) · out uint64 (n,). One pass puts each
    value into the bucket of its leading bits, one insertion pass mends the order inside buckets: expected cost is linear, repeats included.
    """
    if n < 2:
        out[:n] = values[:n]
        return
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
    for i in range(1, n):
        x = out[i]
        j = i
        while j > 0 and out[j - 1] > x:
            out[j] = out[j - 1]
            j -= 1
        out[j] = x


@njit(nogil=True, cache=True)
def element_hashes(text, offsets, out):
    """Write the mixed hash of each element text[offsets[i]:offsets[i + 1]]: any bytes, readable for eight past the last, salted as in `mix_all`. out uint64 (elements,)."""
    for i in range(out.shape[0]):
        out[i] = mix(hash_unit(text, offsets[i], offsets[i + 1]) + LENGTH)


@njit(nogil=True, cache=True)
def distinct_rows(values, offsets, counts, out, out_offsets):
    """Sort each row and drop its repeats: from values (nnz,), offsets (n+1,) to out (nnz,), out_offsets (n+1,). counts as in `sort_distinct`, for the longest row."""
    filled = 0
    out_offsets[0] = 0
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        filled += sort_distinct(values[begin:end], end - begin, counts, out[filled:])
        out_offsets[d + 1] = filled


def count_room(longest):
    """The length of `counts` that `sort_distinct` needs for rows of up to `longest` values."""
    return 2 << max(1, int(longest)).bit_length()


@njit(nogil=True, cache=True)
def scratch_room(text, offsets, first, last, tables):
    """The longest `capacity` of the documents first to last - 1: bytes of normalised text, and columns of codes."""
    room = columns = 0
    for d in range(first, last):
        here, wide = capacity(text, offsets[d], offsets[d + 1], tables)
        room, columns = max(room, here), max(columns, wide)
    return room, columns


@njit(nogil=True, cache=True)
def hash_row(text, begin, end, tables, mode, width, codes, normal, hashes, spans):
    """Write the hashes of all shingles of the document text[begin:end], in order and with repeats; return (their number, malformed sequences replaced).

    spans int64 (2, 0) · the other arrays are those of `shingle_rows`.
    """
    length, bad = normalise(text, begin, end, tables, mode, codes, normal, spans)
    normal[length : length + 64] = 0
    units = word_hashes(normal, length, hashes) if mode == WORDS else character_hashes(normal, length, hashes)
    return combine(hashes, units, width), bad


@njit(nogil=True, cache=True)
def shingle_rows(text, offsets, first, last, tables, mode, width, codes, normal, hashes, counts, values, ends):
    """Shingle documents from `first` on, until `last` or until `values` is full.

    text uint8, the whole buffer · offsets int64 (n+1,) · tables, mode, codes as in `normalise` · normal uint8, 64 bytes longer than the longest normalised
    document · hashes uint64, as long · counts as in `sort_distinct` · values uint64 takes the rows, sorted and distinct · ends int64 (last - first,): where
    row d - first ends in values. Returns (the document it stopped at, malformed sequences replaced, values that the document it stopped at needs).
    """
    filled = malformed = 0
    spans = np.empty((2, 0), np.int64)
    for d in range(first, last):
        shingles, bad = hash_row(text, offsets[d], offsets[d + 1], tables, mode, width, codes, normal, hashes, spans)
        if shingles > values.shape[0] - filled:
            return d, malformed, shingles
        filled += sort_distinct(hashes, shingles, counts, values[filled:])
        ends[d - first] = filled
        malformed += bad
    return last, malformed, 0


@njit(nogil=True, cache=True)
def unit_spans(normal, length, mode, origins, out):
    """Write out[i] = [first, last) bytes, in the original document, of unit i of normal[:length], and return the number of units.

    origins int64 (2, >= length), the spans that `normalise` wrote · out int64, room for (length, 2).
    """
    count = begin = 0
    inside = False
    for i in range(length + 1):
        if mode == WORDS:
            member = i < length and in_token(normal[i])
            closes, opens = inside and not member, member and not inside
        else:
            member = i < length
            opens = member and normal[i] & 0xC0 != 0x80
            closes = inside and (opens or not member)
        if closes:
            out[count, 0], out[count, 1] = origins[0, begin], origins[1, i - 1]
            count += 1
        if opens:
            begin = i
        inside = member
    return count
