"""Samples to packed words and back.

A component of b-bit samples is stored in blocks of 64 samples; a block is b words, word p holding bit p of every sample. So any prefix of whole
blocks is a smaller sketch, and comparing 64 samples takes b XORs, b - 1 ORs and one bit count, whatever b is.
`parts` describes the components, one row each: samples, bits, xor (the number of permutations whose lowest bits are XORed into a sample).
"""

import numpy as np
from numba import njit

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True)
def pack(minima, rows, parts, words):
    """Write the packed sketch of each of the first `rows` rows of finished minima; the unused bits of a last block are 0.

    minima uint32 or uint64 (>= rows, >= lanes) · parts int64 (components, 3) · words uint64 (rows, words of the layout).
    """
    for d in range(rows):
        lane = word = 0
        for c in range(parts.shape[0]):
            samples, bits, xor = parts[c]
            for begin in range(0, samples, 64):
                count = min(64, samples - begin)
                if xor == 1 and count == 64 and bits in (16, 32, 64):
                    _square(minima[d, lane : lane + 64], bits, words[d, word : word + bits])
                elif xor == 1:
                    _planes(minima[d, lane : lane + count], bits, words[d, word:])
                else:
                    words[d, word] = _parities(minima[d, lane : lane + count * xor], count, xor)
                lane += count * xor
                word += bits


@njit(nogil=True, cache=True)
def _planes(samples, bits, words):
    """Transpose up to 64 samples into `bits` words."""
    for p in range(bits):
        plane, word = np.uint64(p), ZERO
        for i in range(samples.shape[0]):
            word |= ((np.uint64(samples[i]) >> plane) & ONE) << np.uint64(i)
        words[p] = word


@njit(nogil=True, cache=True)
def _square(samples, bits, words):
    """`_planes` for 64 samples of 16, 32 or 64 bits, in half the time or less.

    Word i of `bits` gets the samples i, i + bits, i + 2 * bits ... side by side; then squares of bits are transposed in place. Each step swaps two corners of every
    square and halves the squares: log2(bits) steps over `bits` words. For 8 bits `_planes` is quicker.
    """
    keep = ALL >> np.uint64(64 - bits)
    for i in range(bits):
        words[i] = np.uint64(samples[i]) & keep
    for q in range(1, 64 // bits):
        for i in range(bits):
            words[i] |= (np.uint64(samples[q * bits + i]) & keep) << np.uint64(q * bits)
    half = bits // 2
    while half:
        shift = np.uint64(half)
        low = ALL // ((ONE << shift) + ONE)  # `half` ones, `half` zeros, and so on
        for begin in range(0, bits, 2 * half):
            upper, lower = words[begin : begin + half], words[begin + half : begin + 2 * half]
            for i in range(half):
                swap = ((upper[i] >> shift) ^ lower[i]) & low
                upper[i] ^= swap << shift
                lower[i] ^= swap
        half //= 2


@njit(nogil=True, cache=True)
def _parities(minima, count, xor):
    """One word of XORs of the lowest bits of `xor` neighbouring minima."""
    word = ZERO
    for i in range(count):
        parity = ZERO
        for t in range(xor):
            parity ^= np.uint64(minima[i * xor + t])
        word |= (parity & ONE) << np.uint64(i)
    return word


@njit(nogil=True, cache=True)
def unpack(words, rows, parts, samples):
    """Write the stored samples of rows `rows` (int64) of packed words: the inverse of `pack`, up to the bits it did not keep.

    words uint64 (n, words of the layout) · samples uint64 (len(rows), samples of the layout).
    """
    for r in range(rows.shape[0]):
        d, column, word = rows[r], 0, 0
        for c in range(parts.shape[0]):
            for begin in range(0, parts[c, 0], 64):
                count = min(64, parts[c, 0] - begin)
                for i in range(count):
                    sample = ZERO
                    for p in range(parts[c, 1]):
                        sample |= ((words[d, word + p] >> np.uint64(i)) & ONE) << np.uint64(p)
                    samples[r, column + i] = sample
                column += count
                word += parts[c, 1]
