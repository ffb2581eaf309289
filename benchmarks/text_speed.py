"""Text to signatures: twinset beside its peers, k = 128, shingles of five words.

    pip install -e . -r benchmarks/requirements.txt && python benchmarks/text_speed.py

Four kinds of input: raw English texts (tokenising included), shingle strings, 64-bit hashes of shingles, and Chinese texts (twinset alone).
Each engine runs in a fresh process with one thread, or as many as its name says; rounds are interleaved and the best counts. Before a time is believed, the
engine's own estimates for planted pairs are held against the exact resemblance of its own tokens.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from engines import ENGINES, SAMPLES, Engine, byte_shingles, shingles

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results" / "text_speed.csv"
FILES = {"text": "nsf_awards/2007.parquet", "strings": "nsf_awards/2007.parquet", "hashes": "nsf_awards/2007.parquet", "chinese": "laws_zh/docs.parquet"}
TITLES = {
    "text": "English text to signatures; every engine gets raw str and its tokenising counts",
    "strings": "shingle strings to signatures; lists of distinct five-word strings, joined beforehand",
    "hashes": "shingle hashes to signatures; 64-bit hashes of the same strings in two arrays, hashed and sorted beforehand",
    "chinese": "Chinese text to signatures; twinset alone",
}
PLANTED = 200  # pairs: a text, and its beginning followed by another text
SHARES = (0.2, 0.4, 0.6, 0.8, 0.95, 1.0)  # how much of the beginning
TOLERANCE = 5.0  # standard errors, for the mean error of all pairs
WARM = 400  # documents of an untimed first call: compiling, caches
FIELDS = (
    *("kind", "engine", "package", "version", "threads", "given", "tokens", "documents", "megabytes", "shingles"),
    *("seconds", "mb_per_s", "ns_per_shingle", "bias", "standard_errors"),
)


def corpus(kind: str, documents: int) -> list[str]:
    """Texts of the kind's data set, then 2 * PLANTED texts that make pairs."""
    texts = [text for text in pq.read_table(DATA / FILES[kind], columns=["text"])["text"].to_pylist() if text][: documents + PLANTED]
    pairs = []
    for i, (text, other) in enumerate(zip(texts[:PLANTED], texts[PLANTED : 2 * PLANTED], strict=True)):
        share = SHARES[i % len(SHARES)]
        pairs += [text, text if share == 1 else text[: int(share * len(text))] + " " + other[: int((1 - share) * len(other))]]
    return texts[:documents] + pairs


def given(kind: str, engine: Engine, texts: list[str]) -> Any:
    """The input in the form that the engine is to get."""
    if kind in ("text", "chinese"):
        return pa.array(texts, pa.large_string()) if engine.gives[kind] == "Arrow large_string" else texts
    if kind == "strings":
        rows = [list(dict.fromkeys((byte_shingles if engine.binary else shingles)(text))) for text in texts]
        return pa.array(rows, pa.list_(pa.string())) if engine.gives[kind] == "Arrow list<string>" else rows
    rows = [np.unique(np.array(list(map(hash, shingles(text))), np.int64).view(np.uint64)) for text in texts]  # PYTHONHASHSEED is 0
    return np.concatenate(rows), np.cumsum([0] + [len(row) for row in rows], dtype=np.int64)


