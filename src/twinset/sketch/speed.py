"""How fast this machine sketches under a layout."""

import math
import time

import numpy as np

from twinset.documents.shingles import Shingles
from twinset.sketch.minhash import MinHash
from twinset.sketch.seeds import splitmix64

DOCUMENTS, SIZE = 8, 1000


def ns_per_shingle(bits: str, samples: int, *, milliseconds: float = 5) -> float:
    """Nanoseconds for each shingle from shingles to packed sketches, on one thread, in documents of 1000 shingles: the fastest of repeated runs."""
    sketcher = MinHash(bits=bits, samples=samples)
    shingles = Shingles(np.sort(splitmix64(0, DOCUMENTS * SIZE).reshape(DOCUMENTS, SIZE)).reshape(-1), np.arange(DOCUMENTS + 1, dtype=np.int64) * SIZE)
    sketcher.sketch_shingles(shingles, threads=1)  # compiles, or loads what was compiled
    best, end = math.inf, time.perf_counter() + milliseconds / 1000
    while best == math.inf or time.perf_counter() < end:
        start = time.perf_counter()
        sketcher.sketch_shingles(shingles, threads=1)
        best = min(best, time.perf_counter() - start)
    return best / (DOCUMENTS * SIZE) * 1e9
