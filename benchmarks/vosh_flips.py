"""How many subsets of flips find a real pair at Hamming distance 1, 2 or 3: volatile bits first, against random order.

    python benchmarks/vosh_flips.py

Texts of ../shared/data under TF-IDF SimHash, 64 bits, all of which may flip. Of each document one pair at each distance; chances of flips are learned from one half of the
documents and used on the other. As in Sood and Loguinov, figure 3, a pair at distance h counts the subsets of h bits tried up to its own; in random order the share r of all pairs
takes r times the number of subsets.
"""

import csv
import sys
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import twinset
from twinset.estimate.flips import Flips
from twinset.search.blocks import Blocks

RESULTS = Path(__file__).parent / "results" / "vosh_flips.csv"
DATA = Path(__file__).parents[2] / "shared/data"
CORPORA = {
    "award abstracts": [f"nsf_awards/{year}.parquet" for year in range(2007, 2013)],
    "sections of codes": ["civil_procedure_sections"],
    "package descriptions": ["debian_descriptions"],
}
SHARES = (0.5, 0.8, 1.0)
MOST = 4000  # pairs of a corpus at one distance


def texts(paths):
    files = [file for path in paths for file in (sorted((DATA / path).glob("*.parquet")) if (DATA / path).is_dir() else [DATA / path])]
    return pa.concat_tables(pq.read_table(file, columns=["text"]) for file in files if "text" in pq.read_schema(file).names)["text"].to_pylist()


def ranks(costs, differing, h):
    """At which subset of h bits each pair comes: one more than the number of subsets that cost less."""
    chosen = np.array(list(combinations(range(64), h)))
    result = np.empty(len(costs), np.int64)
    for i, row in enumerate(costs):
        sums = row[chosen].sum(axis=1)
        result[i] = 1 + (sums < row[np.flatnonzero(differing[i])].sum() - 1e-9).sum()
    return result


def main() -> int:
    if not DATA.exists():
        sys.exit(f"{DATA} is absent: this benchmark needs its texts")
    rows = []
    for name, paths in CORPORA.items():
        found = twinset.SimHash().sketch(texts(paths), keep=True)
        pairs = Blocks(found).join()
        distance = found.distance(pairs.left, pairs.right)
        learning = pairs.left % 2 == 0
        near = learning & (distance > 0)
        _, once = np.unique(pairs.left[near], return_index=True)
        flips = Flips.learn(found.projections[pairs.left[near][once]], found.projections[pairs.right[near][once]])
        for h in (1, 2, 3):
            chosen = np.flatnonzero(~learning & (distance == h))
            chosen = chosen[np.unique(pairs.left[chosen], return_index=True)[1]][:MOST]
            left, right = pairs.left[chosen], pairs.right[chosen]
            log = flips.log(found.projections[left])
            needed = ranks(np.log1p(-np.exp(log)) - log, (found.projections[left] >= 0) != (found.projections[right] >= 0), h)
            for share in SHARES:
                took, every = int(np.quantile(needed, share, method="higher")), comb(64, h)
                row = {"corpus": name, "distance": h, "pairs": len(needed), "share": share}
                rows.append({**row, "flips": took, "random": int(share * every), "ratio": round(share * every / took, 1)})
                print(rows[-1], flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
