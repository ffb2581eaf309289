"""Plain-Python twins of banding: the rule pair by pair, the keys, the chance to be found, and the cheapest banding. Never imported by the package."""

from itertools import accumulate, combinations, product


def bands(parts, components):
    """The samples of each band: component after component, `rows` consecutive samples each."""
    firsts = [0, *accumulate(components)]
    return [range(first + i * rows, first + (i + 1) * rows) for (count, rows), first in zip(parts, firsts, strict=False) for i in range(count)]


def share(one, other, banded):
    """Whether all samples of any band agree."""
    return any(all(one[i] == other[i] for i in band) for band in banded)


def join(samples, sizes, banded):
    return [(i, j) for i, j in combinations(range(len(samples)), 2) if sizes[i] and sizes[j] and share(samples[i], samples[j], banded)]


def query(new, new_sizes, samples, sizes, banded):
    return [(i, j) for i, j in product(range(len(new)), range(len(samples))) if new_sizes[i] and sizes[j] and share(new[i], samples[j], banded)]


def differing(one, other):
    return sum(x != y for x, y in zip(one, other, strict=True))


def key(words, slices, salts):
    """`slices`: (word, mask) of every plane that enters the key."""
    low, total = 2**32 - 1, 0
    for w, mask in slices:
        part, salt = words[w] & mask, salts[w]
        total += ((part & low) + (salt & low) & low) * ((part >> 32) + (salt >> 32) & low)
    total %= 2**64
    total = (total ^ total >> 32) * 0x9E3779B97F4A7C15 % 2**64
    return total ^ total >> 32


def detection(p, parts):
    """`p`: how often a sample of each component agrees."""
    missed = 1.0
    for chance, (count, rows) in zip(p, parts, strict=True):
        missed *= (1 - chance**rows) ** count
    return 1 - missed


def cheapest(p, samples, price, recall):
    """The least cost of all bandings: `price(component, rows)` for a band."""
    every = [[(0, 0), *((count, rows) for rows in range(1, k + 1) for count in range(1, k // rows + 1))] for k in samples]
    found = (parts for parts in product(*every) if detection(p, parts) >= recall)
    return min((sum(count * price(c, rows) for c, (count, rows) in enumerate(parts) if count) for parts in found), default=None)
