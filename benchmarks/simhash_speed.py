"""SimHash: the inner loop against the machine's peak, and texts to fingerprints beside the packages simhash and gaoya.

    pip install -e . -r benchmarks/requirements.txt simhash==2.1.2 && python benchmarks/simhash_speed.py

The inner loop adds 64 doubles for each feature and word; its limit is a pure loop of such additions in registers, timed in the same run. Engines get the same
texts, one thread unless they say otherwise, and 64 bits; the best of several rounds counts. Before a time is believed, the share of bits in which planted pairs
differ is held against theta / pi, theta the angle between the weights of the engine's own tokens. gaoya does not give fingerprints away: its time is that of
inserting into an index of three blocks, and its distances are those that a query returns.
"""

import csv
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from math import acos, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from engines import ascii_punctuation, letters_and_digits, white_space
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from peaks import CHAINS, _spread

from twinset.kernels.simhash import project_signs
from twinset.sketch.seeds import splitmix64
from twinset.sketch.simhash import SimHash, sign_table

DATA = Path(__file__).resolve().parents[2] / "shared/data/nsf_awards/2007.parquet"
RESULTS = Path(__file__).parent / "results" / "simhash_speed.csv"
DOUBLES = ir.VectorType(ir.DoubleType(), 8)
PLANTED, SHARES = 300, (0.6, 0.7, 0.8, 0.9, 0.95)
TOLERANCE = 5.0  # standard errors by which the mean share of differing bits may be off the law
FIELDS = ("engine", "version", "what", "threads", "documents", "units", "seconds", "ns_per_unit", "limit_ns", "share_of_limit", "differing", "law", "standard_errors", "right")


@intrinsic
def _add(typingctx, rounds, step):
    def codegen(context, builder, signature, arguments):
        chains = [cgutils.alloca_once_value(builder, ir.Constant(DOUBLES, [float(i)] * 8)) for i in range(CHAINS)]
        each = _spread(builder, arguments[1], DOUBLES)
        with cgutils.for_range(builder, arguments[0]):
            for chain in chains:
                builder.store(builder.fadd(builder.load(chain), each), chain)
        total = builder.load(chains[0])
        for chain in chains[1:]:
            total = builder.fadd(total, builder.load(chain))
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float64(types.int64, types.float64), codegen


@njit
def additions(rounds, step):
    """Add in registers alone: rounds * 64 doubles."""
    return _add(rounds, step)


def best(work: Callable[[], Any], rounds: int) -> float:
    """The shortest time of an untimed call and `rounds` timed ones."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def kernel_rows() -> list[dict[str, Any]]:
    rows, size = 2000, 150
    values, weights = splitmix64(1, rows * size), np.arange(rows * size) % 7 + 0.25
    ends, rounds = np.arange(1, rows + 1) * size, 1_000_000
    limit = best(lambda: additions(rounds, 0.5), 9) / rounds * 1e9
    result = []
    for words in (1, 2):
        out, salts = np.empty((rows, 64 * words)), splitmix64(42, words)
        seconds = best(lambda: project_signs(values, weights, ends, 0, rows, salts, sign_table(), out), 30)  # noqa: B023
        each = seconds / (rows * size) * 1e9
        row = {"what": f"project_signs, {64 * words} bits", "documents": rows, "units": rows * size, "seconds": round(seconds, 6), "ns_per_unit": round(each, 2)}
        result.append({**row, "limit_ns": round(limit * words, 2), "share_of_limit": round(limit * words / each, 2)})
    return [{"engine": "twinset kernel", "version": version("twinset"), "threads": 1, **row} for row in result]


def planted(texts: list[str]) -> tuple[list[str], list[str]]:
    """Texts, and their beginnings followed by another text."""
    left, right = texts[:PLANTED], []
    for i, (text, other) in enumerate(zip(left, texts[PLANTED : 2 * PLANTED], strict=True)):
        share = SHARES[i % len(SHARES)]
        right.append(text[: int(share * len(text))] + " " + other[: int((1 - share) * len(text))])
    return left, right


def law(left: list[str], right: list[str], tokens: Callable[[str], list[str]], weigh: Callable[[Counter[str]], dict[str, float]]) -> np.ndarray[Any, Any]:
    """theta / pi of each pair."""
    result = []
    for one, other in zip(left, right, strict=True):
        a, b = weigh(Counter(tokens(one))), weigh(Counter(tokens(other)))
        dot = sum(weight * b.get(token, 0) for token, weight in a.items())
        result.append(acos(min(1, dot / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values())))) / pi)
    return np.array(result)


def judged(found: Any, expected: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The mean share of bits that differ against the law; pairs of which the engine told no distance are left out."""
    seen = ~np.isnan(found)
    share, chance = found[seen] / 64, expected[seen]
    deviate = (share.mean() - chance.mean()) / sqrt((chance * (1 - chance)).sum() / 64) * seen.sum()
    return {"differing": round(float(share.mean()), 4), "law": round(float(chance.mean()), 4), "standard_errors": round(float(deviate), 1), "right": bool(abs(deviate) < TOLERANCE)}


