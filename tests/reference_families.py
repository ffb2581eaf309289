"""Plain-Python twins of twinset.kernels.families and twinset.sketch.seeds: the definitions, in Python integers. Never imported by the package."""

from functools import reduce
from operator import xor

EMPTY = 2**32 - 1
PRIME = 2**32 - 5
FIELD = 257


def minima(docs, functions):
    return [[min((h(x) for x in doc), default=EMPTY) for h in functions] for doc in docs]


def splitmix64(seed, count):
    return [_scramble((seed + (i + 1) * 0x9E3779B97F4A7C15) % 2**64) for i in range(count)]


def _scramble(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def modular(docs, multipliers, increments):
    return minima(docs, [lambda x, a=a, c=c: (a * x + c) % PRIME for a, c in zip(multipliers, increments, strict=True)])


def mix96(a, b, c):
    for right, left, last in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = (a - b - c) % 2**32 ^ c >> right
        b = (b - c - a) % 2**32 ^ a << left & 0xFFFFFFFF
        c = (c - a - b) % 2**32 ^ b >> last
    return c


def jenkins(docs, first, second):
    return minima(docs, [lambda x, a=a, b=b: mix96(a, b, x) for a, b in zip(first, second, strict=True)])


def universal(docs, multipliers, increments):
    return minima(docs, [lambda x, a=a, b=b: (a * x + b) % 2**64 >> 32 for a, b in zip(multipliers, increments, strict=True)])


def characters(x, matrix):
    own = [x >> 8 * c & 0xFF for c in range(4)]
    return own + [sum(own[c] * matrix[c][t] for c in range(4)) % FIELD for t in range(3)]


def tabulation(docs, matrix, tables):
    return minima(docs, [lambda x, table=table: reduce(xor, (row[c] for row, c in zip(table, characters(x, matrix), strict=True))) for table in tables])


def shuffle(state, size):
    """Fisher-Yates, downwards; each index uniform, by rejecting the first (2^32 mod bound) products."""
    order = list(range(size))
    for i in range(size - 1, 0, -1):
        low = 0
        while True:
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            other, low = divmod((_scramble(state) >> 32) * (i + 1), 2**32)
            if low >= 2**32 % (i + 1):
                break
        order[i], order[other] = order[other], order[i]
    return order


def permutations(docs, states, size):
    return minima(docs, [shuffle(state, size).__getitem__ for state in states])
