"""Plain-Python twins of the formulas in estimate/: what theory.md derives, in 60 digits or in exact fractions. Never imported by the package.

Components are tuples (samples, bits, xor). A probability is that of the model: every position of the universe belongs to the sets independently.
"""

from collections import defaultdict
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product
from math import comb, erfc, sqrt, ulp

getcontext().prec = 60


def A(r, bits):
    r = Decimal(r)
    return r * (1 - r) ** (2**bits - 1) / (1 - (1 - r) ** (2**bits)) if r else 1 / Decimal(2) ** bits


def walked(r, bits, steps):
    """A(r, b) as the series it sums: the next element of the set lies 2^b, 2 2^b, 3 2^b ... positions on."""
    return sum(r * (1 - r) ** (n * 2**bits - 1) for n in range(1, steps))


def T1(R, bits, r1, r2):
    """The minima are the same, or the set that lacks the smaller one has its own minimum a multiple of 2^b further on."""
    R, r1, r2 = Decimal(R), Decimal(r1), Decimal(r2)
    left = r1 / (r1 + r2) * (1 + R) - R if r1 else (1 - R) / 2  # shares of the union that are in one set only
    return R + left * A(r2, bits) + (1 - R - left) * A(r1, bits)


def T2(R, xor, r1, r2):
    """An even number of the one-bit samples differ."""
    E = T1(R, 1, r1, r2)
    return sum(comb(xor, j) * E ** (xor - j) * ((1 - E) ** j if j else 1) for j in range(0, xor + 1, 2))


def agreement(component, R, r1=0.0, r2=0.0):
    _, bits, xor = component
    return T2(R, xor, r1, r2) if xor > 1 else T1(R, bits, r1, r2)


def line(bits, r1, r2):
    """T1 as C1 and 1 - C2: its value at R = 0, and its growth."""
    return T1(0, bits, r1, r2), T1(1, bits, r1, r2) - T1(0, bits, r1, r2)


def E1(components, agreeing, r1=0.0, r2=0.0):
    k = sum(part[0] for part in components)
    lines = [line(bits, r1, r2) for _, bits, _ in components]
    start = sum(part[0] * at for part, (at, _) in zip(components, lines, strict=True)) / k
    growth = sum(part[0] * slope for part, (_, slope) in zip(components, lines, strict=True)) / k
    return (Decimal(sum(agreeing)) / k - start) / growth


def E2(component, agreeing, r1=0.0, r2=0.0):
    samples, _, xor = component
    signed = max(2 * Decimal(agreeing) / samples - 1, Decimal(0))
    start, growth = line(1, r1, r2)
    root = signed ** (1 / Decimal(xor)) if signed else signed
    return (root + 1 - 2 * start) / (2 * growth)


def E3(samples, agreeing, r1=0.0, r2=0.0):
    """`agreeing` of all samples, half of them one bit and half the XOR of two."""
    inside = max(16 * Decimal(agreeing) / samples - 7, Decimal(0))
    start, growth = line(1, r1, r2)
    return ((inside.sqrt() + 1) / 4 - start) / growth


def likelihood(components, agreeing, R, r1=0.0, r2=0.0):
    total = Decimal(0)
    for component, M in zip(components, agreeing, strict=True):
        p = agreement(component, R, r1, r2)
        for count, chance in ((M, p), (component[0] - M, 1 - p)):
            if count:
                total += count * chance.ln() if chance > 0 else Decimal("-1e30")
    return total


def E4(components, agreeing, lower, upper, r1=0.0, r2=0.0, points=20):
    """Try a row of points, then a row between the neighbours of the best, until they are 1e-14 apart."""
    lower, upper = first, last = Decimal(lower), Decimal(upper)
    while upper - lower > Decimal("1e-13"):
        tried = [lower + (upper - lower) * i / points for i in range(points + 1)]
        best = max(tried, key=lambda R: likelihood(components, agreeing, R, r1, r2))
        lower, upper = max(best - (upper - lower) / points, first), min(best + (upper - lower) / points, last)
    return best


def outcomes(components, R, r1=0.0, r2=0.0):
    """Every tuple of agreeing samples with its probability, for tiny sketches."""
    chances = [agreement(part, R, r1, r2) for part in components]
    for agreeing in product(*(range(part[0] + 1) for part in components)):
        chance = Decimal(1)
        for part, M, p in zip(components, agreeing, chances, strict=True):
            chance *= comb(part[0], M) * p**M * (1 - p) ** (part[0] - M)
        yield agreeing, chance


def variance_of_E1(components, R, r1=0.0, r2=0.0):
    """From the distribution itself: no formula for the variance of a binomial count."""
    values = [(E1(components, agreeing, r1, r2), chance) for agreeing, chance in outcomes(components, R, r1, r2)]
    mean = sum(value * chance for value, chance in values)
    return sum((value - mean) ** 2 * chance for value, chance in values)


def information(components, R, r1=0.0, r2=0.0, step=Decimal("1e-15")):
    """The mean square of the likelihood's slope."""
    around = [dict(outcomes(components, Decimal(R) + shift, r1, r2)) for shift in (-step, 0, step)]
    return sum(((around[2][agreeing] - around[0][agreeing]) / (2 * step)) ** 2 / chance for agreeing, chance in around[1].items())


def mid_tail(components, agreeing, weights, chances):
    """The probability of a larger weighted count, and half of that of an equal one. Weights are whole numbers; chances are fractions."""
    totals = {0: Fraction(1)}
    for (samples, *_), weight, p in zip(components, weights, chances, strict=True):
        added = defaultdict(Fraction)
        for M in range(samples + 1):
            chance = comb(samples, M) * p**M * (1 - p) ** (samples - M)
            for total, before in totals.items():
                added[total + weight * M] += before * chance
        totals = added
    here = sum(weight * M for weight, M in zip(weights, agreeing, strict=True))
    return sum(chance for total, chance in totals.items() if total > here) + totals[here] / 2


def normal_deviate(tail):
    """z with that much of the normal distribution above it, by halving."""
    low, high = -40.0, 40.0
    while high - low > 4 * ulp(high):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) / 2 > tail else (low, middle)
    return (low + high) / 2
