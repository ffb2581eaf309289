"""The production hash family: minima of odd multiples, and the finish that makes their low bits usable."""

import numpy as np
from numba import njit

from twinset.kernels.vector import multiply_min

BLOCK = 64  # bytes of lanes that one vector operation covers; lane counts are padded to it
HALF = np.uint64(32)
MIX32_A, MIX32_B = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
MIX64_A, MIX64_B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
S13, S16, S33 = np.uint32(13), np.uint32(16), np.uint64(33)


@njit(nogil=True, cache=True)
def minima32(values, offsets, first, last, multipliers, out):
    """Write out[d - first, j] = min over x of row d of low32(multipliers[j] * high32(x)), first <= d < last.   (E0)

    values uint64 (nnz,), well mixed · offsets int64 (n+1,) · multipliers uint32 (lanes,), odd · out uint32 (>= last - first, lanes).
    lanes is a multiple of 16. An empty row gets 2^32 - 1 everywhere. Cost: nnz * lanes multiplications, eight elements at a time.
    """
    lanes, flat = multipliers.shape[0], out.reshape(-1)
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        row = (d - first) * lanes
        flat[row : row + lanes] = np.uint32(0xFFFFFFFF)
        for i in range(begin, end, 8):
            # The last block repeats its last element: a minimum does not mind.
            x0, x1 = np.uint32(values[i] >> HALF), np.uint32(values[min(i + 1, end - 1)] >> HALF)
            x2, x3 = np.uint32(values[min(i + 2, end - 1)] >> HALF), np.uint32(values[min(i + 3, end - 1)] >> HALF)
            x4, x5 = np.uint32(values[min(i + 4, end - 1)] >> HALF), np.uint32(values[min(i + 5, end - 1)] >> HALF)
            x6, x7 = np.uint32(values[min(i + 6, end - 1)] >> HALF), np.uint32(values[min(i + 7, end - 1)] >> HALF)
            for j in range(0, lanes, 16):
                multiply_min(flat, row + j, multipliers, j, x0, x1, x2, x3, x4, x5, x6, x7)


@njit(nogil=True, cache=True)
def minima64(values, offsets, first, last, multipliers, out):
    """Write out[d - first, j] = min over x of row d of multipliers[j] * x mod 2^64, first <= d < last.   (E0)

    As `minima32` with uint64 multipliers and out; lanes is a multiple of 8. An empty row gets 2^64 - 1 everywhere.
    """
    lanes, flat = multipliers.shape[0], out.reshape(-1)
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        row = (d - first) * lanes
        flat[row : row + lanes] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for i in range(begin, end, 8):
            x0, x1 = values[i], values[min(i + 1, end - 1)]
            x2, x3 = values[min(i + 2, end - 1)], values[min(i + 3, end - 1)]
            x4, x5 = values[min(i + 4, end - 1)], values[min(i + 5, end - 1)]
            x6, x7 = values[min(i + 6, end - 1)], values[min(i + 7, end - 1)]
            for j in range(0, lanes, 8):
                multiply_min(flat, row + j, multipliers, j, x0, x1, x2, x3, x4, x5, x6, x7)


@njit(nogil=True, cache=True)
def finish32(minima, rows, begin, end, multipliers):
    """Replace minima[d, j] by mix32(minima[d, j] ^ multipliers[j]) for d < rows, begin <= j < end.

    Low bits of odd multiples repeat the low bits of x; after the mix every bit is usable. The lane's multiplier salts it, so that the few small
    values that a very large set leaves as minima do not all meet the same fixed bits. Slices, because LLVM makes vectors only of indices that start at 0.
    """
    salts = multipliers[begin:end]
    for d in range(rows):
        row = minima[d, begin:end]
        for j in range(end - begin):
            z = row[j] ^ salts[j]
            z = np.uint32(np.uint32(z ^ (z >> S16)) * MIX32_A)
            z = np.uint32(np.uint32(z ^ (z >> S13)) * MIX32_B)
            row[j] = z ^ (z >> S16)


@njit(nogil=True, cache=True)
def finish64(minima, rows, begin, end, multipliers):
    """`finish32` for uint64 lanes."""
    salts = multipliers[begin:end]
    for d in range(rows):
        row = minima[d, begin:end]
        for j in range(end - begin):
            z = row[j] ^ salts[j]
            z = (z ^ (z >> S33)) * MIX64_A
            z = (z ^ (z >> S33)) * MIX64_B
            row[j] = z ^ (z >> S33)
