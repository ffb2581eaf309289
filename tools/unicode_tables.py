"""Write src/twinset/kernels/unicode.npz: what the normalising kernel knows of every code point.

    PYTHONPATH=src python3.13 tools/unicode_tables.py

Needs a Python whose unicodedata is of the version in twinset.config.UNICODE, and nothing else. The same input gives the same bytes.
The layout of the table is told in twinset/kernels/unicode.py, which reads it.
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
RANK, PLACE = 24, 0xFFFFFF
CHAINED = 0x80
SLOTS, HASH_FIRST, HASH_SECOND = 4096, 0x9E3779B1, 0x85EBCA77


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


def record(c: int, case: bool, seconds: set[int], table: array) -> int:
    """What the kernel does with one code point; a mapping to several codes is appended to the table."""
    folded = fold(c, case)
    composed = normalize("NFC", folded)
    if not composed:
        return JOIN | MULTI
    back = ord(folded[0]) in seconds
    flags = (JOIN if back or combining(folded[0]) else 0) | (BACK if back else 0) | kind(ord(composed[0]))
    if len(composed) == 1:
        return flags | (ord(composed) - c) % (1 << 21) << SHIFT
    table.extend(map(ord, composed))
    return flags | MULTI | len(composed) << LENGTH | (len(table) - len(composed)) << SHIFT


def detail(c: int, table: array) -> int:
    """The combining class of one code point and its canonical decomposition, which is appended to the table after its length."""
    decomposed, place = normalize("NFD", chr(c)), 0
    if c not in SYLLABLES and decomposed != chr(c):
        place = len(table)
        table.extend([len(decomposed), *map(ord, decomposed)])
    return combining(chr(c)) << RANK | place


@cache
def growth(c: int) -> int:
    """The most bytes one code point can give: each single may bring a space before it and one after it."""
    if c in SURROGATES:
        return 9
    texts = [t for case in (False, True) for t in (fold(c, case), normalize("NFC", fold(c, case)))]
    return max(5 if c in SYLLABLES else width(t) + 2 * sum(kind(ord(x)) == SINGLE for x in t) for t in texts)


def growths(records: list[int]) -> list[int]:
    """For each pair of a lead byte (minus 0xC0) and the low six bits of the byte after it: the most bytes such a sequence can give."""
    result = []
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
        result.append(most | CHAINED * any(records[c] & JOIN for c in codes))
    return result


def pair_table(found: dict[tuple[int, int], int]) -> list[int]:
    firsts, seconds, wholes = [0] * SLOTS, [0] * SLOTS, [0] * SLOTS
    for (first, second), whole in sorted(found.items()):
        at = (first * HASH_FIRST + second * HASH_SECOND) % (1 << 32) >> 20
        while wholes[at]:
            at = (at + 1) % SLOTS
        firsts[at], seconds[at], wholes[at] = first, second, whole
    return firsts + seconds + wholes


def build(case: bool, found: dict[tuple[int, int], int]) -> array:
    """One flat table: the index, growths, compositions, then the blocks of 64 records and 64 details, equal ones once, and what these point to."""
    seconds = {second for _, second in found} | set(JAMO)
    tail = array("I", [0] * (1 << 16))  # grown at its end; what it holds is moved behind the blocks at last
    base = len(tail)
    records = [record(c, case, seconds, tail) for c in range(LAST)]
    details = [detail(c, tail) for c in range(LAST)]
    check(records, tail, found)
    head = [*growths(records), *pair_table(found)]
    blocks = sorted({(*records[c : c + BLOCK], *details[c : c + BLOCK]) for c in range(0, LAST, BLOCK)})
    shift = LAST // BLOCK + len(head) + len(blocks) * 2 * BLOCK - base
    where = {block: LAST // BLOCK + len(head) + i * 2 * BLOCK for i, block in enumerate(blocks)}
    index = [where[*records[c : c + BLOCK], *details[c : c + BLOCK]] for c in range(0, LAST, BLOCK)]
    moved = [x + (shift << SHIFT) * (x & MULTI > 0 and x >> SHIFT > 0) if i < BLOCK else x + shift * (x & PLACE > 0) for block in blocks for i, x in enumerate(block)]
    return array("I", [*index, *head, *moved, *tail[base:]])


def check(records: list[int], tail: array, found: dict[tuple[int, int], int]) -> None:
    """What the kernel relies on: a code point that comes out of the mapping, or of composing such, maps to itself."""
    single, multi = [c for c in range(LAST) if not records[c] & MULTI], [c for c in range(LAST) if records[c] & MULTI]
    stable = {c for c in single if records[c] >> SHIFT == 0}
    reached = {c + (records[c] >> SHIFT) & 0x1FFFFF for c in single}
    reached |= {tail[(records[c] >> SHIFT) + i] for c in multi for i in range(records[c] >> LENGTH & 31)}
    assert reached <= stable
    assert all(c in stable for (first, second), c in found.items() if first in stable and second in stable)


def write(arrays: dict[str, array], path: Path) -> None:
    """NumPy's npz format, by hand: this Python need not have NumPy."""
    with zipfile.ZipFile(path, "w") as file:
        for title, values in arrays.items():
            header = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({len(values)},), }}"
            header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
            data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes()
            file.writestr(zipfile.ZipInfo(f"{title}.npy"), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    if unidata_version != UNICODE:
        sys.exit(f"this Python knows Unicode {unidata_version}; needed: {UNICODE}")
    compositions = pairs()
    write({"folded": build(False, compositions), "cased": build(True, compositions)}, TARGET)
    print(TARGET, TARGET.stat().st_size, "bytes")
