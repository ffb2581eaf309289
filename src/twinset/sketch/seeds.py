"""Parameters from a seed: the splitmix64 sequence, the same on every machine and with every version of NumPy."""

import numpy as np
from numpy.typing import NDArray

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


def splitmix64(seed: int, count: int) -> NDArray[np.uint64]:
    """The first `count` outputs of splitmix64 (Steele, Lea & Flood 2014) from state `seed`; a shorter sequence is a prefix of a longer one."""
    state = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * GAMMA
    state = (state ^ (state >> np.uint64(30))) * FIRST
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))
