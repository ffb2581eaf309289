"""Which search serves a set of documents best, and why: one sentence that a person can check."""

import math
from dataclasses import dataclass

from twinset.errors import BadOption, UnreachableRecall
from twinset.estimate.banding import choose_banding
from twinset.layout import parse

SEARCHES = ("exact", "scan", "bands", "blocks", "volatile")
ALLOWED = f"allowed: auto, {', '.join(SEARCHES)}"
BANDS_LAYOUT = ("8", 128)  # a band of six samples has 48 bits: enough to keep millions of strangers apart
SCAN_LAYOUT = ("1", 1024)
SIMILAR_SIZES = 0.5  # about the share of pairs whose sizes allow a resemblance of 0.8
PAIRS_A_SECOND = 5e9  # that a thread scans (benchmarks/scan_speed.py)
EXACT_BYTES = 32  # for each shingle while they are joined, beside the 8 that are there
QUICK = 2.0  # seconds that a complete search may take longer than the fastest and still be preferred
EXACT_SECONDS = 5e-8  # for each shingle and thread (benchmarks/exact_speed.py): numbering them; look-ups count only at low thresholds
MOST_RECALL = 1 - 1e-9
MANY = 1_000_000  # documents from which on the exact join's time for each shingle grows
LANE_SECONDS = 4e-11  # to sketch, for each shingle and sample (benchmarks/text_speed.py)


@dataclass(frozen=True)
class Choice:
    """A search, the sketch it wants, and the reason."""

    search: str
    bits: str
    samples: int
    why: str


def choose(search: str, documents: int, shingles: int, threshold: float, recall: float, memory: int | None = None, *, threads: int = 1) -> Choice:
    """The search asked for, or for "auto" the one for so many distinct documents with so many shingles in all.

    A complete search is preferred while it costs about as little; `memory` in bytes rules out what does not fit.
    """
    if search != "auto":
        if search not in SEARCHES:
            raise BadOption(f"search is {search!r}; {ALLOWED}")
        return Choice(search, *(SCAN_LAYOUT if search == "scan" else BANDS_LAYOUT), why=f"{search}, as asked for")
    size = f"{documents:,} distinct documents with {shingles:,} shingles at threshold {threshold:g}"
    exact, scan, bands = _seconds(documents, shingles, threshold, recall, threads)
    fits = memory is None or EXACT_BYTES * shingles <= memory
    if fits and exact <= QUICK + min(scan, bands):
        return Choice("exact", *BANDS_LAYOUT, why=f"exact: for {size} a join that misses nothing takes about {exact:.1g} s")
    because = f"an exact join would take about {exact:.2g} s" if fits else f"an exact join would need about {EXACT_BYTES * shingles >> 20} MiB of the {(memory or 0) >> 20} allowed"
    if scan <= bands:
        return Choice("scan", *SCAN_LAYOUT, why=f"scan: for {size} {because}, comparing every two sketches about {scan:.2g} s")
    return Choice("bands", *BANDS_LAYOUT, why=f"bands: for {size} {because}, comparing every two sketches about {scan:.2g} s, banding about {bands:.2g} s")


def _seconds(documents: int, shingles: int, threshold: float, recall: float, threads: int) -> tuple[float, float, float]:
    """Rough times of exact, scan and bands. An exact join's look-ups grow fast with the share of a set that its prefix is, 1 - threshold, and with the rows of a token."""
    exact = EXACT_SECONDS * shingles * (1 + ((1 - threshold) / 0.6) ** 6) * max(1.0, documents / MANY)
    scan = documents**2 / 2 * SIMILAR_SIZES / PAIRS_A_SECOND + LANE_SECONDS * SCAN_LAYOUT[1] * shingles
    try:
        banding = choose_banding(parse(*BANDS_LAYOUT), threshold, min(recall, MOST_RECALL), documents=max(documents, 2)).cost
    except UnreachableRecall:
        banding = math.inf
    return exact / threads, scan / threads, (banding + LANE_SECONDS * BANDS_LAYOUT[1] * shingles) / threads
