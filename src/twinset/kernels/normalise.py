"""Normalising UTF-8 text: malformed bytes replaced, compatibility forms and case folded, composed, and cut to what shingles are made of.

What is computed (the oracle is tests/reference_text.py): the bytes are decoded as `bytes.decode("utf-8", "replace")` does; every code point c becomes
NFKD(casefold(NFKD(c))), or NFKD(c) when case is kept, or nothing when it is default-ignorable; the whole is composed (NFC). U+0345 is folded by itself, to iota.
The folded text is then written in one of three modes:

WORDS   Bytes >= 0x80 and ASCII letters and digits make tokens, every other byte parts them. ASCII is written as it is. Of the rest: letters and digits are written;
        a *single* (a letter or digit of a script written without spaces, and a Thai, Lao, Khmer or Myanmar mark) is parted by a space from the token before and the token
        after it; any other mark is written if a token precedes it, which it joins, and dropped if not; anything else is a space if a token precedes it, and nothing if not.
CHARS   The code points, a run of white space (str.isspace) being one space, and none at either end.
SOLID   The code points without white space.

How: each code point has a record saying what it becomes. A code point that cannot touch its predecessor is written at once. One that can (JOIN: a combining class, or a
partner in a composition) sends the writer back to the last code point that was free of its predecessor; from there to the next free one, everything is decomposed, put in
canonical order, composed and written again. A mark that is in order and never composes is written at once all the same. Each byte is so read at most three times.

Codes and positions are int64, where a bare small literal is safe; records and keys are cast before they are used.
"""

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

WORDS, CHARS, SOLID = 0, 1, 2  # modes

# A record, uint32: bits 0-2 class, then flags, bits 5-9 the number of codes if MULTI, bits 11-31 where they are in the pool, or what to add to the code modulo 2^21.
OTHER, SPACE, WORD, SINGLE, MARK = 0, 1, 2, 3, 4
KIND = 7
JOIN = 8  # depends on what precedes it
MULTI = 16  # becomes any number of codes other than one
BACK = 1024  # may compose with what precedes it
DROPPED = JOIN | MULTI  # the record of what becomes nothing
LENGTH, COUNT, SHIFT = 5, 31, 11
CODE = 0x1FFFFF

# An item of the scratch, uint32: bits 0-20 code, bits 24-31 canonical combining class.
RANK = 24
CHAINED, GROWTH = 0x80, 0x7F  # of tables.growth
COUNTERS = 256
SHORT = 24  # a run of marks no longer than this is sorted by insertion

BLANK, REPLACEMENT = 0x20, 0xFFFD
L, V, T, S = 0x1100, 0x1161, 0x11A7, 0xAC00  # Hangul: leads, vowels, finals (less one), syllables
VOWELS, FINALS, SYLLABLES = 21, 28, 11172
LEADS = 19

HASH = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT, FIRST_SHIFT = np.uint64(52), np.uint64(21)
LAST_SLOT = 4095
NONE = np.uint64(0)
BLOCKS = not numba.config.DISABLE_JIT  # the vector intrinsics exist in compiled code only


class Tables(NamedTuple):
    """What the kernel knows of Unicode; made by tools/unicode_tables.py, read by twinset.documents.unicode."""

    index: np.ndarray  # uint16: block of 64 code points -> row of the next three
    records: np.ndarray  # uint32
    deep: np.ndarray  # uint16: where in `parts` the canonical decomposition is, 0 if the code is its own
    combining: np.ndarray  # uint8: canonical combining class
    pool: np.ndarray  # uint32: codes of the MULTI records, composed
    parts: np.ndarray  # uint32: a count, then so many codes
    keys: np.ndarray  # uint64 (4096,): hash table of first << 21 | second
    values: np.ndarray  # uint32 (4096,): their composition
    growth: np.ndarray  # uint8 (4096,): by lead byte - 0xC0 and six bits of the next: most bytes out, and CHAINED if such a sequence may JOIN


# ---- blocks of 64 bytes ----

