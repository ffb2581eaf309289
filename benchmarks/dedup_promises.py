"""P2 on the output itself, by other code: nothing of twinset is imported.

    python benchmarks/dedup_promises.py IN.parquet OUT.parquet REMOVED.parquet [--threshold 0.8] [--sample 20000]

REMOVED is what `dedup --removed` wrote. All removed rows are judged, or a sample of them:

- each has a witness that was kept, and shares with it at least the threshold of its shingles: sets of 5 tokens, counted in Python; the resemblance listed is that number;
- kept and removed rows are all rows of the input, none of them twice;
- the output is the kept rows of the input, in its order, equal in every column and every byte of text.

A token is a run of letters and digits, with the marks that follow them, of the text in NFKC and casefolded; soft hyphens and other format characters vanish. That is docs/texts.md
for scripts that put white space between words: corpora in Chinese or Thai are not for this script.
"""

import argparse
import json
import random
import re
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

WIDTH = 5
TOKEN = re.compile(r"w[wm]*")
KINDS = {"L": "w", "N": "w", "M": "m"}  # by the first letter of the general category


def tokens(text: str) -> list[str]:
    shown = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())
    kinds = "".join(KINDS.get(unicodedata.category(letter)[0], " ") for letter in plain)
    return [plain[found.start() : found.end()] for found in TOKEN.finditer(kinds)]


def shingles(text: str) -> set[tuple[str, ...]]:
    words = tokens(text)
    return {tuple(words[i : i + WIDTH]) for i in range(max(len(words) - WIDTH + 1, 1))} if words else set()


def resemblance(left: str, right: str) -> float:
    a, b = shingles(left), shingles(right)
    return len(a & b) / max(len(a | b), 1)


def judged(source: Path, removed: list[dict], kept: set[str], threshold: float) -> list[str]:
    """What is wrong with removed rows and their witnesses."""
    wanted = {row["id"] for row in removed} | {row["witness"] for row in removed}
    texts = {}
    for batch in pq.ParquetFile(source).iter_batches(columns=["id", "text"], batch_size=10_000):
        texts |= {name: text for name, text in zip(batch["id"].to_pylist(), batch["text"].to_pylist(), strict=True) if name in wanted}
    wrong = []
    for row in removed:
        found = resemblance(texts[row["id"]], texts[row["witness"]])
        if row["witness"] not in kept:
            wrong.append(f"{row['id']}: its witness {row['witness']} was not kept")
        if found < threshold or abs(found - row["resemblance"]) > 1e-12:
            wrong.append(f"{row['id']}: shares {found} with {row['witness']}; {row['resemblance']} is listed")
    return wrong


def untouched(source: Path, out: Path, gone: set[str]) -> list[str]:
    """What is wrong with the output as a copy of rows."""
    copy, rows = pq.ParquetFile(out), pq.ParquetFile(source)
    if copy.schema_arrow != rows.schema_arrow or copy.schema_arrow.metadata != rows.schema_arrow.metadata:
        return ["the schemas differ"]
    rest = iter(copy.iter_batches(batch_size=10_000))
    held = copy.schema_arrow.empty_table()
    for batch in rows.iter_batches(batch_size=10_000):
        mine = pa.Table.from_batches([batch]).filter(pa.array([name not in gone for name in batch["id"].to_pylist()]))
        while len(held) < len(mine) and (more := next(rest, None)) is not None:
            held = pa.concat_tables([held, pa.Table.from_batches([more])])
        if not held.slice(0, len(mine)).equals(mine):
            return [f"the output is not the rest of the input, from {mine['id'][0]} on or a little later"]
        held = held.slice(len(mine))
    return ["the output has rows that the input has not"] if len(held) or next(rest, None) is not None else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "out", "removed"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--sample", type=int, help="so many removed rows instead of all")
    options = parser.parse_args()
    listed = pq.read_table(options.removed).to_pylist()
    names = pq.read_table(options.source, columns=["id"])["id"].to_pylist()
    kept, gone = set(pq.read_table(options.out, columns=["id"])["id"].to_pylist()), {row["id"] for row in listed}
    wrong = [] if len(names) == len(set(names)) == len(kept) + len(gone) == len(kept | gone) and len(gone) == len(listed) else ["kept and removed are not the rows of the input"]
    sample = listed if options.sample is None else random.Random(1).sample(listed, min(options.sample, len(listed)))
    wrong += judged(options.source, sample, kept, options.threshold) + untouched(options.source, options.out, gone)
    said = {"rows": len(names), "kept": len(kept), "removed": len(gone), "judged": len(sample), "wrong": len(wrong)}
    lowest = min((row["resemblance"] for row in sample), default=1.0)
    print(json.dumps(said | {"lowest_resemblance": lowest}))
    print("\n".join(wrong[:20]), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