def once(counted: Counter[str]) -> dict[str, float]:
    return dict.fromkeys(counted, 1.0)


def times(counted: Counter[str]) -> dict[str, float]:
    return dict(counted)


def inverse(texts: list[str]) -> Callable[[Counter[str]], dict[str, float]]:
    counts = Counter(token for text in texts for token in set(letters_and_digits(text)))
    return lambda counted: {token: n * (1 + np.log((1 + len(texts)) / (1 + counts[token]))) for token, n in counted.items()}


def twinset_rows(texts: list[str], left: list[str], right: list[str]) -> list[dict[str, Any]]:
    given, units = pa.array(texts, pa.large_string()), sum(len(letters_and_digits(text)) for text in texts)
    weighing = {"constant": once, "tf": times, "tfidf": inverse(left + right)}
    result = []
    for weights, gaussian, threads in [("constant", False, 1), ("tf", False, 1), ("tfidf", False, 1), ("tf", True, 1), ("tf", False, 2), ("tfidf", False, 2)]:
        sketcher = SimHash(weights=weights, gaussian=gaussian)
        seconds = best(lambda: sketcher.sketch(given, threads=threads), 5)  # noqa: B023
        rows = np.arange(PLANTED)
        distance = sketcher.sketch(left + right).distance(rows, rows + PLANTED)
        row = {"engine": "twinset", "version": version("twinset"), "what": weights + gaussian * ", Gaussian", "threads": threads, "documents": len(texts), "units": units}
        right_or_not = judged(distance.astype(float), law(left, right, letters_and_digits, weighing[weights]))
        result.append({**row, "seconds": round(seconds, 4), "ns_per_unit": round(seconds / units * 1e9, 2), **right_or_not})
    return result


def simhash_row(texts: list[str], left: list[str], right: list[str]) -> dict[str, Any]:
    from simhash import Simhash

    def sketch(some: list[str]) -> list[Any]:
        return [Simhash(Counter(white_space(text))) for text in some]

    units = sum(len(white_space(text)) for text in texts)
    seconds = best(lambda: sketch(texts), 1)
    distance = np.array([float(a.distance(b)) for a, b in zip(sketch(left), sketch(right), strict=True)])
    row = {"engine": "simhash", "version": version("simhash"), "what": "tf", "threads": 1, "documents": len(texts), "units": units, "seconds": round(seconds, 4)}
    return {**row, "ns_per_unit": round(seconds / units * 1e9, 2), **judged(distance, law(left, right, white_space, times))}


def gaoya_row(texts: list[str], left: list[str], right: list[str]) -> dict[str, Any]:
    from gaoya.simhash import SimHashStringIndex

    def insert(some: list[str], blocks: int) -> Any:
        index = SimHashStringIndex(hash_size=64, num_blocks=blocks, hamming_distance=blocks - 1, analyzer="word", lowercase=True, ngram_range=(1, 1))
        for i, text in enumerate(some):
            index.insert_document(i, text)
        return index

    units = sum(len(ascii_punctuation(text)) for text in texts)
    seconds = best(lambda: insert(texts, 3), 2)
    index = insert(left, 32)
    answers = index.index.par_bulk_query_return_distance(right)  # its own wrapper calls a method that is not there
    distance = np.array([dict(answer).get(i, np.nan) for i, answer in enumerate(answers)], float)
    kinds = {"constant": once, "tf": times}
    fits = {kind: judged(distance, law(left, right, ascii_punctuation, weigh)) for kind, weigh in kinds.items()}
    kind = min(fits, key=lambda kind: abs(fits[kind]["standard_errors"]))  # its documentation does not say what its weights are
    row = {"engine": "gaoya", "version": version("gaoya"), "what": f"{kind}, with an index", "threads": 1, "documents": len(texts), "units": units}
    return {**row, "seconds": round(seconds, 4), "ns_per_unit": round(seconds / units * 1e9, 2), **fits[kind]}


def main() -> None:
    rows = kernel_rows()
    if DATA.exists():
        texts = [text for text in pq.read_table(DATA, columns=["text"])["text"].to_pylist() if text and len(text) > 400]
        left, right = planted(texts)
        rows += twinset_rows(texts, left, right)
        for peer, some in ((simhash_row, texts[:1000]), (gaoya_row, texts[:4000])):
            try:
                rows.append(peer(some, left, right))
            except (ImportError, PackageNotFoundError) as error:
                print(f"SKIPPED {peer.__name__}: {error}")
    else:
        print(f"SKIPPED texts: there is no {DATA}")
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print("  ".join(f"{row.get(name, '')}" for name in FIELDS))


if __name__ == "__main__":
    main()
