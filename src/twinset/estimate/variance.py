"""How far the estimates scatter: V1 to V4 of theory.md, the form the papers print for V1, and the Hamming baselines of section 6."""
# ruff: noqa: N802, N803, N806 - the names are those of theory.md

import numpy as np
from numpy.typing import ArrayLike

from twinset.errors import BadLayout
from twinset.estimate.probability import C2, T1, T2, Floats, agreement
from twinset.layout import Component, Layout


def V1(layout: Layout, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The variance of the moment estimator E1, for layouts without XOR."""
    return _moment_variance(layout, R, r1, r2, power=1)


def printed_variance(layout: Layout, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """V1 as both fractional-bit papers print it, with the weights squared. It is WRONG (docs/errata.md) and nothing but the errata may use it."""
    return _moment_variance(layout, R, r1, r2, power=2)


def V2(component: Component, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The variance of E2, one XOR component, to first order in 1/k. Infinite where 2 E_1 = 1, as at R = 0 among sparse sets, unless m = 1."""
    m = component.xor
    T = T2(R, m, r1, r2)
    signed = 2 * T1(R, 1, r1, r2) - 1
    # (2T - 1)^(2 - 2/m) is signed^(2m - 2); taking the root of 2T - 1 would lose digits near 0.
    with np.errstate(divide="ignore"):
        return T * (1 - T) / (component.samples * m**2 * (1 - C2(1, r1, r2)) ** 2 * signed ** (2 * m - 2))


def information(layout: Layout, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """Fisher's information about R in a whole sketch: the sum of k p'^2 / (p (1 - p)) over components; infinite where p is 0 or 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(sum(part.samples * slope**2 / (p * (1 - p)) for part in layout.components for p, slope in [agreement(part, R, r1, r2)]))


def V3(layout: Layout, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The variance that the maximum-likelihood estimate E4 approaches: one over the information."""
    with np.errstate(divide="ignore"):
        return 1 / information(layout, R, r1, r2)


def V4(layout: Layout, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The storage factor: stored bits times the variance of E4. It does not depend on the number of samples, and lower is better."""
    return float(layout.bits) * layout.samples * V3(layout, R, r1, r2)


def storage_ratio(bits: int, other: int, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """B(bits) / B(other): how much more storage samples of `bits` bits need than samples of `other` bits for the same variance. 0 < R < 1."""
    return V4(_single(bits), R, r1, r2) / V4(_single(other), R, r1, r2)


def hamming_ratio(bits: int, R: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> Floats:
    """W_b: the variance of Hamming-distance LSH over that of b-bit minwise hashing for the same stored bits. 0 <= R < 1, and r1 + r2 > 0."""
    return np.asarray(sparse_hamming_ratio(bits, R, r1, r2) / (32 * (np.asarray(r1, np.float64) + np.asarray(r2, np.float64))))


def sparse_hamming_ratio(bits: int, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """G_b: W_b when the LSH samples keep only the positions of their ones, 64 bits each. 0 <= R < 1; finite at r1 = r2 = 0."""
    R = np.asarray(R, np.float64)
    distance = (1 - R) / (1 + R) * (np.asarray(r1, np.float64) + np.asarray(r2, np.float64))
    return np.asarray(8 * (1 - R) * (1 + R) ** 3 * (1 - distance) / (bits * V1(_single(bits), R, r1, r2)))


def hamming_variance(R: ArrayLike, size_left: ArrayLike, size_right: ArrayLike, universe: float, samples: int) -> Floats:
    """The variance of the Hamming distance estimated from `samples` sampled coordinates of a universe of that size."""
    R = np.asarray(R, np.float64)
    distance = (1 - R) / (1 + R) * (np.asarray(size_left, np.float64) + np.asarray(size_right, np.float64)) / universe
    return np.asarray(universe**2 * distance * (1 - distance) / samples)


def _single(bits: int) -> Layout:
    """One sample of whole bits: what B(b) speaks of."""
    return Layout(str(bits), (Component(1, bits),))


def _moment_variance(layout: Layout, R: ArrayLike, r1: ArrayLike, r2: ArrayLike, power: int) -> Floats:
    if any(part.xor > 1 for part in layout.components):
        raise BadLayout(f"layout {layout.text!r} has XOR parts; allowed for E1 and V1: parts of whole bits")
    scatter = slope = np.zeros(())
    for part in layout.components:
        weight = part.samples / layout.samples
        E = T1(R, part.bits, r1, r2)
        scatter = scatter + weight**power * E * (1 - E)
        slope = slope + weight * (1 - C2(part.bits, r1, r2))
    return np.asarray(scatter / (layout.samples * slope**2))
