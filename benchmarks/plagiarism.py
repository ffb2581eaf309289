"""Partial copies that people made: Clough and Stevenson's short answers, copied from a source by cutting, by light or heavy revision, or not at all.

    python benchmarks/plagiarism.py [FOLDER]

FOLDER (default: ../shared/data/clough_stevenson) holds docs.parquet (id, text) and pairs.tsv (id, source_id, category). Prints for each class the mean resemblance and containment
(the greater of both ways) of an answer and its source, and how many are listed at which threshold; then whether the search listed every pair that counting all pairs finds.
"""

import csv
import statistics
import sys
from itertools import combinations
from pathlib import Path

import pyarrow.parquet as pq

from twinset.config import Config
from twinset.documents.shingles import shingle
from twinset.pipeline.scanning import scan

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "clough_stevenson"
CLASSES = ("non", "heavy", "light", "cut")
THRESHOLDS = (0.1, 0.2, 0.3, 0.5)

Sets = dict[str, set[int]]


def sets(folder: Path, config: Config) -> Sets:
    table = pq.read_table(folder / "docs.parquet", columns=["id", "text"])
    found = shingle(table["text"].to_pylist(), config)
    return {name: set(found.values[found.offsets[d] : found.offsets[d + 1]].tolist()) for d, name in enumerate(table["id"].to_pylist())}


def listed(folder: Path, config: Config, threshold: float) -> set[frozenset[str]]:
    """The pairs that a scan lists."""
    found = scan([folder / "docs.parquet"], threshold=threshold, config=config)
    rows = found.table().select(["left", "right"]).to_pylist()
    return {frozenset(name.partition("#")[2] for name in row.values()) for row in rows}


def union(left: set[int], right: set[int]) -> int:
    return len(left | right)


def smaller(left: set[int], right: set[int]) -> int:
    return min(len(left), len(right))


def by_class(every: Sets, pairs: list[dict[str, str]], found: dict[float, set[frozenset[str]]]) -> None:
    print(f"{'class':<6} {'pairs':>5} {'resemblance':>11} {'containment':>11}  listed at {'  '.join(map(str, THRESHOLDS))}")
    for kind in CLASSES:
        chosen = [(pair["id"], pair["source_id"]) for pair in pairs if pair["category"] == kind]
        shared = [(every[answer] & every[source], every[answer], every[source]) for answer, source in chosen]
        resemblance, containment = (statistics.mean(len(common) / size(*others) for common, *others in shared) for size in (union, smaller))
        counts = [sum(frozenset(pair) in found[threshold] for pair in chosen) for threshold in THRESHOLDS]
        print(f"{kind:<6} {len(chosen):>5} {resemblance:>11.3f} {containment:>11.3f}            {'  '.join(f'{count:>3}' for count in counts)}")


def recall(every: Sets, found: dict[float, set[frozenset[str]]]) -> None:
    for threshold in THRESHOLDS:
        truth = {frozenset((a, b)) for a, b in combinations(every, 2) if len(every[a] & every[b]) >= threshold * min(len(every[a]), len(every[b]))}
        print(f"containment {threshold}: {len(truth)} pairs by counting all, {len(found[threshold] & truth)} of them listed, {len(found[threshold] - truth)} others listed")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if not (folder / "docs.parquet").exists():
        sys.exit(f"SKIPPED: {folder} holds no docs.parquet")
    with (folder / "pairs.tsv").open(encoding="utf-8") as lines:
        pairs = list(csv.DictReader(lines, delimiter="\t"))
    for width in (3, 5):
        config = Config(shingle=f"words:{width}")
        every, found = sets(folder, config), {threshold: listed(folder, config, threshold) for threshold in THRESHOLDS}
        print(f"shingles of {width} words")
        by_class(every, pairs, found)
        recall(every, found)


if __name__ == "__main__":
    main()
