"""Plain-Python twins of SimHash, from bytes or weighted features to words (S1 of theory.md). Never imported by the package."""

from collections import Counter
from math import comb, log, sqrt
from statistics import NormalDist, pstdev

import reference_shingles as shingles
import reference_text as text
from reference_families import splitmix64

QUANTILES = [NormalDist().inv_cdf((i + 0.5) / 4096) for i in range(4096)]
NORMAL = [round(x / pstdev(QUANTILES) * 2**12) / 2**12 for x in QUANTILES]


def features(data, config):
    """How often each feature of a document (bytes) occurs, by its hash."""
    words = config.unit == "words"
    mode = text.words if words else text.chars if config.space else text.solid
    normal, _ = text.normalised(data, config.case, mode)
    return Counter(shingles.combine([shingles.hash_unit(unit) for unit in shingles.units(normal, words)], config.width))


def document_counts(documents):
    """In how many of the documents (collections of hashes) each feature occurs."""
    return Counter(x for features in documents for x in set(features))


def idf(count, documents):
    return round((1 + log((1 + documents) / (1 + count))) * 2**16) / 2**16


def weighted(counted, weights, counts=None, documents=0):
    """The (hash, weight) of each feature of a document, in ascending order of hashes."""
    weight = {"constant": lambda x, times: 1.0, "tf": lambda x, times: float(times), "tfidf": lambda x, times: times * idf(counts[x], documents)}[weights]
    return [(x, weight(x, times)) for x, times in sorted(counted.items())]


def direction(x, config):
    """The component of feature x for each bit."""
    if config.gaussian:
        hashes = [shingles.mix(x ^ salt) for salt in splitmix64(config.seed, config.bits // 4)]
        return [NORMAL[h >> 16 * f & 0xFFF] for h in hashes for f in range(4)]
    hashes = [shingles.mix(x ^ salt) for salt in splitmix64(config.seed, config.bits // 64)]
    return [2 * (h >> j & 1) - 1 for h in hashes for j in range(64)]


def sums(pairs, config):
    """S1: the sum of weight * direction, in order."""
    total = [0.0] * config.bits
    for x, weight in pairs:
        total = [w + weight * component for w, component in zip(total, direction(x, config), strict=True)]
    return total


def words(projections):
    """Bit j is whether the j-th projection is 0 or more; 64 to a word, the first one lowest."""
    return [sum((w >= 0) << j for j, w in enumerate(projections[i : i + 64])) for i in range(0, len(projections), 64)]


def length(pairs):
    return sqrt(sum(weight * weight for _, weight in pairs))


def differing(size, shared):
    """The exact probability that a bit differs between two sets of `size` equal weights that share `shared`, under random signs."""

    def walk(steps):
        return [(2 * ups - steps, comb(steps, ups) / 2**steps) for ups in range(steps + 1)]

    below = {x: sum(p for y, p in walk(size - shared) if x + y < 0) for x, _ in walk(shared)}
    return sum(p * 2 * below[x] * (1 - below[x]) for x, p in walk(shared))