def exact(kind: str, engine: Engine, left: str, right: str) -> float:
    """Jaccard of the two sets of five-token shingles, with the engine's own tokens."""
    sets = []
    for text in (left, right):
        words = engine.tokens(text) if kind in ("text", "chinese") else text.lower().split()
        sets.append({tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def check(kind: str, engine: Engine, texts: list[str], estimates: Any) -> tuple[float, float]:
    """Mean error of the estimates for the planted pairs, and the same in standard errors."""
    truth = np.array([exact(kind, engine, *texts[i : i + 2]) for i in range(len(texts) - 2 * PLANTED, len(texts), 2)])
    variance = (1 - truth**2 if engine.one_bit else truth * (1 - truth)) / SAMPLES
    bias = float((np.asarray(estimates) - truth).mean())
    return bias, bias * PLANTED / float(np.sqrt(variance.sum()))


def first_rows(kind: str, data: Any) -> Any:
    """A small part of the input, for a first call."""
    return data[:WARM] if kind != "hashes" else (data[0][: data[1][WARM]], data[1][: WARM + 1])


def measure(name: str, kind: str, documents: int, seconds: float) -> dict[str, Any]:
    """Run one engine in this process, again and again for some seconds; the best run counts."""
    engine = ENGINES[name]
    texts = corpus(kind, documents)
    data = given(kind, engine, texts)
    run, estimate = engine.make(kind)
    run(first_rows(kind, data))
    best, until = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        result = run(data)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > until:
            break
        del result
    rows = np.arange(len(texts) - 2 * PLANTED, len(texts), 2)
    bias, errors = check(kind, engine, texts, estimate(result, rows, rows + 1))
    amount = len(data[0]) if kind == "hashes" else sum(map(len, data)) if kind == "strings" else sum(max(1, len(engine.tokens(t)) - 4) for t in texts)
    return {"seconds": best, "bias": bias, "standard_errors": errors, "shingles": amount, "megabytes": sum(len(t.encode()) for t in texts) / 1e6, "documents": len(texts)}


def fresh(name: str, kind: str, options: argparse.Namespace) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--engine", name, "--kinds", kind, "--documents", str(options.documents), "--seconds", str(options.seconds)]
    environment = os.environ | {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}, {kind}: failed\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def installed(engine: Engine) -> str | None:
    try:
        return version(engine.package)
    except PackageNotFoundError:
        return None


def compare(kind: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All engines that take this kind of input, fastest first."""
    engines = {name: engine for name, engine in ENGINES.items() if kind in engine.gives}
    for name in [name for name, engine in engines.items() if not installed(engine)]:
        print(f"SKIPPED {name}: {engines.pop(name).package} is not installed; see benchmarks/requirements.txt", file=sys.stderr)
    best: dict[str, dict[str, Any]] = {}
    for turn in range(options.repeats):
        for name in engines:
            print(f"{kind}, round {turn + 1} of {options.repeats}: {name}", file=sys.stderr)
            found = fresh(name, kind, options)
            if name not in best or found["seconds"] < best[name]["seconds"]:
                best[name] = found
    rows = [row(kind, name, engine, best[name]) for name, engine in engines.items()]
    return sorted(rows, key=lambda row: row["seconds"])


def row(kind: str, name: str, engine: Engine, found: dict[str, Any]) -> dict[str, Any]:
    tokens = " ".join((engine.tokens.__doc__ or "").split()) if kind in ("text", "chinese") else "none: shingles are given"
    speed = {"mb_per_s": found["megabytes"] / found["seconds"], "ns_per_shingle": found["seconds"] / found["shingles"] * 1e9}
    peer = {"kind": kind, "engine": name, "package": engine.package, "version": installed(engine), "threads": engine.threads}
    return peer | {"given": engine.gives[kind], "tokens": tokens} | found | speed


def show(kind: str, rows: list[dict[str, Any]]) -> None:
    """The table of one kind. The last column: how many times the fastest peer's time over this engine's."""
    print(f"\n{TITLES[kind]}\n{rows[0]['documents']} documents, {rows[0]['megabytes']:.1f} MB, about {rows[0]['shingles']:,} shingles, k = {SAMPLES}\n")
    peers = [row for row in rows if row["package"] != "twinset"]
    print(f"{'engine':20} {'version':>8} {'MB/s':>8} {'ns/shingle':>11} {'bias':>8} {'in SE':>6} {'x fastest peer':>15}  given")
    for row in rows:
        ratio = f"{peers[0]['seconds'] / row['seconds']:.2f}" if peers else "-"
        speed = f"{row['mb_per_s']:8.1f} {row['ns_per_shingle']:11.2f} {row['bias']:8.4f} {row['standard_errors']:6.1f}"
        print(f"{row['engine']:20} {row['version']:>8} {speed} {ratio:>15}  {row['given']}{'' if right(row) else '   WRONG ANSWER'}")


def right(row: dict[str, Any]) -> bool:
    return abs(row["standard_errors"]) < TOLERANCE


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows to a file, in the place of those of the same kinds that it holds."""
    kept: list[dict[str, Any]] = []
    if out.exists():
        with out.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["kind"] not in {row["kind"] for row in rows}]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(sorted(kept + rows, key=lambda row: list(TITLES).index(row["kind"])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--repeats", type=int, default=3, help="rounds, each with a fresh process for every engine")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a process goes on repeating")
    parser.add_argument("--kinds", nargs="+", choices=list(TITLES), default=list(TITLES))
    parser.add_argument("--engine", choices=list(ENGINES), help="measure one engine here and print JSON; what the processes are started with")
    parser.add_argument("--out", type=Path, default=RESULTS, help="a CSV file; its rows of other kinds stay")
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(measure(options.engine, options.kinds[0], options.documents, options.seconds)))
        return 0
    rows: list[dict[str, Any]] = []
    for kind in options.kinds:
        if not (DATA / FILES[kind]).exists():
            print(f"SKIPPED {kind}: no {DATA / FILES[kind]}", file=sys.stderr)
            continue
        rows += (found := compare(kind, options))
        show(kind, found)
    write(options.out, rows)
    return 0 if rows and all(map(right, rows)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
