"""The verb `pairs`: documents to verified pairs, with a certificate of what was missed.

Documents with the same shingles are one document to the search: their pairs are written out from classes of equal documents when `Pairs.table` is asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.columns import Column, column
from twinset.documents.shingles import Shingler, Shingles
from twinset.documents.tables import ID_NAME, text_column_of
from twinset.errors import BadInput, BadOption, TooManyPairs
from twinset.estimate.certificate import Certificate
from twinset.estimate.probability import Floats
from twinset.parallel import thread_count
from twinset.rows import Rows
from twinset.search.candidates import Candidates
from twinset.search.choosing import choose, choose_sketched
from twinset.search.finding import check, find
from twinset.search.verifying import Verified
from twinset.sketch.fingerprints import Fingerprints
from twinset.sketch.sketches import Sketches

Stage = Callable[[str, int, int], None]  # what is being done, units of it done, and in all; it may raise to cancel
LARGEST = 1 << 28  # pairs in a table: 18 GB
COLUMNS = ("resemblance", "low", "high", "containment_left", "containment_right")


@dataclass(frozen=True)
class Pairs:
    """The verified pairs of a set of documents. `first` holds for each row the first row with the same shingles; `hits` are pairs of such first rows."""

    first: Rows
    sizes: Rows  # shingles of each row: 0 for a document that is empty and in no pair
    lengths: Rows  # bytes of each text; 0 where only sketches were at hand
    hits: Verified
    certificate: Certificate
    why: str  # which search this was, and why
    about: str  # at which settings
    documents: pa.Table | None = None  # the caller's table
    malformed: int = 0  # UTF-8 sequences replaced by U+FFFD
    alike: Floats | None = None  # the least resemblance, at the level, of a row with its equals, where only their sketches are known to be equal

    def __len__(self) -> int:
        """The number of pairs, those among equal documents included."""
        members = np.bincount(self.first, minlength=len(self.first))
        members[self.sizes == 0] = 0
        between = members[self.hits.pairs.left] * members[self.hits.pairs.right]
        return int(between.sum() + (members * (members - 1) // 2).sum())

    def counted(self) -> "Pairs":
        """The same with the pairs of equal documents, which no search misses, among those that the certificate counts as found; no more can be missed than are left."""
        full, said = len(self.sizes) - self.empty, self.certificate
        left = full * (full - 1) // 2 - len(self)
        missed, low, high = min(said.missed, float(left)), min(said.missed_low, left), min(said.missed_high, left)
        return replace(self, certificate=replace(said, found=len(self), missed=missed, missed_low=low, missed_high=high))

    @property
    def empty(self) -> int:
        """Documents without a shingle."""
        return int(np.count_nonzero(self.sizes == 0))

    @cached_property
    def table(self) -> pa.Table:
        """Every pair: left, right (row numbers, left < right), resemblance, low, high, exact, containment_left, containment_right; ascending."""
        if len(self) > LARGEST:
            raise TooManyPairs(
                f"there are {len(self):,} pairs, most of them among equal documents; allowed in a table: {LARGEST:,}; `distinct` has the pairs of distinct documents"
            )
        return _table(_expanded(self.hits, self.first, self.sizes, self.alike))

    @cached_property
    def distinct(self) -> pa.Table:
        """The pairs of distinct documents only, each named by the first row that has its shingles: the same columns."""
        return _table(self.hits)


def pairs(
    documents: Any,
    *,
    threshold: float = 0.8,
    search: str = "auto",
    recall: float = 0.99,
    level: float = 0.95,
    distance: int = 3,
    memory: int | None = None,
    text_column: str | None = None,
    threads: int | None = None,
    strict: bool = False,
    progress: Stage | None = None,
    config: Config | None = None,
    **options: Any,
) -> Pairs:
    """Find the pairs of documents whose resemblance is `threshold` or more: `pairs(texts, threshold=0.8, shingle="words:5")`.

    `documents` is a list of str, an Arrow string array, an Arrow table with a text column, or Sketches. Candidates are verified by their exact resemblance, of
    Sketches by its estimate. `search` is exact, scan, bands, blocks, volatile, or auto, which takes the cheapest that finds a pair at the threshold with
    probability `recall`; the result's `why` says which and why. `distance` is for blocks and volatile, which find SimHash fingerprints that differ in at
    most so many bits. `level` is the confidence of intervals; `memory` in bytes bounds what "auto" chooses. The other options are those of Config.
    """
    _check_numbers(threshold, recall, level, memory)
    _check_options(documents, config, options)
    if isinstance(documents, Sketches):
        return _of_sketches(documents, search, threshold, recall, level, threads, progress)
    chosen = Config(**options) if config is None else config
    suited = config is None and not {"bits", "samples"} & set(options)  # the sketch may be the search's own
    if search != "auto":
        asked = choose(search, 0, 0, threshold, recall)
        check(search, (replace(chosen, bits=asked.bits, samples=asked.samples) if suited else chosen).layout, threshold, recall, distance)
    texts, table = _texts(documents, text_column)
    shingler = Shingler(chosen, strict)
    shingles = shingler.shingle(texts, threads)
    first, rows, distinct = _distinct(shingles)
    choice = choose(search, len(rows), len(distinct.values), threshold, recall, memory, threads=thread_count(threads))
    if suited:
        chosen = replace(chosen, bits=choice.bits, samples=choice.samples)
    weight = np.bincount(first, minlength=len(first))[rows]
    found = find(choice.search, distinct, chosen, threshold, recall, weight, level=level, distance=distance, threads=threads, progress=progress)
    result = Pairs(first, shingles.sizes, np.diff(texts.offsets), found.hits.at(rows), found.certificate, choice.why, found.about, table, shingler.malformed)
    return result.counted()


def _check_numbers(threshold: float, recall: float, level: float, memory: int | None) -> None:
    for name, share in (("threshold", threshold), ("recall", recall)):
        if not 0 < share <= 1:
            raise BadOption(f"{name} is {share}; allowed: above 0, at most 1")
    if not 0 < level < 1:
        raise BadOption(f"level is {level}; allowed: above 0, below 1")
    if memory is not None and not memory > 0:
        raise BadOption(f"memory is {memory}; allowed: a number of bytes above 0")


def _check_options(documents: Any, config: Config | None, options: dict[str, Any]) -> None:
    """Refuse options that would have no effect, and what is no documents."""
    if isinstance(documents, Fingerprints):
        raise BadInput("documents are SimHash fingerprints; allowed: texts, a table or Sketches; fingerprints are searched by search.blocks and search.volatile")
    given = [*options, *(["config"] if config is not None else [])]
    if isinstance(documents, Sketches) and given:
        raise BadOption(f"{', '.join(given)} cannot be chosen for sketches, which were made under {documents.config}; allowed: texts, or no such option")
    if config is not None and options:
        raise BadOption(f"config and {', '.join(options)} are both given; allowed: config, or options of its own")


def _of_sketches(sketches: Sketches, search: str, threshold: float, recall: float, level: float, threads: int | None, progress: Stage | None) -> Pairs:
    """Pairs judged by the sketches alone."""
    sizes, ids = sketches.sizes.counts(), sketches.ids
    table = None if ids is None else pa.table({ID_NAME: ids})
    if table is not None:
        check_names(table.column(ID_NAME))
    first = sketches.first_equal()
    rows = np.flatnonzero((first == np.arange(len(first))) & (sizes > 0))
    choice = choose_sketched(search, len(rows), sketches.config.layout, threshold, recall, threads=thread_count(threads))
    weight = np.bincount(first, minlength=len(first))[rows]
    found = find(choice.search, sketches[rows], sketches.config, threshold, recall, weight, level=level, threads=threads, progress=progress)
    alike, repeated = np.ones(len(first)), rows[weight > 1]
    alike[repeated] = sketches.resemblance(repeated, repeated, level=level).low
    whole, unknown = np.rint(sizes).astype(np.int64), np.zeros(len(first), np.int64)
    return Pairs(first, whole, unknown, found.hits.at(rows), found.certificate, choice.why, found.about, table, alike=alike).counted()


def _texts(documents: Any, text_column: str | None) -> tuple[Column, pa.Table | None]:
    if isinstance(documents, (pa.Table, pa.RecordBatch)):
        table = pa.table(documents) if isinstance(documents, pa.Table) else pa.Table.from_batches([documents])
        if ID_NAME in table.column_names:
            check_names(table.column(ID_NAME))
        return column(table.column(text_column_of("the table", table.schema, text_column))), table
    return column(documents), None


def check_names(ids: pa.ChunkedArray) -> None:
    """Refuse names that two documents have."""
    counts = ids.value_counts()
    if len(counts) < len(ids):
        twice = counts.filter(pc.greater(counts.field("counts"), 1))[0].as_py()["values"]
        raise BadInput(f"the id {twice!r} names more than one document; allowed: ids that differ, or a table without the column {ID_NAME!r}")


def _distinct(shingles: Shingles) -> tuple[Rows, Rows, Shingles]:
    """The first equal row of each row, the rows that are their own and not empty, and their shingles."""
    first = shingles.first_equal()
    rows = np.flatnonzero((first == np.arange(len(first))) & (shingles.sizes > 0))
    return first, rows, shingles if len(rows) == len(shingles) else shingles.take(rows)


def _expanded(hits: Verified, first: Rows, sizes: Rows, alike: Floats | None) -> Verified:
    """From pairs of first rows to those of all rows, ascending."""
    members = np.argsort(first, kind="stable")
    count = np.bincount(first, minlength=len(first))
    begin = np.cumsum(count) - count
    left, right, of = _products(hits.pairs, members, begin, count)
    equal_left, equal_right = _among_equals(members, begin, np.where(sizes > 0, count, 0))
    columns = {name: np.concatenate([getattr(hits, name)[of], np.ones(len(equal_left))]) for name in COLUMNS}
    if alike is not None:
        columns["low"][len(of) :] = alike[first[equal_left]]
    swapped = np.concatenate([left > right, np.zeros(len(equal_left), bool)])
    ways = columns["containment_left"], columns["containment_right"]
    columns["containment_left"], columns["containment_right"] = np.where(swapped, ways[1], ways[0]), np.where(swapped, ways[0], ways[1])
    left, right = np.concatenate([left, equal_left]), np.concatenate([right, equal_right])
    pairs = Candidates(np.minimum(left, right), np.maximum(left, right))
    order = np.lexsort((pairs.right, pairs.left))
    exact = np.concatenate([hits.exact[of], np.full(len(equal_left), alike is None)])
    return Verified(pairs[order], exact=exact[order], **{name: values[order] for name, values in columns.items()})


def _products(pairs: Candidates, members: Rows, begin: Rows, count: Rows) -> tuple[Rows, Rows, Rows]:
    """Every member of one side with every member of the other, and the number of the pair they come from."""
    wide, many = count[pairs.right], count[pairs.left] * count[pairs.right]
    of = np.repeat(np.arange(len(pairs)), many)
    place = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
    return members[begin[pairs.left[of]] + place // wide[of]], members[begin[pairs.right[of]] + place % wide[of]], of


def _among_equals(members: Rows, begin: Rows, count: Rows) -> tuple[Rows, Rows]:
    """Every two members of each class: the i-th member is the right one of i pairs."""
    held = np.diff(np.append(begin, len(members)))
    rank = np.where(np.repeat(count, held) > 0, np.arange(len(members)) - np.repeat(begin, held), 0)
    right = np.repeat(np.arange(len(members)), rank)
    place = np.arange(len(right)) - np.repeat(np.cumsum(rank) - rank, rank)
    return members[right - rank[right] + place], members[right]


def _table(hits: Verified) -> pa.Table:
    columns: dict[str, NDArray[Any]] = {"left": hits.pairs.left, "right": hits.pairs.right}
    columns |= {"resemblance": hits.resemblance, "low": hits.low, "high": hits.high, "exact": hits.exact}
    return pa.table(columns | {"containment_left": hits.containment_left, "containment_right": hits.containment_right})
