"""SimHash: weighted sums of the features' directions (S1), and their signs as bits."""

import numpy as np
from numba import njit

from twinset.kernels.shingles import mix
from twinset.kernels.signs import add_signed

WORD = 64
FIELD = 16  # bits of a hash that choose one entry of the Gaussian table
PER_HASH = 4
LEVELS = np.uint64(0xFFF)  # the table has 4096 entries
ONE = np.uint64(1)


@njit(nogil=True, cache=True)
def project_signs(values, weights, ends, first, last, salts, signs, out):
    """Write out[d - first, 64 w + j] = sum over features i of row d of weights[i] * (2 phi - 1), phi = bit j of mix(values[i] ^ salts[w]).   (S1)

    values uint64 (nnz,), well mixed · weights float64 (nnz,) · ends int64 (n,): row d is ends[d - 1] (0 if d = 0) to ends[d] · salts uint64 (words,)
    · signs float64 (2048,): 1 or -1 for bit j of byte value b at 8 b + j, aligned to 64 bytes · out float64 (>= last - first, 64 * words). Features are added in
    their order; an empty row is 0 everywhere. Cost: 8 vector additions a feature and word.
    """
    flat, bits = out.reshape(-1), WORD * salts.shape[0]
    for d in range(first, last):
        begin = ends[d - 1] if d else 0
        for w in range(salts.shape[0]):
            add_signed(values, weights, begin, ends[d], salts[w], signs, flat, (d - first) * bits + WORD * w)


@njit(nogil=True, cache=True)
def project_gaussian(values, weights, ends, first, last, salts, table, out):
    """`project_signs` with table[(mix(values[i] ^ salts[q]) >> 16 f) mod 4096] in place of the sign, for bit 4 q + f.   (Sood & Loguinov, equation 4)

    salts uint64 (bits / 4,) · table float64 (4096,): equally likely values of a normal variable. Cost: a look-up for each feature and bit.
    """
    for d in range(first, last):
        sums = out[d - first]
        sums[:] = 0.0
        for i in range(ends[d - 1] if d else 0, ends[d]):
            for q in range(salts.shape[0]):
                h = mix(values[i] ^ salts[q])
                for f in range(PER_HASH):
                    sums[PER_HASH * q + f] += weights[i] * table[(h >> np.uint64(FIELD * f)) & LEVELS]


@njit(nogil=True, cache=True)
def take_signs(sums, weights, ends, first, last, words, projections, empty):
    """Write bit j of words[d] = [sums[d - first, j] >= 0], projections[d, j] = sums[d - first, j] / length of row d, and empty[d] = (row d has no features).

    sums float64 (>= last - first, bits) · weights, ends as in `project_signs`; the length is the root of the sum of squared weights · words uint64 (n, bits / 64)
    · projections float32 (n, bits), or no columns for none · empty bool (n,). An empty row has all bits 1 and projections 0.
    """
    for d in range(first, last):
        begin = ends[d - 1] if d else 0
        row = sums[d - first]
        for w in range(words.shape[1]):
            word = np.uint64(0)
            for j in range(WORD):
                word |= np.uint64(row[WORD * w + j] >= 0) << np.uint64(j)
            words[d, w] = word
        empty[d] = ends[d] == begin
        if projections.shape[1]:
            square = 0.0
            for i in range(begin, ends[d]):
                square += weights[i] * weights[i]
            scale = 1 / np.sqrt(square) if square > 0 else 0.0
            for j in range(projections.shape[1]):
                projections[d, j] = np.float32(row[j] * scale)
