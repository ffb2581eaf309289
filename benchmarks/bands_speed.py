"""`bands` against its bars, its peers, a boilerplate bucket and ten million rows.

    pip install -e . -r benchmarks/requirements.txt && python benchmarks/bands_speed.py [join bucket peers million scaling]

Every measurement runs in a process of its own, after a small run that compiles; the best of two rounds counts. Memory is the peak of the resident set while
joining, sketches and interpreter included. Verified means: at least THRESHOLD of the samples of a found pair agree, counted over the whole sketch, by every engine.

join, bucket, scaling: minima are drawn directly, as a fifth of the rows would have them whose resemblance to one other row is uniform in 0.5 to 1; the others resemble none.
peers, million: sets of 60 random 64-bit elements with the same planted pairs; each engine sketches them itself, and its time begins with the finished sketches.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "bands_speed.csv"
SAMPLES, BANDS, ROWS, THRESHOLD, SIZE = 128, 16, 8, 0.8, 60
PLANTED = 0.2
STEP = 20_000
SECTIONS = ["join", "bucket", "peers", "million", "scaling"]
MEMBERS = 200_000
FIELDS = ["section", "engine", "what", "rows", "threads", "seconds", "verified", "planted_found", "sketch_mb", "peak_mb", "note"]


def peak(reset: bool = False) -> float:
    """Megabytes that were resident at most since the last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def drawn(rows: int, bits: str, samples: int, *, centre: float = 0.0, shared: int = 0, seed: int = 0) -> Any:
    """Packed sketches. Of the first MEMBERS rows each takes a sample of one common row with probability `centre`, and all of them the first `shared` samples."""
    from twinset.config import Config
    from twinset.kernels import packing
    from twinset.sketch.sizes import Sizes
    from twinset.sketch.sketches import Sketches, parts_of

    random, config = np.random.Generator(np.random.PCG64(seed)), Config(bits=bits, samples=samples)
    words, lanes = np.empty((rows, config.layout.words), np.uint64), config.layout.lanes
    common = random.integers(0, 2**64, lanes, np.uint64)
    for first in range(0, rows, STEP):
        last = min(first + STEP, rows)
        minima = random.integers(0, 2**64, (last - first, lanes), np.uint64)
        near = int((last - first) * PLANTED) // 2
        kept = random.random((near, lanes)) < random.uniform(0.5, 1, (near, 1))
        minima[near : 2 * near] = np.where(kept, minima[:near], minima[near : 2 * near])
        if first < MEMBERS and (centre or shared):
            minima = np.where(random.random(minima.shape) < centre, common, minima)
            minima[:, :shared] = common[:shared]
        packing.pack(minima, last - first, parts_of(config), words[first:last])
    return Sketches(words, Sizes.store(np.full(rows, SIZE, np.int64), "exact"), config)


def joined(sketches: Any, threads: int, rounds: int = 2, **options: Any) -> dict[str, Any]:
    """Time a join and the verification of what it finds."""
    from twinset.kernels import agreement
    from twinset.search.bands import Bands
    from twinset.sketch.sketches import parts_of

    def verified() -> tuple[int, Any]:
        searcher = Bands(sketches, THRESHOLD, **options)
        pairs = searcher.join(threads=threads)
        counts = np.empty((len(pairs), len(sketches.config.layout.components)), np.int32)
        agreement.agree_pairs(sketches.words, pairs.left, sketches.words, pairs.right, parts_of(sketches.config), counts)
        layout = sketches.config.layout
        return int((counts.sum(axis=1) >= expected(layout)).sum()), searcher

    small = sketches[np.arange(2000)]
    Bands(small, THRESHOLD, **options).join(threads=threads)
    peak(reset=True)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        count, searcher = verified()
        best = min(best, time.perf_counter() - start)
    return {"seconds": best, "verified": count, "sketch_mb": sketches.nbytes / 1e6, "peak_mb": peak(), "note": searcher.about}


def expected(layout: Any) -> float:
    """The agreeing samples to expect of a pair at the threshold."""
    from twinset.estimate.probability import agreement

    return sum(part.samples * float(agreement(part, THRESHOLD)[0]) for part in layout.components)


