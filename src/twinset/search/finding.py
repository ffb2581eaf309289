"""Candidates, verification, certificate: the same steps under every search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.config import Config, SimConfig
from twinset.documents.shingles import Shingles
from twinset.estimate import certificate as formulas
from twinset.estimate.angle import differing
from twinset.estimate.banding import choose_banding
from twinset.estimate.certificate import Certificate, certify
from twinset.estimate.probability import Floats, agreement
from twinset.estimate.sequential import binomial, cut
from twinset.kernels import graph
from twinset.layout import Layout
from twinset.search.bands import MISS, Bands
from twinset.search.blocks import Blocks
from twinset.search.candidates import Candidates, Progress, Rows
from twinset.search.exact import ExactJoin
from twinset.search.runs import checked_distance
from twinset.search.scan import Scan
from twinset.search.verifying import Verified, by_counting, by_estimate
from twinset.search.volatile import Volatile
from twinset.sketch.minhash import MinHash
from twinset.sketch.simhash import SimHash
from twinset.sketch.sketches import Sketches

Stage = Callable[[str, int, int], None]
COUPLES = 400  # of pairs that share a document, from which the correlation of their samples is judged


@dataclass(frozen=True)
class Found:
    """What a search gave."""

    hits: Verified
    certificate: Certificate
    about: str


def find(
    search: str,
    data: Shingles | Sketches,
    config: Config,
    threshold: float,
    recall: float,
    weight: Rows,
    *,
    level: float = 0.95,
    distance: int = 3,
    threads: int | None = None,
    progress: Stage | None = None,
) -> Found:
    """The verified pairs among distinct, non-empty documents, each of which stands for `weight` equal ones."""
    told = (lambda stage: lambda done, total: progress(stage, done, total)) if progress else lambda stage: None
    if search in ("blocks", "volatile"):
        assert isinstance(data, Shingles)
        return _by_fingerprints(search, data, config, threshold, recall, weight, level, distance, threads, told("searching"))
    if search == "exact":
        assert isinstance(data, Shingles)
        join = ExactJoin(data, threshold)
        found = join.join_shared(threads=threads, progress=told("searching"))
        hits = by_counting(data, found.pairs, found.shared, threshold)
        return Found(hits, certify(threshold, 1.0, np.ones(len(hits)), _weights(weight, hits.pairs), level=level), join.about)
    sketches = data if isinstance(data, Sketches) else MinHash(config).sketch_shingles(data, threads=threads)
    searcher: Scan | Bands = Scan(sketches, threshold, recall=recall, miss=_miss(recall)) if search == "scan" else Bands(sketches, threshold, recall=recall)
    hits = _verified(data, searcher.join(threads=threads, progress=told("searching")), threshold, level, threads)
    return Found(hits, certificate(searcher, sketches, hits, threshold, weight, level), searcher.about)


def check(search: str, layout: Layout, threshold: float, recall: float, distance: int) -> None:
    """Refuse what the search itself would refuse, before any text is read."""
    if search == "scan":
        cut(layout, threshold, recall, _miss(recall))
    elif search == "bands":
        choose_banding(layout, threshold, recall)
    elif search in ("blocks", "volatile"):
        checked_distance(distance, SimConfig(weights="constant").bits)


def _miss(recall: float) -> float:
    """What early abandoning may lose: a part of what a scan may."""
    return min(MISS, (1 - recall) / 2)


def _verified(data: Shingles | Sketches, pairs: Candidates, threshold: float, level: float, threads: int | None) -> Verified:
    if isinstance(data, Sketches):
        return by_estimate(data, pairs, threshold, level)
    return by_counting(data, pairs, data.shared(pairs.left, pairs.right, threads=threads), threshold)


def _weights(weight: Rows, pairs: Candidates) -> Floats:
    return np.asarray(weight[pairs.left] * weight[pairs.right], np.float64)


def certificate(searcher: Scan | Bands, sketches: Sketches, hits: Verified, threshold: float, weight: Rows, level: float) -> Certificate:
    """From the detection of each pair, and how much more often pairs that share documents are missed together than chance has it."""
    found = np.maximum(searcher.detection(hits.resemblance), 1e-12)
    component = np.empty(len(sketches), np.int64)
    graph.components(hits.pairs.left, hits.pairs.right, component)
    correlation = sample_correlation(sketches, hits.pairs)

    def excess(similarity: Floats) -> Floats:
        missed = 1 - searcher.detection(similarity)
        return formulas.excess_missing(missed, _missed_together(searcher, similarity, missed, correlation))

    both = formulas.on_grid(hits.resemblance, threshold, excess)
    at_threshold = float(searcher.detection(threshold))
    return certify(threshold, at_threshold, found, _weights(weight, hits.pairs), level=level, component=component[hits.pairs.left], excess=both)


def _missed_together(searcher: Scan | Bands, similarity: Floats, missed: Floats, correlation: float) -> Floats:
    """The probability that two pairs of this resemblance are both missed, when their samples agree with this correlation."""
    if isinstance(searcher, Scan):
        return formulas.both_scans_missed(missed, correlation)
    both = np.ones(len(similarity))
    for (bands, rows), component in zip(searcher.banding.parts, searcher.banding.layout.components, strict=True):
        if bands:
            both = both * formulas.both_bands_missed(np.clip(agreement(component, similarity)[0], 0, 1), rows, bands, correlation)
    return both


def sample_correlation(sketches: Sketches, pairs: Candidates) -> float:
    """How the samples of two pairs that share a document go together: the correlation of their agreements, 0 where no two pairs share one."""
    order = np.argsort(pairs.left, kind="stable")
    left, right = pairs.left[order], pairs.right[order]
    couples = np.flatnonzero(left[1:] == left[:-1])
    couples = couples[:: max(1, len(couples) // COUPLES)][:COUPLES]
    if not len(couples):
        return 0.0
    shared, one, other = (sketches.samples(rows) for rows in (left[couples], right[couples], right[couples + 1]))
    first, second = shared == one, shared == other
    p, q = first.mean(), second.mean()
    spread = float((p * (1 - p) * q * (1 - q)) ** 0.5)
    return float(np.clip(((first & second).mean() - p * q) / spread, 0, 1)) if spread > 0 else 0.0


def _by_fingerprints(
    search: str, shingles: Shingles, config: Config, threshold: float, recall: float, weight: Rows, level: float, distance: int, threads: int | None, progress: Progress | None
) -> Found:
    """Pairs whose SimHash fingerprints differ in few bits, verified by their shingles. Constant weights, so that their cosine follows from what they share."""
    hasher = SimHash(SimConfig(weights="constant", seed=config.seed))
    prints = hasher.sketch_sets((shingles.values, shingles.offsets), keep=search == "volatile", threads=threads)
    searcher: Blocks | Volatile = Volatile(prints, distance, recall=recall) if search == "volatile" else Blocks(prints, distance, blocks=distance + 1)
    pairs = searcher.join(threads=threads, progress=progress)
    hits = _verified(shingles, pairs, threshold, level, threads)
    cosine = np.sqrt(hits.containment_left * hits.containment_right)
    within, at_threshold = (_near(each, prints.bits, searcher) for each in (cosine, np.array([2 * threshold / (1 + threshold)])))
    return Found(hits, certify(threshold, float(at_threshold[0]), within, _weights(weight, hits.pairs), level=level), searcher.about)


def _near(cosine: Floats, bits: int, searcher: Any) -> NDArray[np.float64]:
    """The probability that fingerprints at this cosine are found: S1's bits flip independently with probability theta / pi."""
    detection = np.asarray(searcher.detection(np.arange(bits + 1)), np.float64)
    points = np.linspace(0, 1, 401)
    chance = [float((binomial(bits, float(p)) * detection).sum()) for p in differing(points)]
    return np.maximum(np.interp(np.minimum(cosine, 1), points, chance), 1e-12)
