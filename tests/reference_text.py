"""Plain-Python twins of the text kernels: what they compute, by Python's own decoder, unicodedata and strings. Never imported by the package."""

from unicodedata import category, name, normalize

IGNORABLE = {
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)),
    *(*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
}
UNSPACED = ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "VERTICAL IDEOGRAPHIC", "HANGZHOU", "HIRAGANA", "KATAKANA",
            "HENTAIGANA", "BOPOMOFO", "HANGUL SYLLABLE")  # fmt: skip
UNSPACED_WITH_MARKS = ("THAI ", "LAO ", "KHMER ", "MYANMAR ")


def fold(c, case):
    decomposed = normalize("NFKD", c)
    return "" if ord(c) in IGNORABLE else decomposed if case else normalize("NFKD", decomposed.casefold())


def folded(data, case):
    return normalize("NFC", "".join(fold(c, case) for c in data.decode("utf-8", "replace")))


def is_single(c):
    return (category(c)[0] in "LN" and name(c, "").startswith(UNSPACED)) or (category(c)[0] in "LNM" and name(c, "").startswith(UNSPACED_WITH_MARKS))


def in_token(c):
    return c >= "\x80" or c.isalnum()


def words(text):
    """A folded text in the mode WORDS; here every character of the result that is not ASCII belongs to a token."""
    out, tied = "", False
    for c in text:
        after = out != "" and in_token(out[-1])
        single, mark = is_single(c), category(c)[0] == "M" and not is_single(c)
        if c < "\x80" or (category(c)[0] in "LN" and not single):
            out += " " * (tied and in_token(c)) + c
        elif mark:
            out += c * after
        else:
            out += " " * after + c * single
        tied = single or (mark and tied)
    return out


def chars(text):
    return " ".join(text.split())


def solid(text):
    return "".join(text.split())


def malformed(data):
    return data.decode("utf-8", "replace").count("\ufffd") - data.decode("utf-8", "ignore").count("\ufffd")


def normalised(data, case, mode):
    """(normal form, malformed sequences); mode is one of the three functions above."""
    return mode(folded(data, case)).encode(), malformed(data)
