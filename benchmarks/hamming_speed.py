"""Look-ups within 3 bits among n fingerprints: PSM beside BPHS, faiss and pynear, one thread, each in its own process.

    pip install faiss-cpu pynear && python benchmarks/hamming_speed.py [n ...] [--engines name ...]

The model. A query's projections are those of a real document (award abstracts of ../shared/data under TF-IDF SimHash) with signs drawn anew, so that magnitudes are real and
fingerprints independent. Half of the queries have 1 to 4 copies in the set; a copy adds Y, the difference between the projections of a real pair at distance 1 to 6, its bits in
random order and with random signs; copies beyond 3 bits are no matches. All other fingerprints of the set are random. PSM knows chances of flips and its number of probes from
other queries of the same law. Relative recall is the share of pairs (A) or of queries with a match (F) that BPHS finds, equal fingerprints included, as in the paper.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "hamming_speed.csv"
DATA = Path(__file__).parents[2] / "shared/data/nsf_awards"
MODEL = Path(tempfile.gettempdir()) / "twinset-hamming-model.npz"
QUERIES, TRAINING = 300_000, 60_000
SIZES = (1 << 20, 1 << 24)
DISTANCE = 3
ROUNDS = 3


@dataclass(frozen=True)
class Setting:
    """The set, its queries, and training queries with one copy each."""

    stored: np.ndarray
    queries: np.ndarray
    projections: np.ndarray
    training: np.ndarray
    training_copies: np.ndarray


def model() -> tuple[np.ndarray, np.ndarray]:
    """Real projections, and real differences Y."""
    if not MODEL.exists():
        import pyarrow as pa
        import pyarrow.parquet as pq

        import twinset
        from twinset.search.blocks import Blocks

        if not DATA.exists():
            sys.exit(f"{DATA} is absent: this benchmark needs its texts")
        texts = pa.concat_tables(pq.read_table(DATA / f"{year}.parquet", columns=["text"]) for year in range(2007, 2013))["text"]
        found = twinset.SimHash().sketch(texts.to_pylist(), keep=True)
        pairs = Blocks(found, 6, blocks=8).join()
        _, once = np.unique(pairs.left, return_index=True)
        left, right = pairs.left[once], pairs.right[once]
        distance = found.distance(left, right)
        w = found.projections
        np.savez(MODEL, projections=w, differences=(w[left] - w[right])[distance > 0])
    with np.load(MODEL) as file:
        return file["projections"], file["differences"]


def packed(projections: np.ndarray) -> np.ndarray:
    return np.packbits(projections >= 0, axis=1, bitorder="little").view(np.uint64)[:, 0]


def setting(n: int) -> Setting:
    real, differences = model()
    random = np.random.Generator(np.random.PCG64(n))
    w = np.abs(real[random.integers(0, len(real), QUERIES + TRAINING)]) * random.choice(np.array([-1, 1], np.float32), (QUERIES + TRAINING, 64))

    def copies(of: np.ndarray) -> np.ndarray:
        y = random.permuted(differences[random.integers(0, len(differences), len(of))], axis=1)
        return of + y * random.choice(np.array([-1, 1], np.float32), y.shape)

    owners = np.flatnonzero(random.random(QUERIES + TRAINING) < 0.5)
    others = np.repeat(owners, random.integers(1, 5, len(owners)))
    near = packed(copies(w[others]))
    stored = random.integers(0, 2**64, n, np.uint64)
    stored[random.choice(n, len(near), replace=False)] = near
    apart = random.integers(0, len(real), TRAINING)
    train = np.abs(real[apart]) * random.choice(np.array([-1, 1], np.float32), (TRAINING, 64))
    return Setting(stored, packed(w[:QUERIES]), w[:QUERIES], w[QUERIES:], copies(train) - train)


def fingerprints(words: np.ndarray, projections: np.ndarray | None = None) -> Any:
    from twinset.config import SimConfig
    from twinset.sketch.fingerprints import Fingerprints

    return Fingerprints(words[:, None], SimConfig(), projections=projections)


def timed(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def psm(data: Setting, first: bool, less: int) -> dict[str, Any]:
    from twinset.estimate.flips import Flips
    from twinset.search.volatile import Volatile

    w, y = data.training, data.training_copies
    near = np.bitwise_count(packed(w) ^ packed(w + y))
    near = (near > 0) & (near <= DISTANCE)
    flips = Flips.learn(w[near], (w + y)[near])
    start = time.perf_counter()
    search = Volatile(fingerprints(data.stored), DISTANCE, flips=flips, first=first, header_bits=len(data.stored).bit_length() - 1 - less, sample=fingerprints(packed(w), w))
    built = time.perf_counter() - start
    queries = fingerprints(data.queries, data.projections)
    search.query(queries[:5000], threads=1)
    took, found = timed(lambda: search.query(queries, threads=1))
    recall = search.recall
    return outcome(
        built, took, QUERIES, found, search.nbytes, header_bits=search.header_bits, probes=search.probes, recall_low=round(recall.low, 4), recall_unequal=round(recall.value, 4)
    )


def bphs(data: Setting, first: bool, blocks: int, header: int, table: bool) -> dict[str, Any]:
    from twinset.search.blocks import Blocks

    start = time.perf_counter()
    search = Blocks(fingerprints(data.stored), DISTANCE, blocks=blocks, header=header, first=first, table=table)
    built = time.perf_counter() - start
    count = QUERIES if table or header > 1 else QUERIES // 10
    queries = fingerprints(data.queries[:count])
    search.query(queries[:5000], threads=1)
    took, found = timed(lambda: search.query(queries, threads=1), ROUNDS if table else 1)
    return outcome(built, took, count, found, search.nbytes)


def faiss(data: Setting, kind: str) -> dict[str, Any]:
    import faiss as engine

    engine.omp_set_num_threads(1)
    index = engine.IndexBinaryFlat(64) if kind == "Flat" else engine.IndexBinaryMultiHash(64, 4, 16)
    start = time.perf_counter()
    index.add(data.stored.view(np.uint8).reshape(-1, 8))
    built = time.perf_counter() - start
    count = 200 if kind == "Flat" else 20_000
    asked = data.queries[:count].view(np.uint8).reshape(-1, 8)
    took, (limits, _, labels) = timed(lambda: index.range_search(asked, DISTANCE + 1), 1)
    found = np.unique(np.stack([np.repeat(np.arange(count), np.diff(limits.astype(np.int64))), labels]), axis=1)
    return outcome(built, took, count, found, memory())


def pynear(data: Setting) -> dict[str, Any]:
    import pynear as engine

    start = time.perf_counter()
    index = engine.MIHBinaryIndex(4)
    index.set(data.stored.view(np.uint8).reshape(-1, 8))
    built = time.perf_counter() - start
    count = 5_000
    asked = data.queries[:count].view(np.uint8).reshape(-1, 8)
    took, (labels, distances) = timed(lambda: index.searchKNN(asked, 8, DISTANCE), 1)
    found = [i for i, row in enumerate(labels) for j, _ in enumerate(row) if distances[i][j] <= DISTANCE]
    return outcome(built, took, count, np.array([found, found]), memory())


def memory() -> int:
    """Bytes that this process holds."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def outcome(built: float, took: float, count: int, found: Any, size: int, **more: Any) -> dict[str, Any]:
    left = found.left if hasattr(found, "left") else found[0]
    inside = left < 20_000  # what all engines but the slowest are asked
    return {"build_s": round(built, 2), "queries": count, "queries_per_s": int(count / took), "bytes": size, "found": len(left), "matched": len(np.unique(left)),
            "found_20k": int(inside.sum()), "matched_20k": len(np.unique(left[inside])), **more}  # fmt: skip