def elements(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets (rows, SIZE) of which row i resembles row i + near, for i below near, by `truth`."""
    random = np.random.Generator(np.random.PCG64(7))
    sets = random.integers(0, 2**63, (rows, SIZE), np.uint64)
    near = int(rows * PLANTED) // 2
    wanted = random.uniform(0.5, 1, near)
    shared = np.rint(2 * SIZE * wanted / (1 + wanted)).astype(np.int64)
    sets[near : 2 * near] = np.where(np.arange(SIZE) < shared[:, None], sets[:near], sets[near : 2 * near])
    return sets, shared / (2 * SIZE - shared)


def scored(left: Any, right: Any, truth: np.ndarray) -> dict[str, Any]:
    """How many verified pairs there are, and the share of planted pairs at the threshold or above that are among them."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    near = len(truth)
    found = np.zeros(near, bool)
    planted = (np.minimum(left, right) < near) & (np.abs(left - right) == near)
    found[np.minimum(left, right)[planted]] = True
    return {"verified": len(left), "planted_found": float(found[truth >= THRESHOLD].mean())}


def equal(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Which pairs agree in enough samples, a slice at a time."""
    pieces = [(matrix[left[i : i + 1 << 16]] == matrix[right[i : i + 1 << 16]]).mean(axis=1) >= THRESHOLD for i in range(0, len(left), 1 << 16)]
    return np.concatenate([np.zeros(0, bool), *pieces])


def twinset_peer(sets: np.ndarray, chosen: bool) -> Any:
    from twinset import MinHash
    from twinset.estimate.banding import Banding
    from twinset.kernels import agreement
    from twinset.search.bands import Bands
    from twinset.sketch.sketches import parts_of

    def sketch(rows: np.ndarray) -> Any:
        return MinHash(bits="64", samples=SAMPLES).sketch_sets((rows.reshape(-1), np.arange(len(rows) + 1) * SIZE))

    def run(sketches: Any) -> tuple[Any, Any]:
        banding = None if chosen else Banding.of(sketches.config.layout, BANDS, ROWS)
        pairs = Bands(sketches, THRESHOLD, banding=banding).join()
        counts = np.empty((len(pairs), 1), np.int32)
        agreement.agree_pairs(sketches.words, pairs.left, sketches.words, pairs.right, parts_of(sketches.config), counts)
        kept = counts[:, 0] >= THRESHOLD * SAMPLES
        return pairs.left[kept], pairs.right[kept]

    run(sketch(sets[:2000]))
    return sketch(sets), run


def fastsketch(sets: np.ndarray) -> Any:
    from FastSketchLSH import LSH, FastSimilaritySketch

    matrix = FastSimilaritySketch(size=SAMPLES, seed=42).batch_csr(sets.reshape(-1), np.arange(len(sets) + 1, dtype=np.uint64) * np.uint64(SIZE), prehashed=True, num_threads=2)

    def run(matrix: np.ndarray) -> tuple[Any, Any]:
        index = LSH(SAMPLES, BANDS, num_threads=2)
        index.reserve(len(matrix))
        index.insert(matrix)
        flat, starts = index.query(matrix, format="csr")
        left, right = np.repeat(np.arange(len(matrix)), np.diff(np.asarray(starts).astype(np.int64))), np.asarray(flat).astype(np.int64)
        left, right = left[left < right], right[left < right]
        kept = equal(matrix, left, right)
        return left[kept], right[kept]

    return matrix, run


def rensa(sets: np.ndarray) -> Any:
    from rensa import RMinHash, RMinHashLSH

    tokens = [list(map(str, row)) for row in sets.tolist()]
    rows = RMinHash.from_token_sets(tokens, num_perm=SAMPLES, seed=42)
    matrix = np.array([row.digest() for row in rows], np.uint32)

    def run(_: Any) -> tuple[Any, Any]:
        index = RMinHashLSH(THRESHOLD, SAMPLES, BANDS)
        index.insert_many(rows)
        found = index.query_all(rows)
        left, right = np.repeat(np.arange(len(rows)), [len(each) for each in found]), np.fromiter((j for each in found for j in each), np.int64)
        left, right = left[left < right], right[left < right]
        kept = equal(matrix, left, right)
        return left[kept], right[kept]

    return rows, run


def datasketch(sets: np.ndarray) -> Any:
    from datasketch import LeanMinHash, MinHashLSH

    from twinset import MinHash

    matrix = MinHash(bits="64", samples=SAMPLES).sketch_sets((sets.reshape(-1), np.arange(len(sets) + 1) * SIZE)).samples() >> np.uint64(32)
    rows = [LeanMinHash(seed=1, hashvalues=row, scheme="legacy") for row in matrix]

    def run(rows: Any) -> tuple[Any, Any]:
        index, left, right = MinHashLSH(num_perm=SAMPLES, params=(BANDS, ROWS)), [], []
        for i, row in enumerate(rows):
            for j in index.query(row):
                left.append(j)
                right.append(i)
            index.insert(i, row, check_duplication=False)
        left, right = np.array(left, np.int64), np.array(right, np.int64)
        kept = equal(matrix, left, right)
        return left[kept], right[kept]

    return rows, run


def pari(sets: np.ndarray) -> Any:
    from pari import Index, MinHash

    rows = MinHash.from_batch(([x.tobytes() for x in row] for row in sets), num_perm=SAMPLES, seed=42)
    matrix = np.array([row.signature for row in rows], np.uint64)

    def run(rows: Any) -> tuple[Any, Any]:
        with tempfile.TemporaryDirectory() as folder:
            index = Index.create(Path(folder) / "index", threshold=THRESHOLD, num_perm=SAMPLES, seed=42)
            index.add_many(list(enumerate(rows)))
            found = index.search_many(rows)
            index.close()
        left, right = np.repeat(np.arange(len(rows)), [len(each) for each in found]), np.fromiter((j for each in found for j in each), np.int64)
        left, right = left[left < right], right[left < right]
        kept = equal(matrix, left, right)
        return left[kept], right[kept]

    return rows, run


def gaoya(sets: np.ndarray) -> Any:
    """Its index sketches by itself, both when it is filled and when it is asked: that time cannot be left out."""
    from gaoya.minhash import MinHashStringIndex

    texts = [" ".join(map(str, row)) for row in sets.tolist()]

    def run(texts: Any) -> tuple[Any, Any]:
        index = MinHashStringIndex(32, THRESHOLD, BANDS, ROWS, None, "word", False, (1, 1), "vec")
        index.par_bulk_insert_docs(list(range(len(texts))), texts)
        pairs = [(i, j) for i, near in enumerate(index.par_bulk_query(texts, return_similarity=True)) for j, _ in near if i < j]
        return tuple(np.array(pairs, np.int64).reshape(-1, 2).T)

    return texts, run


def rensa_flags(sets: np.ndarray) -> Any:
    from rensa import RMinHash, RMinHashLSH

    offsets = np.arange(len(sets) + 1, dtype=np.uint64) * np.uint64(SIZE)
    return RMinHash.digest_matrix_from_flat_token_hashes(sets.reshape(-1), offsets, num_perm=SAMPLES, seed=42), lambda matrix: RMinHashLSH(
        THRESHOLD, SAMPLES, BANDS
    ).query_duplicate_flags_matrix_one_shot(matrix)


def fastsketch_flags(sets: np.ndarray) -> Any:
    from FastSketchLSH import LSH

    return fastsketch(sets)[0], lambda matrix: LSH(SAMPLES, BANDS, num_threads=2).insert_and_query_duplicates(matrix)


PEERS = {
    "twinset": lambda sets: twinset_peer(sets, False), "twinset, its own banding": lambda sets: twinset_peer(sets, True), "FastSketchLSH": fastsketch, "rensa": rensa,
    "datasketch": datasketch, "pari": pari, "gaoya": gaoya, "rensa, flags only": rensa_flags, "FastSketchLSH, flags only": fastsketch_flags,
}  # fmt: skip
NOTES = {"pari": "chooses bands itself", "gaoya": "time includes sketching twice", "twinset, its own banding": "12 bands of 5"}
MILLION = ("twinset", "twinset, its own banding", "FastSketchLSH", "rensa", "rensa, flags only", "FastSketchLSH, flags only")


def peer(name: str, rows: int) -> dict[str, Any]:
    sets, truth = elements(rows)
    data, run = PEERS[name](sets)
    del sets
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        found = run(data)
        best = min(best, time.perf_counter() - start)
        if best > 30:
            break
    flags = "flags" in name
    return {"seconds": best, "note": NOTES.get(name, f"{BANDS} bands of {ROWS}")} | ({"verified": f"{int(np.sum(found))} rows flagged"} if flags else scored(*found, truth))


def case(section: str, engine: str, what: str, rows: int, threads: int) -> dict[str, Any]:
    """One row of the table, measured here."""
    if section in ("peers", "million"):
        return peer(engine, rows)
    bits, samples = what.split()[0], int(what.split()[1])
    place = {"none": {}, "shared": {"shared": 5}, "template": {"centre": 0.55}}[what.split()[2] if section == "bucket" else "none"]
    return joined(drawn(rows, bits, samples, **place), threads, 1 if rows > 3_000_000 else 2)


def cases(sections: list[str]) -> list[tuple[str, str, str, int, int]]:
    every = [("join", "twinset", what, 10**6, 2) for what in ("64 128", "32 128", "8 128", "1.5 1024", "1 1024")] + [("join", "twinset", "64 128", 10**6, 1)]
    every += [("bucket", "twinset", f"64 128 {kind}", 10**6, 2) for kind in ("none", "shared", "template")]
    every += [("peers", name, "64 128", 10**5, 2) for name in PEERS] + [("million", name, "64 128", 10**6, 2) for name in MILLION]
    every += [("scaling", "twinset", "8 128", rows, 2) for rows in (10**5, 316_228, 10**6, 3_162_278, 10**7)]
    return [each for each in every if each[0] in sections]


def fresh(each: tuple[str, str, str, int, int]) -> dict[str, Any]:
    """`case` in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--case", json.dumps(each)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{each}: failed\n{done.stderr}")
    return dict(zip(FIELDS[:5], each, strict=True)) | json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help=f"{', '.join(SECTIONS)}; all of them by default")
    parser.add_argument("--case", help="measure one row here and print JSON; what the processes are started with")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(case(*json.loads(options.case))))
        return 0
    sections = options.sections or SECTIONS
    before = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
    rows = [row for row in before if row["section"] not in sections]
    for each in cases(sections):
        try:
            row = fresh(each)
        except SystemExit as error:
            print(error, file=sys.stderr)
            continue
        rows.append({name: f"{row[name]:.4g}" if isinstance(row.get(name), float) else row.get(name, "") for name in FIELDS})
        print(*(str(rows[-1][name]) for name in FIELDS), sep=" | ", flush=True)
    measured = [(int(row["rows"]), float(row["seconds"])) for row in rows if row["section"] == "scaling"]
    if len(measured) > 2:
        print(f"exponent: {np.polyfit(*np.log(np.array(measured)).T, 1)[0]:.3f}")
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
