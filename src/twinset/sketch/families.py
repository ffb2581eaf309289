"""The papers' hash families, for study: parameters from the seed, checks, and one entry to all of them."""

import numpy as np
from numpy.typing import NDArray

from twinset.config import FAMILIES, Config
from twinset.errors import BadInput, BadOption
from twinset.kernels import families as kernels
from twinset.sketch.seeds import splitmix64

PRIME = int(kernels.PRIME)
FIELD = kernels.FIELD

Words = NDArray[np.uint64]
Offsets = NDArray[np.int64]
Minima = NDArray[np.uint32]


def study_minima(config: Config, values: Words, offsets: Offsets, lanes: int) -> Minima:
    """The least hash of each set under `lanes` functions of config.family: uint32 (n, lanes); an empty set gets 2^32 - 1.

    Elements are used as they are. They must be below 2^32 (keep the high 32 bits of a 64-bit hash), for "permutations" below config.universe.
    Functions depend on config.seed and their own number only, so fewer lanes are a prefix of more.
    """
    if config.family not in STUDY:
        raise BadOption(f"family is {config.family!r}; allowed here: {', '.join(name for name in FAMILIES if name in STUDY)}")
    limit = config.universe if config.family == "permutations" else 1 << 32
    if len(values) and (largest := int(values.max())) >= limit:
        raise BadInput(f"an element is {largest}; allowed with family {config.family!r}: 0 to {limit - 1}")
    out = np.empty((len(offsets) - 1, lanes), np.uint32)
    STUDY[config.family](config, values, offsets, out)
    return out


def _modular(config: Config, values: Words, offsets: Offsets, out: Minima) -> None:
    words = _words(config, out, 2)
    kernels.modular(values, offsets, words[0] % np.uint64(PRIME - 1) + np.uint64(1), words[1] % np.uint64(PRIME), out)


def _jenkins(config: Config, values: Words, offsets: Offsets, out: Minima) -> None:
    words = (_words(config, out, 2) >> np.uint64(32)).astype(np.uint32)
    kernels.jenkins(values, offsets, words[0], words[1], out)


def _universal(config: Config, values: Words, offsets: Offsets, out: Minima) -> None:
    words = _words(config, out, 2)
    kernels.universal(values, offsets, words[0], words[1], out)


def _tabulation(config: Config, values: Words, offsets: Offsets, out: Minima) -> None:
    lanes = out.shape[1]
    tables = (splitmix64(config.seed, lanes * kernels.POSITIONS * FIELD) >> np.uint64(32)).astype(np.uint32)
    keys = np.empty((len(values), kernels.POSITIONS), np.uint16)
    kernels.characters(values, CAUCHY, keys)
    kernels.tabulation(keys, offsets, tables.reshape(lanes, kernels.POSITIONS, FIELD), out)


def _permutations(config: Config, values: Words, offsets: Offsets, out: Minima) -> None:
    kernels.permutations(values, offsets, splitmix64(config.seed, out.shape[1]), np.empty(config.universe, np.uint32), out)


def _words(config: Config, out: Minima, each: int) -> Words:
    """`each` random words for every lane, as contiguous rows (each, lanes)."""
    return np.ascontiguousarray(splitmix64(config.seed, each * out.shape[1]).reshape(-1, each).T)


STUDY = {"modular": _modular, "jenkins": _jenkins, "universal": _universal, "tabulation": _tabulation, "permutations": _permutations}

# A Cauchy matrix, 1 / (i - 4 - j) in the field of 257 elements: all its square submatrices are invertible.
CAUCHY = np.array([[pow(i - 4 - j, -1, FIELD) for j in range(3)] for i in range(4)], np.uint64)