ENGINES: dict[str, Callable[[Setting], dict[str, Any]]] = {
    "faiss IndexBinaryMultiHash": lambda data: faiss(data, "MultiHash"),
    "faiss IndexBinaryFlat": lambda data: faiss(data, "Flat"),
    "pynear MIHBinaryIndex": pynear,
}
for _first, _mode in ((False, "A"), (True, "F")):
    for _less in range(5):
        ENGINES[f"PSM_{_mode} t=d-{_less}"] = partial(psm, first=_first, less=_less)
    for _blocks, _header in ((4, 1), (5, 2)):
        for _table in (True, False):
            ENGINES[f"BPHS_{_mode} ({_blocks},{_header}) {'table' if _table else 'halving'}"] = partial(bphs, first=_first, blocks=_blocks, header=_header, table=_table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--engines", nargs="*", default=list(ENGINES))
    parser.add_argument("--one", action="store_true")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(ENGINES[options.engines[0]](setting(options.sizes[0]))))
        return 0
    model()
    for n in options.sizes or SIZES:
        for name in options.engines:
            done = subprocess.run([sys.executable, __file__, str(n), "--one", "--engines", name], capture_output=True, text=True)
            if done.returncode:
                print(name, "FAILED", done.stderr.splitlines()[-1:], flush=True)
                continue
            row = {"n": n, "engine": name, **json.loads(done.stdout.splitlines()[-1])}
            print(f"{n:>9} {name:28} {row['queries_per_s']:>9,} queries/s {row['bytes'] / n / 8:6.2f} copies  built in {row['build_s']:6.2f} s  {row}", flush=True)
            store(row)
    return 0


def store(row: dict[str, Any]) -> None:
    """Add a row to the table, in place of an earlier one of the same engine and size."""
    names = ["n", "engine", "queries_per_s", "bytes", "build_s", "queries", "found", "matched", "found_20k", "matched_20k", "header_bits", "probes", "recall_unequal", "recall_low"]
    kept = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = [each for each in csv.DictReader(file) if (each["n"], each["engine"]) != (str(row["n"]), row["engine"])]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(sorted([*kept, row], key=lambda each: (int(each["n"]), each["engine"])))


if __name__ == "__main__":
    sys.exit(main())
