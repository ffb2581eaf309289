"""A batch of m fingerprints against a store of 6 m on disk, within 3 bits, one thread: PSM beside BPHS. The model is that of hamming_speed.py.

python benchmarks/batch_speed.py [m]
"""

import csv
import sys
import tempfile
import time
from pathlib import Path

import hamming_speed
import numpy as np
from hamming_speed import DISTANCE, fingerprints, packed, setting

from twinset.estimate.flips import Flips
from twinset.search.batch import Store, blocks_batch, volatile_batch
from twinset.search.volatile import Volatile

RESULTS = Path(__file__).parent / "results" / "batch_speed.csv"
CHUNKS = 6


def main() -> int:
    m = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    hamming_speed.QUERIES = m
    data = setting(CHUNKS * m)
    w, y = data.training, data.training_copies
    near = np.bitwise_count(packed(w) ^ packed(w + y))
    near = (near > 0) & (near <= DISTANCE)
    flips = Flips.learn(w[near], (w + y)[near])
    batch, sample = fingerprints(data.queries, data.projections), fingerprints(packed(w), w)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder, batch.fingerprint)
        start = time.perf_counter()
        for first in range(0, len(data.stored), m):
            store.append(fingerprints(data.stored[first : first + m]))
        print(f"stored {len(store)} in {time.perf_counter() - start:.1f} s")
        probes = {first: Volatile(fingerprints(data.stored[:m]), DISTANCE, flips=flips, first=first, sample=sample) for first in (False, True)}
        bits = probes[False].header_bits
        volatile_batch(store, batch[:5000], DISTANCE, flips=flips, probes=3, threads=1)
        blocks_batch(store, batch[:5000], DISTANCE, threads=1)
        ways = {
            f"PSM_A k={probes[False].probes} t={bits}": lambda: volatile_batch(store, batch, DISTANCE, flips=flips, probes=probes[False].probes, threads=1),
            f"PSM_F k={probes[True].probes} t={bits}": lambda: volatile_batch(store, batch, DISTANCE, flips=flips, probes=probes[True].probes, first=True, threads=1),
            "BPHS (4,1) table": lambda: blocks_batch(store, batch, DISTANCE, threads=1),
            "BPHS (4,1) halving": lambda: blocks_batch(store, batch, DISTANCE, table=False, threads=1),
        }
        for name, run in ways.items():
            start = time.perf_counter()
            found = run()
            took = time.perf_counter() - start
            matched = len(np.unique(found.left))
            rows.append({"m": m, "n": CHUNKS * m, "engine": name, "seconds": round(took, 2), "queries_per_s": int(m / took), "found": len(found), "matched": matched})
            print(rows[-1], flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
