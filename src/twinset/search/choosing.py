"""Which search serves a set of documents best, and why: one sentence that a person can check."""

import math
from dataclasses import dataclass

from twinset.errors import BadOption, UnreachableRecall
from twinset.estimate.banding import choose_banding
from twinset.layout import Layout, parse

SEARCHES = ("exact", "scan", "bands", "blocks", "volatile")
ALLOWED = f"allowed: auto, {', '.join(SEARCHES)}"
BANDS_LAYOUT = ("8", 128)  # a band of six samples has 48 bits: enough to keep millions of strangers apart
SCAN_LAYOUT = ("1", 1024)
SIMILAR_SIZES = 0.5  # of pairs, assumed to have sizes that allow the threshold
PAIRS_A_SECOND = 5e9  # that a thread scans (benchmarks/scan_speed.py)
EXACT_BYTES = 16  # for each shingle while they are joined, beside the 8 that are there: measured, 0.2 GB beside 15 million
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
    needed = EXACT_BYTES * shingles
    fits = memory is None or needed <= memory
    if recall > MOST_RECALL:
        if not fits:
            raise BadOption(f"recall is {recall}, and only an exact join finds so much, which would need about {needed:,} bytes of memory; allowed: a lower recall, or more memory")
        return Choice("exact", *BANDS_LAYOUT, why=f"exact: at recall {recall:g} only a join that misses nothing will do")
    size = f"{documents:,} distinct documents with {shingles:,} shingles at threshold {threshold:g}"
    exact, scan, bands = _seconds(documents, shingles, threshold, recall, threads)
    if fits and exact <= QUICK + min(scan, bands):
        return Choice("exact", *BANDS_LAYOUT, why=f"exact: for {size} a join that misses nothing takes about {exact:.1g} s")
    because = f"an exact join would take about {exact:.2g} s" if fits else f"an exact join would need about {needed:,} bytes of the {memory:,} allowed"
    if scan <= bands:
        return Choice("scan", *SCAN_LAYOUT, why=f"scan: for {size} {because}, comparing every two sketches about {scan:.2g} s, {_banding(bands)}")
    return Choice("bands", *BANDS_LAYOUT, why=f"bands: for {size} {because}, comparing every two sketches about {scan:.2g} s, {_banding(bands)}")


def choose_sketched(search: str, sketches: int, layout: Layout, threshold: float, recall: float, *, threads: int = 1) -> Choice:
    """The search asked for, or for "auto" the faster one for so many distinct sketches of this layout, whose texts are not at hand."""
    if search not in ("auto", "scan", "bands"):
        raise BadOption(f"search is {search!r}; allowed for sketches: scan, bands or auto")
    chosen, why = search, f"{search}, as asked for"
    if search == "auto":
        scan, bands = _scan_seconds(sketches) / threads, _banding_seconds(layout, sketches, threshold, recall) / threads
        chosen = "scan" if scan <= bands else "bands"
        why = f"{chosen}: for {sketches:,} distinct sketches at threshold {threshold:g} comparing every two would take about {scan:.2g} s, {_banding(bands)}"
    return Choice(chosen, layout.text, layout.samples, why)


def _banding(seconds: float) -> str:
    return f"banding about {seconds:.2g} s" if seconds < math.inf else "and no banding finds as much"


def _seconds(documents: int, shingles: int, threshold: float, recall: float, threads: int) -> tuple[float, float, float]:
    """Rough times of exact, scan and bands. An exact join's look-ups grow fast with the share of a set that its prefix is, 1 - threshold, and with the rows of a token."""
    exact = EXACT_SECONDS * shingles * (1 + ((1 - threshold) / 0.6) ** 6) * max(1.0, documents / MANY)
    scan = _scan_seconds(documents) + LANE_SECONDS * SCAN_LAYOUT[1] * shingles
    bands = _banding_seconds(parse(*BANDS_LAYOUT), documents, threshold, recall) + LANE_SECONDS * BANDS_LAYOUT[1] * shingles
    return exact / threads, scan / threads, bands / threads


def _scan_seconds(rows: int) -> float:
    return rows**2 / 2 * SIMILAR_SIZES / PAIRS_A_SECOND


def _banding_seconds(layout: Layout, rows: int, threshold: float, recall: float) -> float:
    try:
        return choose_banding(layout, threshold, recall, documents=max(rows, 2)).cost
    except UnreachableRecall:
        return math.inf
