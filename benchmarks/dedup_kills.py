"""kill -9 at random moments of `dedup`, each followed by a run to the end: the same bytes, and no stage that had been completed is done again.

    python benchmarks/dedup_kills.py CORPUS.parquet [--kills 25] [--seed 1]

A run that is not disturbed, after one that compiles, says how long it takes, and gives the bytes to compare with. Each kill comes at a moment drawn evenly from that time; where
the run had ended by then, another moment is drawn. What the killed run had completed are the files of its workspace, which appear whole. While the second run works they are
watched: each has to stay the same file (inode, time of the last change, bytes) until the workspace goes. Nothing but the output may be left.
"""

import argparse
import csv
import hashlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "dedup_kills.csv"
FIELDS = ["kill", "after_seconds", "run_seconds", "stage", "completed", "kept_files", "repeated", "left_over", "same_bytes"]


def command(corpus: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "twinset", "dedup", str(corpus), "-o", str(out), "--removed", str(out.with_suffix(".gone.parquet")), "--json"]


def sums(out: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in (out, out.with_suffix(".gone.parquet"))]


def completed(out: Path) -> dict[str, tuple[int, int, int]]:
    """The files of finished stages and batches: inode, time of the last change, bytes."""
    found = {}
    for path in out.with_name(f".{out.name}.twinset").glob("*.npz"):
        with suppress(FileNotFoundError):  # it goes while it is looked at
            about = path.stat()
            found[path.name] = about.st_ino, about.st_mtime_ns, about.st_size
    return found


def stage(files: dict[str, Any]) -> str:
    """What was being done when these files were there."""
    if "pairs.npz" in files:
        return "write"
    return "verify" if "candidates.npz" in files else "sketch or search" if files else "before the first batch"


def killed(corpus: Path, out: Path, after: float) -> dict[str, tuple[int, int, int]] | None:
    """What a run had completed when it was killed; nothing if it ended by itself."""
    process = subprocess.Popen(command(corpus, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    process.kill()
    return completed(out) if process.wait() == -signal.SIGKILL else None


def resumed(corpus: Path, out: Path, before: dict[str, Any]) -> tuple[int, int]:
    """Run to the end; of the files that were there, how many stayed as they were, and how many changed or went before the output was there."""
    process = subprocess.Popen(command(corpus, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    changed: set[str] = set()
    while process.poll() is None:
        now = completed(out)
        if not out.exists():  # nor had it when they were looked at: once it is there, the workspace goes file by file
            changed |= {name for name, about in before.items() if now.get(name) != about}
        time.sleep(0.02)
    if process.wait():
        raise RuntimeError(f"the second run ended with status {process.returncode}")
    return len(before) - len(changed), len(changed)


def trial(corpus: Path, folder: Path, number: int, after: float, whole: list[str]) -> dict[str, Any] | None:
    out = folder / f"out-{number}.parquet"
    begin = time.perf_counter()
    files = killed(corpus, out, after)
    row = None
    if files is not None:
        kept, repeated = resumed(corpus, out, files)
        same = sums(out) == whole
        left = [path.name for path in folder.iterdir() if path not in (out, out.with_suffix(".gone.parquet"))]
        values = [number, round(after, 3), round(time.perf_counter() - begin, 2), stage(files), len(files), kept, repeated, " ".join(left), same]
        row = dict(zip(FIELDS, values, strict=True))
    empty(folder)
    return row


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def undisturbed(corpus: Path, folder: Path) -> tuple[float, list[str]]:
    """Seconds of a run, and what it wrote."""
    out = folder / "whole.parquet"
    begin = time.perf_counter()
    subprocess.run(command(corpus, out), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, whole = time.perf_counter() - begin, sums(out)
    empty(folder)
    return seconds, whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", type=Path)
    options = parser.parse_args()
    moments, rows = random.Random(options.seed), []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        folder = Path(scratch)
        undisturbed(options.corpus, folder)
        seconds, whole = undisturbed(options.corpus, folder)
        while len(rows) < options.kills:
            row = trial(options.corpus, folder, len(rows), moments.uniform(0, seconds), whole)
            if row is not None:
                rows.append(row)
                print(row, flush=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    bad = [row for row in rows if row["repeated"] or row["left_over"] or not row["same_bytes"]]
    print(f"{len(rows)} kills within {seconds:.1f} s; {len(bad)} with other bytes, a stage repeated, or files left over")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
