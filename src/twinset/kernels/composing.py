"""Composing: code points that touch one another, decomposed, put in canonical order and composed again.

An item of the scratch `codes` uint32 (2, columns): bits 0-20 a code, bits 24-31 its canonical combining class.
"""

import numpy as np

from twinset.kernels.unicode import (
    CODE,
    COUNT,
    FINALS,
    JOIN,
    LENGTH,
    MULTI,
    PLACE,
    RANK,
    REPLACEMENT,
    SHIFT,
    SYLLABLES,
    VOWELS,
    L,
    S,
    T,
    V,
    composition,
    decode,
    detail_of,
    kernel,
    record_of,
)

COUNTERS = 256
SHORT = 24  # a run of marks no longer than this is sorted by insertion


@kernel
def push(code, tables, codes, n):
    """Append the canonical decomposition of one code to the items codes[0, :n]; return the new n."""
    if 0 <= code - S < SYLLABLES:
        final = (code - S) % FINALS
        codes[0, n] = L + (code - S) // (VOWELS * FINALS)
        codes[0, n + 1] = V + (code - S) % (VOWELS * FINALS) // FINALS
        codes[0, n + 2] = T + final
        return n + 2 + (final > 0)
    detail = detail_of(tables, code)
    at = detail & PLACE
    if at == 0:
        codes[0, n] = code | detail & ~PLACE
        return n + 1
    count = np.int64(tables[at])
    for i in range(count):
        part = np.int64(tables[at + 1 + i])
        codes[0, n + i] = part | detail_of(tables, part) & ~PLACE
    return n + count


@kernel
def gather(text, p, stop, tables, codes):
    """Decompose the code point at text[p] and all that JOIN it into codes[0]; return (number of items, where the next free code point is)."""
    n, first = 0, p
    while p < stop:
        code, size = decode(text, p, stop)
        code = code if code >= 0 else REPLACEMENT
        record = record_of(tables, code)
        if p > first and not record & JOIN:
            break
        if record & MULTI:
            for i in range(record >> LENGTH & COUNT):
                n = push(np.int64(tables[(record >> SHIFT) + i]), tables, codes, n)
        else:
            n = push(code + (record >> SHIFT) & CODE, tables, codes, n)
        p += size
    return n, p


@kernel
def order(codes, n):
    """Put every run of marks in codes[0, :n] in the order of combining classes, equal ones left in order. Cost: linear."""
    i = 0
    while i < n:
        begin, sorted_already = i, True
        while i < n and codes[0, i] >> RANK:
            sorted_already = sorted_already and (i == begin or codes[0, i - 1] >> RANK <= codes[0, i] >> RANK)
            i += 1
        if not sorted_already:
            if i - begin <= SHORT:
                sort_short(codes[0], begin, i)
            else:
                sort_long(codes, begin, i)
        i += 1


@kernel
def sort_short(items, begin, end):
    for i in range(begin + 1, end):
        item, at = items[i], i
        while at > begin and items[at - 1] >> RANK > item >> RANK:
            items[at] = items[at - 1]
            at -= 1
        items[at] = item


@kernel
def sort_long(codes, begin, end):
    """Counting sort of codes[0, begin:end]. codes[1] holds the sorted items, its last COUNTERS columns the counters."""
    base = codes.shape[1] - COUNTERS
    for i in range(base, base + COUNTERS):
        codes[1, i] = 0
    for i in range(begin, end):
        codes[1, base + (codes[0, i] >> RANK)] += 1
    total = begin
    for i in range(base, base + COUNTERS):
        total, codes[1, i] = total + np.int64(codes[1, i]), total
    for i in range(begin, end):
        at = base + (codes[0, i] >> RANK)
        codes[1, codes[1, at]] = codes[0, i]
        codes[1, at] += 1
    for i in range(begin, end):
        codes[0, i] = codes[1, i]


@kernel
def compose(codes, n, tables):
    """Compose the ordered items codes[0, :n] in place (Unicode, definition D117); return how many are left."""
    kept, starter, last = 0, -1, 0
    for i in range(n):
        item = np.int64(codes[0, i])
        rank = item >> RANK
        if starter >= 0 and (kept == starter + 1 or last < rank):
            whole = composition(np.int64(codes[0, starter]), item & CODE, tables)
            if whole:
                codes[0, starter] = whole
                continue
        if rank == 0:
            starter = kept
        last = rank
        codes[0, kept] = item
        kept += 1
    return kept