WIDE, MASK64 = ir.VectorType(ir.IntType(8), 64), ir.IntType(64)


def _splat(value):
    return ir.Constant(WIDE, [value] * 64)


def _pointer(context, builder, kind, array, position):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), WIDE.as_pointer())


def _load(context, builder, kind, array, position):
    pointer = _pointer(context, builder, kind, array, position)
    block = builder.load(pointer)
    block.align = 1
    return block


def _lowered(builder, block, step):
    """Add `step` to the bytes A to Z."""
    capital = builder.icmp_unsigned("<", builder.sub(block, _splat(ord("A"))), _splat(26))
    single = builder.insert_element(ir.Constant(WIDE, ir.Undefined), step, ir.Constant(ir.IntType(32), 0))
    steps = builder.shuffle_vector(single, ir.Constant(WIDE, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64))
    return builder.select(capital, builder.add(block, steps), block)


def _high(builder, block):
    return builder.bitcast(builder.icmp_signed("<", block, _splat(0)), MASK64)


@intrinsic
def high_bytes(context, text, position):
    """Bit i of the result: text[position + i] >= 0x80. Reads 64 bytes."""

    def build(context, builder, signature, arguments):
        return _high(builder, _load(context, builder, signature.args[0], *arguments))

    return types.uint64(text, types.intp), build


