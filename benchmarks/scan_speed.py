"""Every sketch against a query, one thread: the scan beside faiss `IndexBinaryFlat`, and beside the bit counts that this machine can do.

    pip install -e . -r benchmarks/requirements.txt && python benchmarks/scan_speed.py

A million one-bit sketches, of which a hundred are near a query each; all sizes are equal, so that no pair is spared by its sizes. Each engine runs in a process
of its own. Both answer the same question: which rows differ in at most so many bits; the pairs must be the same, but for those that a positive `miss` gives up.
"""

import argparse
import csv
import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import peaks

RESULTS = Path(__file__).parent / "results" / "scan_speed.csv"
ROWS, QUERIES, NEAR = 1_000_000, 256, 100
THRESHOLD, RECALL = 0.8, 0.99
SIZES = (128, 512, 1024)  # bits
ENGINES = ("twinset", "twinset, miss 0", "faiss IndexBinaryFlat")
FIELDS = ("bits", "queries", "engine", "version", "seconds", "ms_per_query", "pairs_per_ns", "words_per_ns", "peak_words_per_ns", "share_of_peak", "x_faiss", "found", "same")


def codes(bits: int) -> tuple[Any, Any]:
    """Random words, and queries of which some differ from a row in one bit of ten, as 1-bit sketches at resemblance 0.8 do."""
    random = np.random.default_rng(bits)
    rows = random.integers(0, 1 << 64, (ROWS, bits // 64), np.uint64)
    asked = random.integers(0, 1 << 64, (QUERIES, bits // 64), np.uint64)
    flips = np.packbits(random.random((NEAR, bits)) < (1 - THRESHOLD) / 2, axis=1, bitorder="little").view(np.uint64)
    asked[:NEAR] = rows[random.integers(ROWS, size=NEAR)] ^ flips
    return rows, asked


def scan(bits: int, miss: float) -> tuple[Any, Any]:
    """(search, what a head compares): `search(queries)` gives pairs."""
    from twinset.config import Config
    from twinset.search.scan import Scan
    from twinset.sketch.sizes import Sizes
    from twinset.sketch.sketches import Sketches

    config = Config(bits="1", samples=bits)

    def wrap(words: Any) -> Sketches:
        return Sketches(words, Sizes(np.full(len(words), 1000), "exact", len(words)), config)

    rows, _ = codes(bits)
    searcher = Scan(wrap(rows), THRESHOLD, recall=RECALL, miss=miss)
    return lambda asked: (lambda found: (found.left, found.right))(searcher.query(wrap(asked), threads=1)), searcher.cut


def faiss_flat(bits: int, most: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryFlat(bits)
    index.add(codes(bits)[0].view(np.uint8))

    def search(asked: Any) -> Any:
        limits, _, rows = index.range_search(asked.view(np.uint8), most + 1)  # the radius is exclusive
        return np.repeat(np.arange(len(asked)), np.diff(limits.astype(np.int64))), rows

    return search


def measure(engine: str, bits: int, queries: int) -> dict[str, Any]:
    """The best of several runs, the pairs found, and the bit counts of a pure loop in the second-level cache."""
    search, cut = scan(bits, 0.0 if engine.endswith("0") else 1e-6)
    words = cut.words if engine.startswith("twinset") else bits // 64
    if engine.startswith("faiss"):
        search = faiss_flat(bits, int(cut.limits[-1]))
    asked = codes(bits)[1][:queries]
    flat = np.zeros(1 << 14, np.uint64)
    search(asked[:4]), peaks.popcount(flat, asked[0, 0], 1)
    seconds = min(timed(lambda: search(asked)) for _ in range(3 if queries > 1 else 15))
    peak = len(flat) * 200 / min(timed(lambda: peaks.popcount(flat, asked[0, 0], 200)) for _ in range(20)) / 1e9
    pairs = sorted(zip(*(side.tolist() for side in search(asked)), strict=True))
    return {"seconds": seconds, "words_per_ns": words * queries * ROWS / seconds / 1e9, "peak_words_per_ns": peak, "pairs": pairs}


def timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fresh(engine: str, bits: int, queries: int) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, "--engine", engine, "--bits", str(bits), "--queries", str(queries)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{engine}, {bits} bits: failed\n{done.stderr}")
    return json.loads(done.stdout)


def compare(bits: int, queries: int) -> list[dict[str, Any]]:
    found = {engine: fresh(engine, bits, queries) for engine in ENGINES}
    truth, faiss_seconds = found[ENGINES[2]]["pairs"], found[ENGINES[2]]["seconds"]
    rows = []
    for engine, each in found.items():
        same = each["pairs"] == truth if engine != ENGINES[0] else all(pair in truth for pair in each["pairs"]) and len(each["pairs"]) >= len(truth) - 1
        seconds, rate, peak = each["seconds"], each["words_per_ns"], each["peak_words_per_ns"]
        package = "faiss-cpu" if engine.startswith("faiss") else "twinset"
        speed = {"seconds": f"{seconds:.5f}", "ms_per_query": f"{seconds / queries * 1e3:.3f}", "pairs_per_ns": f"{ROWS * queries / seconds / 1e9:.3f}"}
        share = {"words_per_ns": f"{rate:.2f}", "peak_words_per_ns": f"{peak:.2f}", "share_of_peak": f"{rate / peak:.2f}", "x_faiss": f"{faiss_seconds / seconds:.1f}"}
        rows.append({"bits": bits, "queries": queries, "engine": engine, "version": version(package)} | speed | share | {"found": len(each["pairs"]), "same": same})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=ENGINES, help="measure one engine here and print JSON; what the processes are started with")
    parser.add_argument("--bits", type=int)
    parser.add_argument("--queries", type=int, default=QUERIES)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(measure(options.engine, options.bits, options.queries)))
        return 0
    rows = [row for bits in SIZES for queries in (QUERIES, 1) for row in compare(bits, queries)]
    print("  ".join(FIELDS))
    for row in rows:
        print("  ".join(str(row[name]) for name in FIELDS))
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
