"""The order of the steps, from files to files: the only place that knows it."""

from twinset.pipeline.deduping import Deduped, dedup
from twinset.pipeline.scanning import Scanned, scan
from twinset.pipeline.sketching import Sketched, sketch

__all__ = ["Deduped", "Scanned", "Sketched", "dedup", "scan", "sketch"]
