"""`dedup` against its bars: reading and writing the same file by pyarrow, text-dedup and datatrove, memory, and recall against exact truth.

    python benchmarks/dedup_speed.py CORPUS.parquet [--memory 2GB] [--peers /path/of/their/python] [--truth] [--rounds 2] [--skip-copy]

CORPUS may be a folder of files; `benchmarks/corpora.py` builds one, and `--awards CORPUS.parquet` makes one of all award abstracts. Every engine is a process of its own; in each
round all of them run, one after another, and the best round of each counts. Memory is the peak of the resident set of the largest process. The peers keep one document of
each connected component. They are installed apart: `pip install text-dedup==0.4.0 "datatrove[processing]==0.10.1"`.

Truth is every pair at 0.8 or more, by an exact join. `pairs_left`: of these, with both documents kept. `no_near_kept`: documents removed that have no kept one at 0.8 or more.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "dedup_speed.csv"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "nsf_awards"
THRESHOLD = 0.8
FIELDS = ["corpus", "documents", "engine", "threads", "seconds", "cpu_seconds", "peak_mb", "kept", "true_pairs", "pairs_left", "recall", "no_near_kept", "note"]
COPY = "import sys, pyarrow.parquet as pq\npq.write_table(pq.read_table(sys.argv[1]), sys.argv[2], compression='zstd')"


def ran(command: list[str], folder: Path) -> tuple[dict[str, Any], str]:
    """Wall seconds, seconds of all cores, peak of the resident set, and what the command printed."""
    begin = time.perf_counter()
    with (folder / "printed").open("w+") as printed, (folder / "said").open("w+") as said:
        process = subprocess.Popen(command, stdout=printed, stderr=said, cwd=folder, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        printed.seek(0), said.seek(0)
        if status:
            raise RuntimeError(f"{command} ended with status {status}: {said.read()[-1500:]}")
        return {"seconds": round(seconds, 2), "cpu_seconds": round(used.ru_utime + used.ru_stime, 1), "peak_mb": round(used.ru_maxrss * 1024 / 1e6)}, printed.read()


def by_twinset(corpus: Path, folder: Path, memory: str) -> dict[str, Any]:
    out = folder / ("out" if corpus.is_dir() else "out.parquet")
    told, printed = ran([sys.executable, "-m", "twinset", "dedup", str(corpus), "-o", str(out), "--threshold", str(THRESHOLD), "--memory", memory, "--json"], folder)
    done = json.loads(printed)
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in done["stages"].items())
    interval = f"missed {done['missed']:.1f}, interval {done['missed_low']} to {done['missed_high']}, beside {done['found']} found"
    return told | {"kept": done["kept"], "out": out, "note": f"memory {memory}; {stages}; {interval}"}


def by_pyarrow(corpus: Path, folder: Path) -> dict[str, Any]:
    """Every file read and written again, one after another."""
    files = sorted(corpus.glob("*.parquet")) if corpus.is_dir() else [corpus]
    parts = [ran([sys.executable, "-c", COPY, str(file), str(folder / "copy.parquet")], folder)[0] for file in files]
    totals = {name: round(sum(part[name] for part in parts), 2) for name in ("seconds", "cpu_seconds")}
    return totals | {"peak_mb": max(part["peak_mb"] for part in parts), "note": "read_table, write_table, zstd"}


def by_text_dedup(corpus: Path, folder: Path, python: str) -> dict[str, Any]:
    files = ["--path", "parquet", "--data_files", str(corpus), "--split", "train", "--column", "text"]
    files += ["--output", str(folder / "text-dedup"), "--cache_dir", str(folder / "cache")]
    told, _ = ran([python, "-m", "text_dedup.minhash", *files, "--ngram", "5", "--threshold", str(THRESHOLD), "--num_proc", str(os.cpu_count())], folder)
    return told | {"out": folder / "text-dedup", "note": "defaults, 5-grams, threshold 0.8"}


def by_datatrove(corpus: Path, folder: Path, python: str) -> dict[str, Any]:
    import pyarrow.parquet as pq

    table, halves = pq.read_table(corpus, columns=["id", "text"]), folder / "halves"
    halves.mkdir(exist_ok=True)
    for half in range(2):  # one file for each worker
        pq.write_table(table.slice(half * (len(table) // 2), None if half else len(table) // 2), halves / f"{half}.parquet")
    told, _ = ran([python, str(Path(__file__).with_name("datatrove_dedup.py")), str(halves), str(folder / "datatrove")], folder)
    return told | {"out": folder / "datatrove" / "kept", "note": "defaults: 5-grams, 14 buckets of 8"}


def kept_ids(out: Path) -> set[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrows = sorted(out.glob("*.arrow")) if out.is_dir() else []
    if arrows:
        return {name for file in arrows for name in pa.ipc.open_stream(file).read_all()["id"].to_pylist()}
    return set(pq.read_table(out, columns=["id"])["id"].to_pylist())


class Truth:
    """Every pair of a corpus at the threshold or more, by names."""

    def __init__(self, corpus: Path) -> None:
        import pyarrow.parquet as pq

        import twinset

        table = pq.read_table(corpus, columns=["id", "text"])
        self.ids = table["id"].to_pylist()
        found = twinset.pairs(table, threshold=THRESHOLD, search="exact").table
        self.left, self.right = found["left"].to_numpy(), found["right"].to_numpy()

    def judge(self, kept: set[str]) -> dict[str, Any]:
        import numpy as np

        stays = np.array([name in kept for name in self.ids])
        near = np.zeros(len(stays), bool)
        near[self.left[stays[self.right]]] = near[self.right[stays[self.left]]] = True
        left = int((stays[self.left] & stays[self.right]).sum())
        found = {"true_pairs": len(self.left), "pairs_left": left, "recall": round(1 - left / max(len(self.left), 1), 6)}
        return found | {"kept": int(stays.sum()), "no_near_kept": int((~stays & ~near).sum())}


def awards(path: Path) -> None:
    """All award abstracts as one Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = [pq.read_table(file) for file in sorted(DATA.glob("*.parquet"))]
    if not parts:
        raise SystemExit(f"{DATA} holds no award abstracts; nothing was built")
    table = pa.concat_tables(parts, promote_options="default")
    table = table.filter(pa.compute.is_valid(table["text"]))
    pq.write_table(pa.table({"id": [f"a{row}" for row in range(len(table))], "text": table["text"]}), path, compression="zstd")


