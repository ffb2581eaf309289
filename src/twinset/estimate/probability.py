"""How often a sample of one sketch agrees with the same sample of another: A, C1, C2, T1 and T2 of theory.md, section 2.

Everything is vectorised: resemblances R and densities r1, r2 (the size of a set over the size of its universe) broadcast against one another.
A density of 0 stands for a practically infinite universe, such as 64-bit shingle hashes.
"""
# ruff: noqa: N802, N803 - the names are those of theory.md

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.layout import Component

Floats = NDArray[np.float64]


def A(r: ArrayLike, bits: int) -> Floats:
    """A(r, b): the chance that the lowest `bits` bits of the minimum are all those of a minimum that lies elsewhere; 2^-b at r = 0, 0 at r = 1."""
    r = np.asarray(r, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The printed form 1 - (1 - r)^(2^b) has no digits left below r = 1e-9, and the papers plot r = 1e-10.
        logarithm = np.log1p(-r)
        dense = r * np.exp((2.0**bits - 1) * logarithm) / -np.expm1(2.0**bits * logarithm)
    return np.where(r > 0, dense, 2.0**-bits)


def C1(bits: int, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """C1(b): the chance that `bits` bits agree when the two sets share nothing."""
    share = _share(r1, r2)
    return A(r1, bits) * (1 - share) + A(r2, bits) * share


def C2(bits: int, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """C2(b): 1 - C2 is how fast the chance of agreement grows with R."""
    share = _share(r1, r2)
    return A(r1, bits) * share + A(r2, bits) * (1 - share)


def T1(R: ArrayLike, bits: int, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """E_b: the chance that a sample of `bits` bits agrees at resemblance R. The universe is taken to be large: the error is of order 1/D."""
    return C1(bits, r1, r2) + (1 - C2(bits, r1, r2)) * np.asarray(R, np.float64)


def T2(R: ArrayLike, xor: int, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The chance that the XOR of the lowest bits of `xor` permutations agrees at resemblance R."""
    return (1 + (2 * T1(R, 1, r1, r2) - 1) ** xor) / 2


def agreement(component: Component, R: ArrayLike, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> tuple[Floats, Floats]:
    """p(R) and p'(R): how often a sample of the component agrees, and how fast that grows with R.

    An even XOR is not monotone where E_1 < 1/2, which needs dense sets (r > 0) of small resemblance; see `turning`.
    """
    slope = 1 - C2(component.bits, r1, r2)
    p = C1(component.bits, r1, r2) + slope * np.asarray(R, np.float64)
    if component.xor == 1:
        return p, slope + np.zeros_like(p)
    signed = 2 * p - 1
    return (1 + signed**component.xor) / 2, component.xor * signed ** (component.xor - 1) * slope


def turning(component: Component, r1: ArrayLike = 0.0, r2: ArrayLike = 0.0) -> Floats:
    """The resemblance below which the chance of agreement stops growing with R: where 2 E_1 = 1 for an even XOR, 0 for every other component.

    Values the same distance below and above it cannot be told apart by the component.
    """
    if component.xor % 2:
        return np.zeros(np.broadcast_shapes(np.shape(r1), np.shape(r2)))
    return np.maximum((0.5 - C1(1, r1, r2)) / (1 - C2(1, r1, r2)), 0)


def _share(r1: ArrayLike, r2: ArrayLike) -> Floats:
    """r1 / (r1 + r2); a half when both are 0, where it multiplies equal numbers."""
    r1, r2 = np.asarray(r1, np.float64), np.asarray(r2, np.float64)
    total = r1 + r2
    return np.where(total > 0, r1 / np.where(total > 0, total, 1), 0.5)