@intrinsic
def copy_words(context, text, position, out, place, step):
    """Copy 64 bytes, adding `step` (uint8) to A-Z. Bit i of the result: text[position + i] >= 0x80."""

    def build(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        pointer = _pointer(context, builder, signature.args[2], *arguments[2:4])
        builder.store(_lowered(builder, block, arguments[4]), pointer).align = 1
        return _high(builder, block)

    return types.uint64(text, types.intp, out, types.intp, types.uint8), build


@intrinsic
def copy_chars(context, text, position, out, place, step):
    """Copy 64 bytes, adding `step` (uint8) to A-Z, white space made blanks. Returns two masks: bytes >= 0x80, white space."""

    def build(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        pointer = _pointer(context, builder, signature.args[2], *arguments[2:4])
        controls = builder.icmp_unsigned("<", builder.sub(block, _splat(9)), _splat(5))  # tab to carriage return
        blanks = builder.icmp_unsigned("<", builder.sub(block, _splat(0x1C)), _splat(5))  # four separators and the space
        white = builder.or_(controls, blanks)
        builder.store(builder.select(white, _splat(BLANK), _lowered(builder, block, arguments[4])), pointer).align = 1
        return cgutils.pack_struct(builder, [_high(builder, block), builder.bitcast(white, MASK64)])

    return types.Tuple((types.uint64, types.uint64))(text, types.intp, out, types.intp, types.uint8), build


@intrinsic
def trailing_zeros(context, mask):
    """The number of zero bits below the lowest one; 64 for zero."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


# ---- reading ----


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def slot(tables, code):
    """The row of a code point in records, deep and combining."""
    return np.int64(tables.index[code >> 6]) << 6 | (code & 63)


@njit(nogil=True, cache=True)
def capacity(text, start, stop, tables):
    """How much room `normalise` needs for text[start:stop]: bytes of `out`, and columns of `codes`.

    text uint8, the whole buffer. Both are upper bounds: ASCII needs 1 byte a byte, an ideograph 5, the worst code point 35 (U+FDFA). The second is COUNTERS plus the bytes
    of the longest run that may have to be composed as one. Cost: one pass.
    """
    p, room, run, longest = start, 0, 0, 0
    while p < stop:
        if text[p] < 0x80:
            size = ascii_run(text, p, stop)
            room, run = room + size, 1
        else:
            lead = np.int64(text[p])
            size = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF8 else 1
            complete = size > 1 and p + size <= stop
            for i in range(1, size):
                complete = complete and text[p + i] >> 6 == 2
            growth = np.int64(tables.growth[(lead - 0xC0) << 6 | (text[p + 1] & 63)]) if complete else 3
            size = size if complete else 1
            run = (run if growth & CHAINED else 0) + (growth & GROWTH)
            room += growth & GROWTH
        longest = max(longest, run)
        p += size
    return room, COUNTERS + longest


@njit(nogil=True, cache=True)
def ascii_run(text, p, stop):
    """The number of ASCII bytes at the start of text[p:stop]."""
    first = p
    while BLOCKS and p + 64 <= text.size and p < stop:
        size = trailing_zeros(high_bytes(text, p))
        p += size
        if size < 64:
            return min(p, stop) - first
    while p < stop and text[p] < 0x80:
        p += 1
    return min(p, stop) - first


# ---- writing ----


@njit(nogil=True, cache=True)
def in_token(byte):
    """Whether a byte belongs to a token: an ASCII letter or digit, or any byte >= 0x80."""
    code = np.int64(byte)
    return code >= 0x80 or 0 <= (code | 0x20) - 0x61 < 26 or 0 <= code - 0x30 < 10


@njit(nogil=True, cache=True)
def put(code, out, o):
    """Write one code point as UTF-8 at out[o]; return the next place."""
    if code < 0x80:
        out[o] = code
        return o + 1
    if code < 0x800:
        out[o] = 0xC0 | code >> 6
        out[o + 1] = 0x80 | (code & 63)
        return o + 2
    if code < 0x10000:
        out[o] = 0xE0 | code >> 12
        out[o + 1] = 0x80 | (code >> 6 & 63)
        out[o + 2] = 0x80 | (code & 63)
        return o + 3
    out[o] = 0xF0 | code >> 18
    out[o + 1] = 0x80 | (code >> 12 & 63)
    out[o + 2] = 0x80 | (code >> 6 & 63)
    out[o + 3] = 0x80 | (code & 63)
    return o + 4


@njit(nogil=True, cache=True)
def emit(code, kind, mode, out, o, tied):
    """Write one normalised code point of class `kind` at out[o] as `mode` says. `tied`: the token that ends there is a single. Returns (next place, tied)."""
    if mode != WORDS:
        if kind != SPACE:
            return put(code, out, o), False
        if mode == CHARS and o > 0 and out[o - 1] != BLANK:
            out[o] = BLANK
            o += 1
        return o, False
    after = o > 0 and in_token(out[o - 1])
    if code < 0x80:
        parted, written = tied and in_token(code), True
    else:
        parted = tied if kind == WORD else after and kind != MARK
        written = kind in (WORD, SINGLE) or (kind == MARK and after)
    if parted:
        out[o] = BLANK
        o += 1
    if written:
        o = put(code, out, o)
    return o, kind == SINGLE or (kind == MARK and tied)


@njit(nogil=True, cache=True)
def track(spans, place, end, first, last):
    """Say that out[place:end] came from bytes [first, last) of the document."""
    for i in range(place, min(end, spans.shape[1])):
        spans[0, i] = first
        spans[1, i] = last


@njit(nogil=True, cache=True)
def track_copy(spans, place, size, first):
    """Say that the `size` bytes from out[place] are copies of those from `first` in the document."""
    for i in range(min(size, spans.shape[1] - place)):
        spans[0, place + i] = first + i
        spans[1, place + i] = first + i + 1


@njit(nogil=True, cache=True)
def ascii_words(text, p, stop, step, out, o):
    """Copy the ASCII bytes at the start of text[p:stop]; return how many. Writes up to 64 bytes from out[o] at a time, never past the end of out."""
    first = p
    while BLOCKS and p + 64 <= text.size and o + 64 <= out.size:
        size = min(trailing_zeros(copy_words(text, p, out, o, step)), stop - p)
        p += size
        o += size
        if size < 64:
            return p - first
    while p < stop and text[p] < 0x80:
        out[o] = text[p] + step if 0x41 <= text[p] <= 0x5A else text[p]
        p += 1
        o += 1
    return p - first


@njit(nogil=True, cache=True)
def is_white(byte):
    return 9 <= byte <= 13 or 0x1C <= byte <= 0x20


@njit(nogil=True, cache=True)
def ascii_chars(text, p, stop, step, mode, out, o):
    """Write ASCII bytes of text[p:stop], p < stop, up to the next that is not ASCII or is white space to be left out, and at least one byte read.

    Returns (bytes read, bytes written); those written are the last ones read, byte for byte.
    """
    first, place = p, o
    if is_white(text[p]) and (mode == SOLID or o == 0 or out[o - 1] == BLANK):
        while p < stop and is_white(text[p]):
            p += 1
        return p - first, 0
    while BLOCKS and p + 64 <= text.size and o + 64 <= out.size:
        high, white = copy_chars(text, p, out, o, step)
        blank = o > place and out[o - 1] == BLANK
        double = white if mode == SOLID else white & (white << np.uint64(1) | np.uint64(blank))
        size = min(trailing_zeros(high | double), stop - p)
        p += size
        o += size
        if size < 64:
            return p - first, o - place
    while p < stop and text[p] < 0x80:
        white = is_white(text[p])
        if white and (mode == SOLID or (o > place and out[o - 1] == BLANK)):
            break
        out[o] = BLANK if white else text[p] + step if 0x41 <= text[p] <= 0x5A else text[p]
        p += 1
        o += 1
    return p - first, o - place


# ---- composing ----


@njit(nogil=True, cache=True)
def push(code, tables, codes, n):
    """Append the canonical decomposition of one code to the items codes[0, :n]; return the new n."""
    if 0 <= code - S < SYLLABLES:
        final = (code - S) % FINALS
        codes[0, n] = L + (code - S) // (VOWELS * FINALS)
        codes[0, n + 1] = V + (code - S) % (VOWELS * FINALS) // FINALS
        codes[0, n + 2] = T + final
        return n + 2 + (final > 0)
    row = slot(tables, code)
    at = np.int64(tables.deep[row])
    if at == 0:
        codes[0, n] = code | np.int64(tables.combining[row]) << RANK
        return n + 1
    count = np.int64(tables.parts[at])
    for i in range(count):
        part = np.int64(tables.parts[at + 1 + i])
        codes[0, n + i] = part | np.int64(tables.combining[slot(tables, part)]) << RANK
    return n + count


@njit(nogil=True, cache=True)
def gather(text, p, stop, tables, codes):
    """Decompose the code point at text[p] and all that JOIN it into codes[0]; return (number of items, where the next free code point is)."""
    n, first = 0, p
    while p < stop:
        code, size = decode(text, p, stop)
        code = code if code >= 0 else REPLACEMENT
        record = np.int64(tables.records[slot(tables, code)])
        if p > first and not record & JOIN:
            break
        if record & MULTI:
            for i in range(record >> LENGTH & COUNT):
                n = push(np.int64(tables.pool[(record >> SHIFT) + i]), tables, codes, n)
        else:
            n = push(code + (record >> SHIFT) & CODE, tables, codes, n)
        p += size
    return n, p


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def sort_short(items, begin, end):
    for i in range(begin + 1, end):
        item, at = items[i], i
        while at > begin and items[at - 1] >> RANK > item >> RANK:
            items[at] = items[at - 1]
            at -= 1
        items[at] = item


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def composition(first, second, tables):
    """What two code points compose to, or 0."""
    if 0 <= first - L < LEADS and 0 <= second - V < VOWELS:
        return S + ((first - L) * VOWELS + second - V) * FINALS
    if 0 <= first - S < SYLLABLES and (first - S) % FINALS == 0 and 0 < second - T < FINALS:
        return first + second - T
    if not tables.records[slot(tables, second)] & BACK:
        return 0
    key = np.uint64(first) << FIRST_SHIFT | np.uint64(second)
    at = np.int64(key * HASH >> HASH_SHIFT)
    while tables.keys[at] != NONE:
        if tables.keys[at] == key:
            return np.int64(tables.values[at])
        at = (at + 1) & LAST_SLOT
    return 0


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def cluster(text, first, stop, tables, mode, codes, out, o, tied):
    """Write at out[o] the code point at text[first] composed with all that JOIN it. Returns (next p, next o, tied)."""
    n, p = gather(text, first, stop, tables, codes)
    order(codes, n)
    for i in range(compose(codes, n, tables)):
        code = np.int64(codes[0, i]) & CODE
        o, tied = emit(code, np.int64(tables.records[slot(tables, code)]) & KIND, mode, out, o, tied)
    return p, o, tied


@njit(nogil=True, cache=True)
def expand(record, tables, mode, out, o, tied):
    """Write the codes of a MULTI record."""
    at = record >> SHIFT
    for i in range(record >> LENGTH & COUNT):
        code = np.int64(tables.pool[at + i])
        o, tied = emit(code, np.int64(tables.records[slot(tables, code)]) & KIND, mode, out, o, tied)
    return o, tied


# ---- the whole ----


@njit(nogil=True, cache=True)
def normalise(text, start, stop, tables, mode, codes, out, spans):
    """Write the normal form of the document text[start:stop] from out[0] on. Returns (bytes written, malformed sequences replaced).

    text uint8, the whole buffer: nothing outside [start, stop) counts, though bytes of the buffer after stop may be read. tables a Tables; it says whether case is kept.
    mode WORDS, CHARS or SOLID. out uint8 and codes uint32 (2, columns): at least as long as `capacity` says; both are scratch beyond what is returned. Blocks of 64 bytes are
    written only while out has room for them, so 64 bytes more than needed make it fastest.
    spans int64 (2, 0), or (2, m) with m at least the bytes written: a token out[a:b] is text[start + spans[0, a] : start + spans[1, b - 1]] of the original, marks and all.
    An empty document writes nothing. Cost: linear in stop - start, whatever the text.
    """
    step = np.uint8(BLANK if tables.records[slot(tables, 0x41)] >> SHIFT else 0)
    p, o, tied, malformed = start, 0, False, 0
    first, place, tied_there = start, 0, False  # the last code point free of its predecessor: where it is, where it was written, and tied then
    rank = 0  # the combining class of the last code written; 255 if unknown
    while p < stop:
        began, before = p, o
        if text[p] < 0x80:
            if mode == WORDS:
                if tied and in_token(text[p]):
                    out[o] = BLANK
                    o += 1
                read = wrote = ascii_words(text, p, stop, step, out, o)
            else:
                read, wrote = ascii_chars(text, p, stop, step, mode, out, o)
            if spans.shape[1]:
                track(spans, before, o, p - start, p - start + 1)
                track_copy(spans, o, wrote, p + read - wrote - start)
            p += read
            o += wrote
            back = min(wrote, 1)
            first, place, tied, tied_there, rank = p - back, o - back, False, False, 0
            continue
        code, size = decode(text, p, stop)
        if code < 0:
            code = REPLACEMENT
            malformed += 1
        record = np.int64(tables.records[slot(tables, code)])
        if not record & JOIN:
            first, place, tied_there = p, o, tied
            if record & MULTI:
                rank = 255
                o, tied = expand(record, tables, mode, out, o, tied)
            else:
                rank = 0
                o, tied = emit(code + (record >> SHIFT) & CODE, record & KIND, mode, out, o, tied)
            p += size
        elif record == DROPPED:
            p += size
        else:
            target = code + (record >> SHIFT) & CODE
            own = np.int64(tables.combining[slot(tables, target)])
            if own >= rank and not record & (BACK | MULTI):
                rank = own
                o, tied = emit(target, record & KIND, mode, out, o, tied)
                p += size
            else:
                p, o, tied = cluster(text, first, stop, tables, mode, codes, out, place, tied_there)
                began, before = first, place
                first, place, tied_there, rank = p, o, tied, 0
        if spans.shape[1]:
            track(spans, before, o, began - start, p - start)
    if mode == CHARS and o > 0 and out[o - 1] == BLANK:
        o -= 1
    return o, malformed
