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
canonical order, composed and written again. A mark that is in order and never composes is written at once all the same. Each byte is so read at most twice.
Runs of ASCII, and of the code points that most Chinese, Japanese and Korean text is made of, are recognised and written in blocks, without the table.

Codes and positions are int64, where a bare small literal is safe; records and keys are cast before they are used.
"""

import numba
import numpy as np

from twinset.kernels.blocks import copy_chars, copy_singles, copy_words, high_bytes, plain_singles
from twinset.kernels.composing import COUNTERS, compose, gather, order
from twinset.kernels.unicode import (
    BACK,
    CHAINED,
    CODE,
    COUNT,
    DROPPED,
    GROWTH,
    GROWTHS,
    JOIN,
    KIND,
    LENGTH,
    MARK,
    MULTI,
    RANK,
    REPLACEMENT,
    SHIFT,
    SINGLE,
    SPACE,
    WORD,
    decode,
    detail_of,
    kernel,
    record_of,
)
from twinset.kernels.vector import trailing_zeros

WORDS, CHARS, SOLID = 0, 1, 2  # modes
BLANK = 0x20
UNKNOWN = 255  # above every combining class
ZERO, ONE = np.uint64(0), np.uint64(1)
GROUPS = 16  # code points of three bytes that a block of 64 bytes holds at most, if each is to be written with a blank
SINGLE_GROWTH = 5  # bytes that come of a plain single at most: its own, and a blank on either side
BLOCKS = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # the vector intrinsics exist in compiled code only


@kernel
def capacity(text, start, stop, tables):
    """How much room `normalise` needs for text[start:stop]: bytes of `out`, and columns of `codes`.

    text uint8, the whole buffer. Both are upper bounds: ASCII needs 1 byte a byte, an ideograph 5, the worst code point 35 (U+FDFA). The second is COUNTERS plus the bytes
    of the longest run that may have to be composed as one. Cost: one pass.
    """
    p, room, run, longest = start, 0, 0, 0
    while p < stop:
        singles = single_run(text, p, stop)
        if singles > 0:
            size = 3 * singles
            room, run = room + SINGLE_GROWTH * singles, SINGLE_GROWTH
        elif text[p] < 0x80:
            size = ascii_run(text, p, stop)
            room, run = room + size, 1
        else:
            lead = np.int64(text[p])
            size = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF8 else 1
            complete = size > 1 and p + size <= stop
            for i in range(1, size):
                complete = complete and text[p + i] >> 6 == 2
            growth = np.int64(tables[GROWTHS + ((lead - 0xC0) << 6 | (text[p + 1] & 63))]) if complete else 3
            size = size if complete else 1
            run = (run if growth & CHAINED else 0) + (growth & GROWTH)
            room += growth & GROWTH
        longest = max(longest, run)
        p += size
    return room, COUNTERS + longest


@kernel
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


@kernel
def may_be_plain(text, p):
    """Whether text[p:] may begin with a plain single: its first two bytes are no less than those of the first of them, and its lead is no greater than that of the last."""
    return 0xE3 <= text[p] <= 0xED and p + 64 <= text.size and (text[p] > 0xE3 or text[p + 1] > 0x80)


@kernel
def single_run(text, p, stop):
    """The number of plain singles (twinset.kernels.blocks) at the start of text[p:stop], or fewer."""
    count = GROUPS
    first = p
    while BLOCKS and count == GROUPS and p < stop and may_be_plain(text, p):
        count = min(np.int64(trailing_zeros(~plain_singles(text, p))), (stop - p) // 3)
        p += 3 * count
    return (p - first) // 3


@kernel
def in_token(byte):
    """Whether a byte belongs to a token: an ASCII letter or digit, or any byte >= 0x80."""
    code = np.int64(byte)
    return code >= 0x80 or 0 <= (code | 0x20) - 0x61 < 26 or 0 <= code - 0x30 < 10


@kernel
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


@kernel
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


@kernel
def track(spans, place, end, first, last):
    """Say that out[place:end] came from bytes [first, last) of the document."""
    for i in range(place, min(end, spans.shape[1])):
        spans[0, i] = first
        spans[1, i] = last


@kernel
def track_copy(spans, place, size, first):
    """Say that the `size` bytes from out[place] are copies of those from `first` in the document."""
    for i in range(min(size, spans.shape[1] - place)):
        spans[0, place + i] = first + i
        spans[1, place + i] = first + i + 1


@kernel
def is_white(byte):
    return 9 <= byte <= 13 or 0x1C <= byte <= 0x20


@kernel
def ascii_words(text, p, stop, start, step, out, o, spans):
    """Copy ASCII bytes from text[p:stop] up to the first that is not; return (next p, next o). Never writes past the end of out."""
    first = p
    while BLOCKS and p + 64 <= text.size and o + (p - first) + 64 <= out.size and p < stop:
        high = copy_words(text, p, out, o + (p - first), step)
        if high != ZERO:
            p += np.int64(trailing_zeros(high))
            break
        p += 64
    p = min(p, stop)
    while p < stop and text[p] < 0x80:
        out[o + (p - first)] = text[p] + step if 0x41 <= text[p] <= 0x5A else text[p]
        p += 1
    track_copy(spans, o, p - first, first - start)
    return p, o + (p - first)


@kernel
def ascii_chars(text, p, stop, start, step, mode, out, o, spans):
    """Write ASCII bytes from text[p:stop] up to the first that is not, white space as `mode` says; return (next p, next o)."""
    while BLOCKS and p + 64 <= text.size and o + 64 <= out.size and p < stop:
        blank = o == 0 or out[o - 1] == BLANK
        high, white = copy_chars(text, p, out, o, step)
        left_out = white if mode == SOLID else white & (white << ONE | np.uint64(blank))
        size = min(np.int64(trailing_zeros(high | left_out)), stop - p)
        track_copy(spans, o, size, p - start)
        p += size
        o += size
        if size < 64 and p < stop:
            if text[p] >= 0x80:
                return p, o
            p = min(p + np.int64(trailing_zeros(~(white >> np.uint64(size)))), stop)
    while p < stop and text[p] < 0x80:
        white = is_white(text[p])
        if not white or (mode == CHARS and o > 0 and out[o - 1] != BLANK):
            track(spans, o, o + 1, p - start, p - start + 1)
            out[o] = BLANK if white else text[p] + step if 0x41 <= text[p] <= 0x5A else text[p]
            o += 1
        p += 1
    return p, o


@kernel
def plain_run(text, p, stop, mode, out, o):
    """Write the plain singles at the start of text[p:stop], or some of them; return (next p, next o). Never writes past the end of out."""
    count = GROUPS
    while BLOCKS and count == GROUPS and p < stop and o + 64 <= out.size and may_be_plain(text, p):
        if mode != WORDS:
            copy_words(text, p, out, o, np.uint8(0))
            count = min(np.int64(trailing_zeros(~plain_singles(text, p))), (stop - p) // 3)
            o += 3 * count
        elif o == 0:
            break
        else:
            place = o if in_token(out[o - 1]) else o - 1  # every single brings its blank; where the first needs none, the byte it falls on is put back
            kept = out[place]
            count = min(np.int64(trailing_zeros(~copy_singles(text, p, out, place))), (stop - p) // 3)
            out[place] = kept if place < o else out[place]
            o = place + 4 * count if count else o
        p += 3 * count
    return p, o


@kernel
def cluster(text, first, stop, tables, mode, codes, out, o, tied):
    """Write at out[o] the code point at text[first] composed with all that JOIN it. Returns (next p, next o, tied)."""
    n, p = gather(text, first, stop, tables, codes)
    order(codes, n)
    for i in range(compose(codes, n, tables)):
        code = np.int64(codes[0, i]) & CODE
        o, tied = emit(code, record_of(tables, code) & KIND, mode, out, o, tied)
    return p, o, tied


@kernel
def expand(record, tables, mode, out, o, tied):
    """Write the codes of a MULTI record."""
    at = record >> SHIFT
    for i in range(record >> LENGTH & COUNT):
        code = np.int64(tables[at + i])
        o, tied = emit(code, record_of(tables, code) & KIND, mode, out, o, tied)
    return o, tied


@kernel
def normalise(text, start, stop, tables, mode, codes, out, spans):
    """Write the normal form of the document text[start:stop] from out[0] on. Returns (bytes written, malformed sequences replaced).

    text uint8, the whole buffer: nothing outside [start, stop) counts, though bytes of the buffer after stop may be read. tables uint32, of
    twinset.documents.unicode: it says whether case is kept.
    mode WORDS, CHARS or SOLID. out uint8 and codes uint32 (2, columns): at least as long as `capacity` says; both are scratch beyond what is returned. Blocks of 64 bytes are
    written only while out has room for them, so 64 bytes more than needed make it fastest.
    spans int64 (2, 0), or (2, m) with m at least the bytes written: a token out[a:b] is text[start + spans[0, a] : start + spans[1, b - 1]] of the original, marks and all.
    An empty document writes nothing. Cost: linear in stop - start, whatever the text.
    """
    step = np.uint8(BLANK if record_of(tables, 0x41) >> SHIFT else 0)
    p, o, tied, malformed = start, 0, False, 0
    first, place, tied_there, rank = start, 0, False, 0  # the last code point free of its predecessor: where it is, where written, tied then; last combining class
    while p < stop:
        began, before = p, o
        if text[p] < 0x80:
            if mode == WORDS:
                o = part(text, p, out, o, tied)
                track(spans, before, o, p - start, p - start + 1)
                p, o = ascii_words(text, p, stop, start, step, out, o, spans)
            else:
                p, o = ascii_chars(text, p, stop, start, step, mode, out, o, spans)
            back = not is_white(text[p - 1])  # white space composes with nothing
            first, place, tied, tied_there, rank = p - back, o - back, False, False, 0
            continue
        if spans.shape[1] == 0:
            p, o = plain_run(text, p, stop, mode, out, o)
            if p > began:
                tied = tied_there = mode == WORDS
                first, place, rank = p - 3, max(before, o - 3 - tied), 0
                continue
        code, size = decode(text, p, stop)
        if code < 0:
            code = REPLACEMENT
            malformed += 1
        record = record_of(tables, code)
        if not record & JOIN:
            first, place, tied_there, p = p, o, tied, p + size
            if record & MULTI:
                rank = UNKNOWN
                o, tied = expand(record, tables, mode, out, o, tied)
            else:
                rank = 0
                o, tied = emit(code + (record >> SHIFT) & CODE, record & KIND, mode, out, o, tied)
        elif record == DROPPED:
            p += size
        else:
            own = detail_of(tables, code) >> RANK
            if own >= rank and not record & (BACK | MULTI) and not record >> SHIFT:
                rank = own
                o, tied = emit(code, record & KIND, mode, out, o, tied)
                p += size
            else:
                p, o, tied = cluster(text, first, stop, tables, mode, codes, out, place, tied_there)
                began, before = first, place
                first, place, tied_there, rank = p, o, tied, 0
        track(spans, before, o, began - start, p - start)
    if mode == CHARS and o > 0 and out[o - 1] == BLANK:
        o -= 1
    return o, malformed


@kernel
def part(text, p, out, o, tied):
    """Write a space if the ASCII byte text[p] would touch a single; return the next place."""
    if tied and in_token(text[p]):
        out[o] = BLANK
        return o + 1
    return o
