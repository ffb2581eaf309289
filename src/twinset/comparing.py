"""The verbs `compare` and `exact`: texts against texts."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from twinset.config import Config
from twinset.documents.columns import column
from twinset.documents.shingles import Shingler, Shingles, shingle
from twinset.rows import aligned
from twinset.sketch.minhash import MinHash


@dataclass(frozen=True)
class Comparison:
    """What two documents share. Containments, sizes and `exact` are counted; `resemblance` and its interval are what the sketches alone would say."""

    resemblance: float
    low: float
    high: float
    raw: float  # unbiased; may lie outside [0, 1]
    exact: float
    containment_left: float  # the share of the left document's shingles that the right one has too
    containment_right: float
    shared: int
    size_left: int  # distinct shingles
    size_right: int
    level: float  # of the interval
    malformed_left: int  # UTF-8 sequences that were replaced by U+FFFD
    malformed_right: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare(left: str | bytes, right: str | bytes, *, level: float = 0.95, strict: bool = False, config: Config | None = None, **options: Any) -> Comparison:
    """Say how much two documents share: `compare(a, b, bits="1.5", samples=1024, shingle="words:5", seed=42)`, or one `config` instead of the options.

    `level` is the confidence of the interval; `strict` refuses malformed UTF-8 instead of replacing it by U+FFFD.
    """
    sketcher = MinHash(config, **options)
    (one, bad_left), (other, bad_right) = (_shingled(text, sketcher.config, strict) for text in (left, right))
    both = one.followed_by(other)
    found = sketcher.sketch_shingles(both, threads=1).resemblance(0, 1, level=level)
    pair = np.array([0]), np.array([1])
    shared, (size_left, size_right) = int(both.shared(*pair, threads=1)[0]), both.sizes.tolist()
    return Comparison(
        resemblance=float(found.value[0]),
        low=float(found.low[0]),
        high=float(found.high[0]),
        raw=float(found.raw[0]),
        exact=float(both.resemblance(*pair, threads=1)[0]),
        containment_left=shared / max(size_left, 1),
        containment_right=shared / max(size_right, 1),
        shared=shared,
        size_left=size_left,
        size_right=size_right,
        level=level,
        malformed_left=bad_left,
        malformed_right=bad_right,
    )


def exact(left: ArrayLike, right: ArrayLike, texts: Any, *, threads: int | None = None, config: Config | None = None, **options: Any) -> NDArray[np.float64]:
    """The exact resemblance of texts left[i] and right[i], from their shingles: `exact([0, 5], [1, 9], texts, shingle="words:5")`.

    One row goes with an array of rows. An empty document resembles nothing.
    """
    shingles = shingle(texts, Config(**options) if config is None else config, threads=threads)
    return shingles.resemblance(*aligned(left, len(shingles), right, len(shingles)), threads=threads)


def _shingled(text: str | bytes, config: Config, strict: bool) -> tuple[Shingles, int]:
    shingler = Shingler(config, strict)
    shingles = shingler.shingle(column(pa.array([text], pa.large_binary()) if isinstance(text, bytes) else [text]), threads=1)
    return shingles, shingler.malformed
