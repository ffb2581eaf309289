"""Which encoding the bytes of a text are in, and the text.

Marks and UTF-8 decide when they are there. Chinese, Japanese and Korean encodings are told apart by how many characters are everyday ones when the bytes are read that way;
what is left has one byte for each character, and charset-normalizer says for which language.
"""

import codecs
import re
from functools import cache
from typing import NamedTuple

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
SAMPLE = 1 << 18  # bytes that are looked at, unless the whole must be valid
EVERYDAY = 0.7  # least share of everyday characters for an East Asian encoding
SURE_KOREAN = 0.95  # Hangul read as GB is all everyday Chinese, and so is tried first
ENOUGH = 12  # characters: a text shorter than this may be everyday in a wrong encoding by chance
SPOILT = 0.02  # most malformed sequences for each good one: still UTF-8
EASTERN = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "big5hkscs": ("big5", 0xA4, 0xC6),
    "cp932": ("shift_jis", 0x88, 0x97),
    "euc_jp": ("euc_jp", 0xB0, 0xCF),
    "cp949": ("euc_kr", 0xB0, 0xC8),
}
PUNCTUATION = frozenset("，。、；：？！（）「」『』《》〈〉“”‘’—…·　％～－．・ー")
WIDE = ("utf-16-le", "utf-16-be")
BEYOND = re.compile(r"[^\x00-\x7f]+")
KANA = frozenset(map(chr, range(0x3041, 0x30F7)))
SINGLE = ("cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "iso8859_2", "iso8859_5", "iso8859_7")
WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŒ€£§°«»“”‘’–—…·©®ºª¿¡\xa0")


class Decoded(NamedTuple):
    """A text, the encoding it was read in, and how many malformed sequences were replaced by U+FFFD."""

    text: str
    encoding: str
    malformed: int = 0


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of `data`. `declared` is what a page says of itself: believed when the bytes agree."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _lenient(data[len(mark) :], encoding)
    if wide := _wide(data[:SAMPLE]):
        return _lenient(data, wide)
    if b"\x1b$" in data and (text := _strict(data, "iso2022_jp")) is not None:
        return Decoded(text, "iso2022_jp")
    if (text := _strict(data, "utf-8")) is not None:
        return Decoded(text, "utf-8")
    if declared and (text := _strict(data, declared)) is not None:
        return Decoded(text, declared)
    spoilt = _lenient(data, "utf-8")
    if spoilt.malformed <= SPOILT * sum(character > "\x7f" for character in spoilt.text):
        return spoilt
    return _lenient(data, eastern(data[:SAMPLE]) or single(data[:SAMPLE]))


def eastern(sample: bytes) -> str | None:
    """The East Asian encoding in which most characters beyond ASCII are everyday ones, if any."""
    shares = {encoding: _everyday_share(sample, encoding) for encoding in (*EASTERN, *WIDE)}
    korean, count = shares["cp949"]
    if korean >= SURE_KOREAN and count >= ENOUGH:
        return "cp949"
    likely = [encoding for encoding, (_, count) in shares.items() if encoding not in WIDE or count >= ENOUGH]
    best = max(likely, key=lambda encoding: shares[encoding][0])
    return best if shares[best][0] >= EVERYDAY else None


def single(sample: bytes) -> str:
    """The encoding with one byte for each character: Western European unless its accents would be odd and another language fits."""
    western = [character for character in sample.decode("cp1252", "replace") if character > "\x7f"]
    odd = sum(character not in WESTERN for character in western)
    if odd <= SPOILT * len(western) and len(western) < len(sample) / 4:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample[: 1 << 14], cp_isolation=list(SINGLE)).best()
    return best.encoding if best is not None else "cp1252"


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: ASCII in it has a zero in every second byte."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) < len(sample) / 20 or min(even, odd) * 10 > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _lenient(data: bytes, encoding: str) -> Decoded:
    text = _strict(data, encoding)
    if text is not None:
        return Decoded(text, encoding)
    if encoding == "cp1252":
        return Decoded(data.decode("latin-1"), "latin-1")  # every byte is a character
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, text.count("\ufffd"))


def _everyday_share(sample: bytes, encoding: str) -> tuple[float, int]:
    """Share of everyday characters among those beyond ASCII, and their number; a share of 0 where the bytes are malformed.

    One that stands alone among ASCII does not count: an accented letter and the letter after it often look like one.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=len(sample) < SAMPLE)
    except UnicodeError:
        return 0, 0
    everyday = _everyday(encoding)
    runs = BEYOND.findall(text)
    count = sum(map(len, runs))
    return sum(character in everyday for run in runs if len(run) > 1 for character in run) / max(count, 1), count


@cache
def _everyday(encoding: str) -> frozenset[str]:
    """Characters that texts in this encoding are made of: those its standard put first for being frequent, and punctuation."""
    if encoding in WIDE:
        return frozenset().union(*map(_everyday, EASTERN))
    standard, first, last = EASTERN[encoding]
    pairs = (bytes((lead, trail)) for lead in range(first, last + 1) for trail in (*range(0x40, 0x7F), *range(0x80, 0xFF)))
    frequent = frozenset(text for pair in pairs if len(text := pair.decode(standard, "ignore")) == 1 and text > "\x7f")
    if encoding == "gb18030":
        frequent |= _everyday("big5hkscs")  # traditional characters are in it too
    return frequent | PUNCTUATION | (KANA if encoding in ("cp932", "euc_jp") else frozenset())
