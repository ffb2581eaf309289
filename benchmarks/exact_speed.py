"""The exact join on real corpora, and beside SetSimilaritySearch on the same sets.

    pip install -e . -r benchmarks/requirements.txt && python benchmarks/exact_speed.py

Each case is a corpus, a shingle and a threshold. twinset joins all of its rows, on one thread and on two; the best of three runs counts, and its time is split by step. The
peer joins the first 500, 1000, 2000 ... rows, until a run takes longer than --seconds or all rows are in; twinset joins the same rows again, on one thread, and both must find
the same pairs. Reading and shingling are not timed. A case that is measured again takes the place of its row in the results.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import twinset.search.exact as exact
from twinset.config import Config
from twinset.documents.shingles import Shingles, shingle

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results" / "exact_speed.csv"
PEER = "SetSimilaritySearch"
ROWS, FIRST, REPEATS = 50_000, 500, 3
CORPORA = {"awards": "nsf_awards/20*.parquet", "laws_zh": "laws_zh/docs.parquet", "debian": "debian_descriptions/*.parquet", "civil": "civil_procedure_sections/*.parquet"}
CASES = [(corpus, unit, threshold) for corpus, unit in (("awards", "words:5"), ("awards", "words:3"), ("laws_zh", "words:5")) for threshold in (0.5, 0.8)]
CASES += [(corpus, "words:3", threshold) for corpus in ("debian", "civil") for threshold in (0.5, 0.8)]
STEPS = {"classes": "equal_sets", "tokens": "numbering", "_probe": "looking_up", "_expand": "writing"}
FIELDS = (
    *("corpus", "shingle", "threshold", "rows", "values", "pairs", "seconds_1_thread", "seconds_2_threads", *STEPS.values()),
    *("peer", "peer_rows", "peer_pairs", "peer_seconds", "same_rows_seconds", "times_faster", "same_pairs"),
)


def corpus_sets(corpus: str, unit: str) -> Shingles:
    """The shingle sets of the first rows of a corpus."""
    files = sorted(file for file in DATA.glob(CORPORA[corpus]) if "pairs" not in file.name)
    texts = pa.concat_tables([pq.read_table(file, columns=["text"]) for file in files])["text"].slice(0, ROWS)
    return shingle(texts.combine_chunks().cast(pa.large_string()), Config(shingle=unit))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def best(sets: Shingles, threshold: float, threads: int) -> tuple[float, Any]:
    """The fastest of the repeats, and the pairs."""
    search = exact.ExactJoin(sets, threshold)
    return min((timed(lambda: search.join_shared(threads=threads)) for _ in range(REPEATS)), key=lambda run: run[0])


def split(sets: Shingles, threshold: float, threads: int) -> dict[str, float]:
    """The seconds of each step, in the fastest of the repeats."""
    spent: dict[str, float] = {}
    runs = []
    kept = {name: getattr(exact, name) for name in STEPS}

    def stopped(name: str) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            spent[STEPS[name]], result = timed(lambda: kept[name](*arguments))
            return result

        return step

    for name in STEPS:
        setattr(exact, name, stopped(name))
    for _ in range(REPEATS):
        exact.ExactJoin(sets, threshold).join(threads=threads)
        runs.append(spent.copy())
    for name, function in kept.items():
        setattr(exact, name, function)
    return min(runs, key=lambda run: sum(run.values()))


def peer_pairs(sets: Shingles, rows: int, threshold: float) -> tuple[float, set[tuple[int, int]]]:
    """SetSimilaritySearch on the first rows, given as lists of Python integers, which it takes fastest."""
    from SetSimilaritySearch import all_pairs

    given = [sets.values[first:last].tolist() for first, last in pairwise(sets.offsets[: rows + 1].tolist())]
    seconds, found = timed(lambda: list(all_pairs(given, "jaccard", threshold)))
    return seconds, {(int(min(pair[:2])), int(max(pair[:2]))) for pair in found}


def beside(sets: Shingles, threshold: float, seconds: float) -> dict[str, Any]:
    """The peer on as many rows as it can do, and twinset on the same."""
    rows = FIRST
    while True:
        rows = min(rows, len(sets))
        spent, theirs = peer_pairs(sets, rows, threshold)
        if spent > seconds or rows == len(sets):
            break
        rows *= 2
    own, found = best(Shingles(*sets.span(0, rows)), threshold, 1)
    same = theirs == set(zip(found.pairs.left.tolist(), found.pairs.right.tolist(), strict=True))
    names = ("peer", "peer_rows", "peer_pairs", "peer_seconds", "same_rows_seconds", "times_faster", "same_pairs")
    return dict(zip(names, (f"{PEER} {version(PEER)}", rows, len(theirs), round(spent, 2), round(own, 4), round(spent / own, 1), same), strict=True))


def measure(corpus: str, unit: str, threshold: float, sets: Shingles, seconds: float) -> dict[str, Any]:
    exact.ExactJoin(Shingles(*sets.span(0, 100)), threshold).join()  # compiles
    two, found = best(sets, threshold, 2)
    one, _ = best(sets, threshold, 1)
    row = {"corpus": corpus, "shingle": unit, "threshold": threshold, "rows": len(sets), "values": len(sets.values), "pairs": len(found.pairs)}
    row |= {"seconds_1_thread": round(one, 3), "seconds_2_threads": round(two, 3), **{step: round(spent, 4) for step, spent in split(sets, threshold, 2).items()}}
    return row | beside(sets, threshold, seconds)


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """Into the results, each row in the place of an older one of its case."""
    known: dict[tuple[str, ...], dict[str, Any]] = {}
    if path.exists():
        with path.open(newline="") as file:
            known = {(row["corpus"], row["shingle"], row["threshold"]): row for row in csv.DictReader(file)}
    known |= {(row["corpus"], row["shingle"], str(row["threshold"])): row for row in rows}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(known.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--seconds", type=float, default=10, help="the peer gets no more rows after a run that took longer than this")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows, sets, loaded = [], None, ("", "")
    for corpus, unit, threshold in CASES:
        if corpus not in options.corpora:
            continue
        if not list(DATA.glob(CORPORA[corpus])):
            print(f"SKIPPED {corpus}: no {DATA / CORPORA[corpus]}", file=sys.stderr)
            continue
        if sets is None or loaded != (corpus, unit):
            sets, loaded = corpus_sets(corpus, unit), (corpus, unit)
        rows.append(measure(corpus, unit, threshold, sets, options.seconds))
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep=", ")
    write(rows, options.out)
    return 0 if rows and all(row["same_pairs"] and row["times_faster"] >= 5 for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
