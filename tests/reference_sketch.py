"""Plain-Python twins of minima, packing, agreement and overlap: the definitions, in Python integers. Never imported by the package."""

from functools import reduce
from operator import xor


def minima32(rows, multipliers):
    return [[min((a * (x >> 32) % 2**32 for x in row), default=2**32 - 1) for a in multipliers] for row in rows]


def minima64(rows, multipliers):
    return [[min((a * x % 2**64 for x in row), default=2**64 - 1) for a in multipliers] for row in rows]


def finish32(z, multiplier):
    z ^= multiplier
    z = (z ^ z >> 16) * 0x85EBCA6B % 2**32
    z = (z ^ z >> 13) * 0xC2B2AE35 % 2**32
    return z ^ z >> 16


def finish64(z, multiplier):
    z ^= multiplier
    z = (z ^ z >> 33) * 0xFF51AFD7ED558CCD % 2**64
    z = (z ^ z >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
    return z ^ z >> 33


def samples(minima, components):
    """The stored samples of one row of finished minima: low bits, or the XOR of lowest bits, component by component."""
    lanes, result = iter(minima), []
    for count, bits, m in components:
        result.append([reduce(xor, (next(lanes) for _ in range(m))) % 2**bits for _ in range(count)])
    return result


def pack(minima, components):
    """One row of packed words: blocks of 64 samples, word p of a block holding bit p of each."""
    words = []
    for part, (_, bits, _) in zip(samples(minima, components), components, strict=True):
        for begin in range(0, len(part), 64):
            words += [sum((z >> p & 1) << i for i, z in enumerate(part[begin : begin + 64])) for p in range(bits)]
    return words


def agree(left, right, components):
    """How many samples of two rows of finished minima agree, component by component."""
    pairs = zip(samples(left, components), samples(right, components), strict=True)
    return [sum(x == y for x, y in zip(a, b, strict=True)) for a, b in pairs]


def intersection(left, right):
    return len(set(left) & set(right))


def sketch(row, config, multipliers):
    """The packed words of one set of 64-bit shingles, by the production family."""
    wide = any(part.bits == 64 for part in config.layout.components)
    minima, finish, whole = (minima64, finish64, 64) if wide else (minima32, finish32, 32)
    lanes = iter(zip(minima([row], multipliers)[0], multipliers, strict=True))
    finished = []
    for part in config.layout.components:
        finished += [z if part.bits == whole else finish(z, a) for z, a in (next(lanes) for _ in range(part.lanes))]
    return pack(finished, [(part.samples, part.bits, part.xor) for part in config.layout.components])