def measured(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """One row for each engine, its best round."""
    corpus = options.corpus.resolve()
    engines: dict[str, Callable[[Path], dict[str, Any]]] = {"twinset dedup": lambda mine: by_twinset(corpus, mine, options.memory)}
    if not options.skip_copy:
        engines["pyarrow reads and writes"] = lambda mine: by_pyarrow(corpus, mine)
    if options.peers:
        engines["text-dedup 0.4.0"] = lambda mine: by_text_dedup(corpus, mine, options.peers)
        engines["datatrove 0.10.1"] = lambda mine: by_datatrove(corpus, mine, options.peers)
    folders = [folder / str(number) for number in range(len(engines))]
    best: dict[str, dict[str, Any]] = {}
    for round_ in range(options.rounds):
        for number, (name, run) in enumerate(engines.items()):
            if round_ and name.startswith(("text-dedup", "datatrove")):
                continue
            shutil.rmtree(folders[number], ignore_errors=True)
            folders[number].mkdir(parents=True)
            found = run(folders[number])
            best[name] = min(best.get(name, found), found, key=lambda row: row["seconds"])
            print(name, found, flush=True)
    if options.truth:  # last, since a process begins with the peak of the one that starts it
        truth = Truth(corpus)
        for found in best.values():
            found |= truth.judge(kept_ids(found["out"])) if "out" in found else {}
    return [{"engine": name, "corpus": corpus.name, "threads": os.cpu_count()} | found for name, found in best.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--peers", help="a Python that has text-dedup and datatrove")
    parser.add_argument("--truth", action="store_true", help="count what is missed, by an exact join")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--skip-copy", action="store_true", help="leave pyarrow out")
    parser.add_argument("--awards", action="store_true", help="build CORPUS of all award abstracts first")
    parser.add_argument("--scratch", type=Path, help="a folder on the disk to measure")
    options = parser.parse_args()
    if options.awards:
        awards(options.corpus)
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        rows = measured(options, Path(scratch) / "run")
    documents = count(options.corpus)
    fresh = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        out = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        if fresh:
            out.writeheader()
        out.writerows(row | {"documents": documents} for row in rows)


def count(corpus: Path) -> int:
    import pyarrow.parquet as pq

    return sum(pq.ParquetFile(file).metadata.num_rows for file in (corpus.glob("*.parquet") if corpus.is_dir() else [corpus]))


if __name__ == "__main__":
    main()
