"""How much memory `twinset sketch` holds while it reads a text column far larger than it may hold.

    pip install -e . && python benchmarks/memory.py

Builds a Parquet file of award abstracts (shared/data/nsf_awards) in a temporary folder, runs `twinset sketch` on it in a process of its own, and reports that process's
largest resident set (VmHWM of /proc), its wall time and its rate. Each document is the beginning of one abstract and the end of another, cut where no other document is,
so that no text repeats. Row groups are those of a default pyarrow file, a million rows: the case in which a reader that takes a group at a time holds gigabytes.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "nsf_awards"
RESULTS = Path(__file__).parent / "results" / "memory.csv"
BAR = 1e9  # bytes
POLL = 0.02  # seconds between two looks at the process
SEED = 42


def texts(size: int) -> Iterator[str]:
    """Documents of `size` bytes in all, and never the same again."""
    abstracts = [text for path in sorted(DATA.glob("20*.parquet")) for text in pq.read_table(path, columns=["text"])["text"].to_pylist() if text]
    random_numbers, made = random.Random(SEED), 0
    while made < size:
        left, right = random_numbers.choice(abstracts), random_numbers.choice(abstracts)
        share = random_numbers.random()
        text = f"{left[: int(share * len(left))]} {made:x} {right[int(share * len(right)) :]}"
        made += len(text.encode())
        yield text


def build(path: Path, size: int, group: int) -> None:
    """Write the texts to a Parquet file, `group` rows in each row group."""
    schema = pa.schema({"id": pa.int64(), "text": pa.large_string()})
    everything, row = texts(size), 0
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as writer:
        while True:
            pieces = []
            while sum(map(len, pieces)) < group and (some := [text for text, _ in zip(everything, range(10_000), strict=False)]):
                pieces.append(pa.array(some, pa.large_string()))
            if not pieces:
                return
            column = pa.chunked_array(pieces)
            writer.write_table(pa.table([pa.array(range(row, row + len(column))), column], schema=schema), row_group_size=len(column))
            row += len(column)


def peak(process: subprocess.Popen[str]) -> int:
    """The largest resident set of a process, in bytes, once it has ended. Not getrusage: that counts what the parent held before the child became itself."""
    most, status = 0, Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                most = max(most, int(line.split()[1]) * 1024)
        time.sleep(POLL)
    return most


def sketch(path: Path, threads: int, rows: int) -> dict[str, Any]:
    """One run of `twinset sketch`, and what it took."""
    out = path.with_name("sketches.parquet")
    command = [sys.executable, "-c", "import twinset.cli; twinset.cli.main()", "sketch", str(path), "--out", str(out), "--threads", str(threads), "--json"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    most = peak(process)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise SystemExit(f"twinset sketch failed with exit code {process.returncode}")
    done = json.loads(process.stdout.read() if process.stdout else "")
    about = pq.ParquetFile(path).metadata
    right = done["documents"] == about.num_rows == pq.read_metadata(out).num_rows
    return {
        "documents": done["documents"], "row_groups": about.num_row_groups, "rows_in_a_group": rows, "text_bytes": done["text_bytes"], "file_bytes": path.stat().st_size,
        "threads": threads, "seconds": f"{seconds:.1f}", "mb_per_s": f"{done['text_bytes'] / seconds / 1e6:.0f}", "peak_mb": f"{most / 1e6:.0f}", "right": right,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=10, help="text, uncompressed")
    parser.add_argument("--group", type=int, default=1 << 20, help="rows in a row group")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--folder", type=Path, help="keep the file here, and use it if it is there")
    parser.add_argument("--build", action="store_true", help="write the file to --folder and stop")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not DATA.exists():
        print(f"SKIPPED: no {DATA}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.folder or Path(temporary)) / "texts.parquet"
        if not path.exists():
            print(f"writing {options.gigabytes} GB of text to {path}", file=sys.stderr)
            build(path, int(options.gigabytes * 1e9), options.group)
        if options.build:
            return 0
        rows = [sketch(path, threads, options.group) for threads in options.threads]
    for row in rows:
        verdict = "met" if float(row["peak_mb"]) * 1e6 < BAR else "MISSED"
        print(", ".join(f"{name} {value}" for name, value in row.items()), f"— under {BAR / 1e9:.0f} GB: {verdict}")
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
