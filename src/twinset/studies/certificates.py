"""Do certificates tell the truth? The number of pairs a search missed against the interval that it gave, under many seeds, on real corpora.

`python -m twinset.studies.certificates DATA --out docs/certificates.csv` takes the folder of corpora, finds all pairs of each by the exact join, and searches it under
each seed. A row says how often the interval held the number that was truly missed, how many were missed on average and how many the certificates said, and the
measured recall of pairs at the threshold (those up to 0.02 above it) beside what was promised there.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twinset.config import Config
from twinset.documents.shingles import Shingles, shingle
from twinset.search.bands import Bands
from twinset.search.finding import Found, find
from twinset.search.scan import Scan
from twinset.sketch.minhash import MinHash

SEEDS = 200
NEAR = 0.02
FIELDS = (
    *("corpus", "shingle", "documents", "threshold", "search", "bits", "samples", "recall", "pairs", "seeds", "covered", "missed", "missed_said", "width"),
    *("recall_at", "recall_at_error", "recall_promised"),
)
CORPORA = {
    "nsf_awards": ("nsf_awards/2008.parquet", "words:2", 12_000),
    "civil_procedure": ("civil_procedure_sections/docs.parquet", "words:3", 12_000),
    "debian": ("debian_descriptions/docs.parquet", "words:3", 12_000),
    "laws_zh": ("laws_zh/docs.parquet", "chars:5", 3_475),
}
SEARCHES = (("bands", "8", 128, 0.9), ("bands", "8", 128, 0.99), ("bands", "64", 128, 0.9), ("scan", "1", 512, 0.9), ("scan", "1.5", 256, 0.9))


@dataclass(frozen=True)
class Corpus:
    """Distinct documents, how many equal ones each stands for, and every pair of them at the threshold."""

    name: str
    unit: str
    threshold: float
    shingles: Shingles
    weight: np.ndarray[Any, np.dtype[np.int64]]
    truth: Found

    @classmethod
    def read(cls, data: Path, name: str, threshold: float) -> "Corpus":
        file, unit, most = CORPORA[name]
        texts = pq.read_table(data / file, columns=["text"])["text"]
        chosen = np.sort(np.random.default_rng(7).permutation(len(texts))[:most])
        every = shingle(texts.take(pa.array(chosen)), Config(shingle=unit))
        first = every.first_equal()
        rows = np.flatnonzero((first == np.arange(len(first))) & (every.sizes > 0))
        shingles, weight = every.take(rows), np.bincount(first, minlength=len(first))[rows]
        return cls(name, unit, threshold, shingles, weight, find("exact", shingles, Config(shingle=unit), threshold, 1, weight))


def measure(corpus: Corpus, search: str, bits: str, samples: int, recall: float, seeds: int) -> dict[str, Any]:
    """One search of one corpus under seeds 0, 1, 2 ..."""
    truth = corpus.truth.certificate.found
    at = corpus.truth.hits.resemblance < corpus.threshold + NEAR
    near = int(at.sum())
    found = [find(search, corpus.shingles, Config(bits=bits, samples=samples, shingle=corpus.unit, seed=seed), corpus.threshold, recall, corpus.weight) for seed in range(seeds)]
    missed = np.array([truth - each.certificate.found for each in found])
    low, high, said = (np.array([getattr(each.certificate, name) for each in found]) for name in ("missed_low", "missed_high", "missed"))
    there = np.array([int((each.hits.resemblance < corpus.threshold + NEAR).sum()) for each in found]) / max(near, 1)
    promised = _promised(corpus, search, bits, samples, recall)
    row = {"corpus": corpus.name, "shingle": corpus.unit, "documents": int(corpus.weight.sum()), "threshold": corpus.threshold, "search": search, "bits": bits, "samples": samples}
    row |= {"recall": recall, "pairs": truth, "seeds": seeds, "covered": f"{((low <= missed) & (missed <= high)).mean():.3f}", "missed": f"{missed.mean():.2f}"}
    row |= {"missed_said": f"{said.mean():.2f}", "width": f"{(high - low).mean():.1f}", "recall_at": f"{there.mean():.4f}" if near else ""}
    return row | {"recall_at_error": f"{there.std() / seeds**0.5:.4f}" if near else "", "recall_promised": f"{promised:.4f}" if near else ""}


def _promised(corpus: Corpus, search: str, bits: str, samples: int, recall: float) -> float:
    """The mean detection of the pairs at the threshold, by the formulas."""
    none = MinHash(bits=bits, samples=samples).sketch_shingles(corpus.shingles)
    searcher = Bands(none, corpus.threshold, recall=recall) if search == "bands" else Scan(none, corpus.threshold, recall=recall)
    at = corpus.truth.hits.resemblance[corpus.truth.hits.resemblance < corpus.threshold + NEAR]
    return float(searcher.detection(at).mean()) if len(at) else 0.0


def rows(data: Path, seeds: int, threshold: float = 0.8, names: tuple[str, ...] = tuple(CORPORA)) -> Iterator[dict[str, Any]]:
    for name in names:
        corpus = Corpus.read(data, name, threshold)
        for search in SEARCHES:
            yield measure(corpus, *search, seeds)


def main(arguments: list[str] | None = None) -> None:
    """Run the study and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/certificates.csv"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    options = parser.parse_args(arguments)
    with options.out.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        for row in rows(options.data, options.seeds, options.threshold, tuple(options.corpora)):
            table.writerow(row)
            file.flush()
            print(*row.values(), sep="  ", flush=True)


if __name__ == "__main__":
    main()
