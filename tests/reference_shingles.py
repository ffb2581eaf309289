"""Plain-Python twins of the shingle kernels, in Python integers: bytes of normalised text to sets of 64-bit hashes. Never imported by the package."""

from operator import mul

import reference_text as text

LENGTH, FACTOR = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
BASE = 0xA0761D6478BD642F


def hash_unit(data):
    """The hash of a word, a character or an element: eight bytes a step, the last step padded with zeros. The only place that knows it."""
    h = len(data) * LENGTH % 2**64
    for i in range(0, max(len(data), 1), 8):
        h = (h ^ int.from_bytes(data[i : i + 8], "little")) * FACTOR % 2**64
        h ^= h >> 32
    return h


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD % 2**64
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
    return x ^ x >> 33


def mixed(x):
    """The hash of a whole number."""
    return mix((x + LENGTH) % 2**64)


def hash_element(data):
    """The hash of an element of a set that is not text."""
    return mix((hash_unit(data) + LENGTH) % 2**64)


def combine(hashes, width):
    """The shingles of a list of unit hashes, in order."""
    n = min(width, len(hashes))
    powers = [pow(BASE, n - 1 - u, 2**64) for u in range(n)]
    rows = [hashes[i : i + n] for i in range(len(hashes) - n + 1)] if hashes else []
    return [mix((n * LENGTH + sum(map(mul, row, powers))) % 2**64) for row in rows]


def units(normal, words):
    """The units of a normal form (bytes): its tokens, or its characters."""
    characters = normal.decode()
    tokens = "".join(c if text.in_token(c) else " " for c in characters).split(" ") if words else characters
    return [unit.encode() for unit in tokens if unit]


def shingle(data, config):
    """The ascending, distinct shingles of a document (bytes), and how many malformed sequences were replaced."""
    words = config.unit == "words"
    mode = text.words if words else text.chars if config.space else text.solid
    normal, malformed = text.normalised(data, config.case, mode)
    return sorted(set(combine([hash_unit(unit) for unit in units(normal, words)], config.width))), malformed
