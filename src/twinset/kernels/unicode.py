"""What the kernels know of Unicode: the table made by tools/unicode_tables.py, and decoding UTF-8.

The table is one uint32 array, for a tuple of arrays costs Numba a reference count at each use. In it, in this order:
  index      17408: where the block of a code point is, by code >> 6
  growth      4096: by lead byte - 0xC0 and six bits of the byte after it: the most bytes that come of such a sequence, and CHAINED if its code point may JOIN
  compositions 3 x 4096: a hash table with open addressing: first code, second code, the code they compose to or 0
  blocks       128 each: 64 records, then 64 details
  what MULTI records and details point to.
A record:  bits 0-2 class, then flags, bits 5-9 the number of codes if MULTI, bits 11-31 where these are, or what to add to the code modulo 2^21.
A detail:  bits 24-31 canonical combining class, bits 0-23 where the canonical decomposition is (a count, then so many codes), 0 if there is none.
"""

import numpy as np
from numba import njit

# Nothing is allocated, and counting references costs three times the work itself. `_nrt` is missing from Numba's annotations.
kernel = njit(nogil=True, cache=True, _nrt=False, error_model="numpy")  # type: ignore[call-overload]

OTHER, SPACE, WORD, SINGLE, MARK = 0, 1, 2, 3, 4  # classes
KIND = 7
JOIN = 8  # depends on what precedes it: has a combining class, or may compose backwards
MULTI = 16  # becomes any number of codes other than one
BACK = 1024  # may compose with what precedes it
DROPPED = JOIN | MULTI  # the record of what becomes nothing
LENGTH, COUNT, SHIFT = 5, 31, 11
CODE = 0x1FFFFF
RANK, PLACE = 24, 0xFFFFFF

GROWTHS = 17408
CHAINED, GROWTH = 0x80, 0x7F
FIRSTS, SECONDS, WHOLES, LAST_SLOT = 21504, 25600, 29696, 4095
HASH_FIRST, HASH_SECOND, HASH_SHIFT, LOW32 = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77), np.uint64(20), np.uint64(0xFFFFFFFF)

REPLACEMENT = 0xFFFD
L, V, T, S = 0x1100, 0x1161, 0x11A7, 0xAC00  # Hangul: leads, vowels, finals (less one), syllables
LEADS, VOWELS, FINALS, SYLLABLES = 19, 21, 28, 11172


@kernel
def record_of(tables, code):
    return np.int64(tables[np.int64(tables[code >> 6]) + (code & 63)])


@kernel
def detail_of(tables, code):
    return np.int64(tables[np.int64(tables[code >> 6]) + 64 + (code & 63)])


@kernel
def composition(first, second, tables):
    """What two code points compose to, or 0."""
    if 0 <= first - L < LEADS and 0 <= second - V < VOWELS:
        return S + ((first - L) * VOWELS + second - V) * FINALS
    if 0 <= first - S < SYLLABLES and (first - S) % FINALS == 0 and 0 < second - T < FINALS:
        return first + second - T
    if not record_of(tables, second) & BACK:
        return 0
    at = np.int64(((np.uint64(first) * HASH_FIRST + np.uint64(second) * HASH_SECOND) & LOW32) >> HASH_SHIFT)
    while tables[WHOLES + at]:
        if tables[FIRSTS + at] == first and tables[SECONDS + at] == second:
            return np.int64(tables[WHOLES + at])
        at = (at + 1) & LAST_SLOT
    return 0


@kernel
def decode(text, p, stop):
    """The code point at text[p], p < stop, and its size in bytes; a malformed one is (-1, size of the longest start of a well-formed sequence)."""
    lead = np.int64(text[p])
    if lead < 0x80:
        return lead, 1
    second = np.int64(text[p + 1]) if p + 1 < stop else 0
    if lead < 0xE0:
        return ((lead & 0x1F) << 6 | (second & 0x3F), 2) if lead >= 0xC2 and second >> 6 == 2 else (-1, 1)
    least = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    most = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
    if not least <= second <= most or lead > 0xF4:
        return -1, 1
    third = np.int64(text[p + 2]) if p + 2 < stop else 0
    if third >> 6 != 2:
        return -1, 2
    code = (lead & 0xF) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
    if lead < 0xF0:
        return code, 3
    fourth = np.int64(text[p + 3]) if p + 3 < stop else 0
    return ((code & 0x7FFF) << 6 | (fourth & 0x3F), 4) if fourth >> 6 == 2 else (-1, 3)
