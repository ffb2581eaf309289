"""Write src/twinset/kernels/unicode.npz: what the normalising kernel knows of every code point.

    PYTHONPATH=src python3.13 tools/unicode_tables.py

Needs a Python whose unicodedata is of the version in twinset.config.UNICODE, and nothing else. The same input gives the same bytes.
The layout of a record is told in twinset/kernels/normalise.py, which reads it.
"""

import sys
import zipfile
from array import array
from functools import cache
from pathlib import Path
from unicodedata import category, combining, decomposition, name, normalize, unidata_version

from twinset.config import UNICODE

TARGET = Path(__file__).parents[1] / "src/twinset/kernels/unicode.npz"
LAST = 0x110000
BLOCK = 64
SURROGATES = range(0xD800, 0xE000)
SYLLABLES = range(0xAC00, 0xD7A4)
JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))  # vowels and finals: they join the syllable before them
IGNORABLE_RANGES = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E)),
    *((0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
IGNORABLE = frozenset(c for first, last in IGNORABLE_RANGES for c in range(first, last + 1))
UNSPACED = ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "VERTICAL IDEOGRAPHIC", "HANGZHOU", "HIRAGANA", "KATAKANA",
            "HENTAIGANA", "BOPOMOFO", "HANGUL SYLLABLE")  # fmt: skip
UNSPACED_WITH_MARKS = ("THAI ", "LAO ", "KHMER ", "MYANMAR ")

OTHER, SPACE, WORD, SINGLE, MARK = range(5)
JOIN, MULTI, BACK, LENGTH, SHIFT = 8, 16, 1024, 5, 11
CHAINED = 0x80
SLOTS, HASH = 4096, 0x9E3779B97F4A7C15


def fold(c: int, case: bool) -> str:
    """The decomposed mapping of one code point: NFKD, or NFKD of the case folding of NFKD; nothing when it is default-ignorable."""
    if c in IGNORABLE or c in SURROGATES:
        return ""
    decomposed = normalize("NFKD", chr(c))
    return decomposed if case else normalize("NFKD", decomposed.casefold())


@cache
def kind(c: int) -> int:
    """The class of a normalised code point."""
    text, group = chr(c), category(chr(c))[0]
    if text.isspace():
        return SPACE
    if group in "LN":
        return SINGLE if name(text, "").startswith(UNSPACED + UNSPACED_WITH_MARKS) else WORD
    if group == "M":
        return SINGLE if name(text, "").startswith(UNSPACED_WITH_MARKS) else MARK
    return OTHER


def pairs() -> dict[tuple[int, int], int]:
    """Every canonical composition of two code points, Hangul left out: it is arithmetic."""
    found = {}
    for c in range(LAST):
        parts = [] if decomposition(chr(c)).startswith("<") else [int(x, 16) for x in decomposition(chr(c)).split()]
        if len(parts) == 2 and normalize("NFC", chr(parts[0]) + chr(parts[1])) == chr(c):
            found[parts[0], parts[1]] = c
            assert width(chr(c)) <= width(chr(parts[0]) + chr(parts[1]))  # composing never makes a text longer
    return found


def width(text: str) -> int:
    return len(text.encode())


class Pool:
    """A list of lists, flattened; equal lists are stored once."""

    def __init__(self, first: list[int]) -> None:
        self.codes, self.where = array("I", first), {}

    def add(self, text: str, counted: bool) -> int:
        if text not in self.where:
            self.where[text] = len(self.codes)
            self.codes.extend([len(text)] * counted + [ord(c) for c in text])
        return self.where[text]


def record(c: int, case: bool, seconds: set[int], pool: Pool) -> int:
    folded = fold(c, case)
    composed = normalize("NFC", folded)
    if not composed:
        return JOIN | MULTI
    back = ord(folded[0]) in seconds
    flags = (JOIN if back or combining(folded[0]) else 0) | (BACK if back else 0) | kind(ord(composed[0]))
    if len(composed) == 1:
        return flags | (ord(composed) - c) % (1 << 21) << SHIFT
    return flags | MULTI | len(composed) << LENGTH | pool.add(composed, False) << SHIFT


def growth(c: int) -> int:
    """The most bytes one code point can give: each single may bring a space before it and one after it."""
    if c in SURROGATES:
        return 9
    texts = [t for case in (False, True) for t in (fold(c, case), normalize("NFC", fold(c, case)))]
    return max(5 if c in SYLLABLES else width(t) + 2 * sum(kind(ord(x)) == SINGLE for x in t) for t in texts)


def growths(records: list[array]) -> array:
    """For each pair of a lead byte (minus 0xC0) and the low six bits of the byte after it: the most bytes such a sequence can give."""
    result = array("B", [0] * 4096)
    for at in range(4096):
        lead, low = 0xC0 + at // 64, at % 64
        if lead < 0xE0:
            codes, least = range((lead & 31) << 6 | low, ((lead & 31) << 6 | low) + 1), 6 if lead < 0xC2 else 3
        elif lead < 0xF0:
            first = (lead & 15) << 12 | low << 6
            codes, least = range(first, first + 64), 9 if first < 0x800 or first in SURROGATES else 3
        else:
            first = (lead & 7) << 18 | low << 12
            codes, least = range(first, min(first + 4096, LAST)), 12 if lead > 0xF4 or not 0x10000 <= first < LAST else 3
        most = max([least, *map(growth, codes)])
        assert most < CHAINED
        chained = any(table[c] & JOIN for table in records for c in codes)
        result[at] = most | CHAINED * chained
    return result


def pair_table(found: dict[tuple[int, int], int]) -> tuple[array, array]:
    keys, values = array("Q", [0] * SLOTS), array("I", [0] * SLOTS)
    for (first, second), composed in sorted(found.items()):
        key = first << 21 | second
        at = (key * HASH % (1 << 64)) >> 52
        while keys[at]:
            at = (at + 1) % SLOTS
        keys[at], values[at] = key, composed
    return keys, values


def two_stage(columns: dict[str, array]) -> dict[str, array]:
    """Cut the columns into blocks of 64 rows and store equal blocks once."""
    index, seen = array("H"), {}
    stored = {name: array(column.typecode) for name, column in columns.items()}
    for start in range(0, LAST, BLOCK):
        block = tuple(column[start : start + BLOCK].tobytes() for column in columns.values())
        if block not in seen:
            seen[block] = len(seen)
            for name, column in columns.items():
                stored[name].extend(column[start : start + BLOCK])
        index.append(seen[block])
    return {"index": index, **stored}


def build() -> dict[str, array]:
    found = pairs()
    seconds = {second for _, second in found} | set(JAMO)
    pool, parts = Pool([]), Pool([0])
    records = [array("I", (record(c, case, seconds, pool) for c in range(LAST))) for case in (False, True)]
    decomposed = [normalize("NFD", chr(c)) for c in range(LAST)]
    deep = array("H", (0 if c in SYLLABLES or text == chr(c) else parts.add(text, True) for c, text in enumerate(decomposed)))
    ranks = array("B", (combining(chr(c)) for c in range(LAST)))
    check(records, pool, found)
    keys, values = pair_table(found)
    columns = {"folded": records[0], "cased": records[1], "deep": deep, "combining": ranks}
    return {**two_stage(columns), "pool": pool.codes, "parts": parts.codes, "keys": keys, "values": values, "growth": growths(records)}


def check(records: list[array], pool: Pool, found: dict[tuple[int, int], int]) -> None:
    """What the kernel relies on: a code point that comes out of the mapping, or of composing such, maps to itself."""
    for table in records:
        stable = {c for c in range(LAST) if table[c] >> SHIFT == 0 and not table[c] & MULTI}
        reached = {c + (table[c] >> SHIFT) & 0x1FFFFF for c in range(LAST) if not table[c] & MULTI}
        multi = {pool.codes[(table[c] >> SHIFT) + i] for c in range(LAST) if table[c] & MULTI for i in range(table[c] >> LENGTH & 31)}
        assert reached | multi <= stable
        assert all(c in stable for (first, second), c in found.items() if first in stable and second in stable)


def write(arrays: dict[str, array], path: Path) -> None:
    """NumPy's npz format, by hand: this Python need not have NumPy."""
    kinds = {"B": "|u1", "H": "<u2", "I": "<u4", "Q": "<u8"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for title, values in arrays.items():
            header = f"{{'descr': '{kinds[values.typecode]}', 'fortran_order': False, 'shape': ({len(values)},), }}"
            header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
            data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes()
            file.writestr(zipfile.ZipInfo(f"{title}.npy"), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    if unidata_version != UNICODE:
        sys.exit(f"this Python knows Unicode {unidata_version}; needed: {UNICODE}")
    write(build(), TARGET)
    print(TARGET, TARGET.stat().st_size, "bytes")
