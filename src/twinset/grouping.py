"""The verb `groups`: verified pairs to stars around the documents that are kept, so that nothing is removed without a kept witness (promise P2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinset.errors import BadInput, BadOption, MissingColumn
from twinset.kernels import graph
from twinset.pairing import Pairs

KEEPS = ("first", "longest", "newest", "highest", "lowest")
ALLOWED = f"allowed: {', '.join(KEEPS)}, or an array with a score for each document"
DATES = ("date", "time", "timestamp", "created", "updated", "published", "year")
KINDS = ("stars", "components")

Rows = NDArray[np.int64]


def groups(found: Pairs, *, keep: Any = "first", by: str | None = None, kind: str = "stars") -> pa.Table:
    """Who stays, and for everyone else the kept document that stands for it: columns id, group, keep, witness, resemblance, a row for each document.

    `keep` orders the documents: "first" row, "longest" text, "newest" (latest of column `by`, by default a date, time or year), "highest" or "lowest" of column
    `by`, or an array of scores, of which higher is better; ties go to the earlier row. In that order a document is kept unless a kept one is its pair. So no two
    kept documents are a found pair, and every other one has a verified pair with its `witness`, the kept document it resembles most; `group` is that document's
    row. Neither depends on the order of pairs. kind="components" groups whatever chains of pairs connect instead: the best document of each is kept, and the
    witness is any document next to it on such a chain, or itself.
    """
    if not isinstance(found, Pairs):
        raise BadInput(f"found is a {type(found).__name__}; allowed: what twinset.pairs gives")
    if kind not in KINDS:
        raise BadOption(f"kind is {kind!r}; allowed: {', '.join(KINDS)}")
    order = ordering(found, keep, by)
    classes = _classes(found, order)
    count = len(classes.best)
    links = np.empty(count + 1, np.int64), np.empty(2 * len(classes.left), np.int64), np.empty(2 * len(classes.left), np.int64)
    graph.adjacency(classes.left, classes.right, *links)
    leading = np.empty(count, bool)
    if kind == "stars":
        graph.independent(classes.order, links[0], links[1], leading)
        return _table(found, classes, *_centres(found, classes, links, leading, leading))
    root = np.empty(count, np.int64)
    graph.components(classes.left, classes.right, root)
    best = np.full(count, count)
    np.minimum.at(best, root, classes.rank)
    centre = classes.order[best[root]] if count else root
    leading = centre == np.arange(count)
    witness, resemblance = _centres(found, classes, links, leading, np.ones(count, bool))
    return _table(found, classes, witness, resemblance, centre)


@dataclass(frozen=True)
class _Classes:
    """Equal documents: `of` numbers the class of each row, `best` is the row of each class that comes first, and classes stand in `order` by that row."""

    of: Rows
    best: Rows
    order: Rows
    rank: Rows  # the place of each class in that order
    left: Rows  # of each pair
    right: Rows


def _classes(found: Pairs, order: Rows) -> _Classes:
    rows = np.arange(len(found.first))
    firsts, of = np.unique(np.where(found.sizes > 0, found.first, rows), return_inverse=True)  # an empty document equals none
    place = np.empty(len(rows), np.int64)
    place[order] = rows
    lowest = np.full(len(firsts), len(rows))
    np.minimum.at(lowest, of, place)
    classes = np.argsort(lowest, kind="stable")
    rank = np.empty(len(firsts), np.int64)
    rank[classes] = np.arange(len(firsts))
    return _Classes(of, order[lowest], classes, rank, of[found.hits.pairs.left], of[found.hits.pairs.right])


def _centres(found: Pairs, classes: _Classes, links: tuple[Rows, Rows, Rows], leading: NDArray[np.bool_], standing: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.float64]]:
    """For each class its closest one among those standing, and how much they resemble each other; leading ones have themselves."""
    witness = np.empty(len(leading), np.int64)
    graph.witnesses(classes.rank, *links, found.hits.resemblance, leading, standing, witness)
    own = np.arange(len(leading))
    if not len(classes.left):
        return own, np.ones(len(own))
    pair = np.maximum(witness, 0)
    other = classes.left[pair] + classes.right[pair] - own
    return np.where(witness < 0, own, other), np.where(witness < 0, 1.0, found.hits.resemblance[pair])


def _table(found: Pairs, classes: _Classes, witness: Rows, resemblance: NDArray[np.float64], centre: Rows | None = None) -> pa.Table:
    """From classes to rows: a repeat of the best row of its class has that as its witness if it is kept or centres are not all there is, else the class's witness."""
    rows, group = np.arange(len(classes.of)), classes.best[witness if centre is None else centre][classes.of]
    seen, alike = classes.best[witness][classes.of], resemblance[classes.of]
    if centre is not None:
        repeats = classes.best[classes.of] != rows
        seen, alike = np.where(repeats, classes.best[classes.of], seen), np.where(repeats, 1.0, alike)
    ids = pa.array(rows) if found.documents is None or "id" not in found.documents.column_names else found.documents.column("id")
    return pa.table({"id": ids, "group": group, "keep": group == rows, "witness": seen, "resemblance": alike})


def ordering(found: Pairs, keep: Any = "first", by: str | None = None) -> Rows:
    """The rows, best first, by a rule of `groups`."""
    if not isinstance(keep, str):
        return _highest(_scores(keep, len(found.first)))
    name = judged_by(keep, by, [] if found.documents is None else found.documents.column_names)
    if keep == "first":
        return np.arange(len(found.first))
    if keep == "longest":
        if not found.lengths.any() and found.sizes.any():
            raise BadOption("keep is 'longest', but sketches do not hold the lengths of texts; allowed for sketches: first, or an array of scores")
        return _highest(found.lengths.astype(np.float64))
    assert found.documents is not None
    direction = "ascending" if keep == "lowest" else "descending"
    table = pa.table({"by": found.documents.column(name)})
    return np.asarray(pc.sort_indices(table, sort_keys=[("by", direction)]).to_numpy().astype(np.int64))  # stable; nulls last


def judged_by(keep: str, by: str | None, names: list[str]) -> str | None:
    """The column, among those there are, that a rule goes by; None for first and longest."""
    if keep not in KEEPS:
        raise BadOption(f"keep is {keep!r}; {ALLOWED}")
    if keep in ("first", "longest"):
        if by is not None:
            raise BadOption(f"by is {by!r}, and keep is {keep!r}, which goes by no column; allowed: by= with newest, highest or lowest")
        return None
    wanted = (by,) if by else DATES if keep == "newest" else ()
    if not wanted:
        raise BadOption(f"keep is {keep!r} without a column; allowed: by= the name of one")
    chosen = next((name for name in wanted if name in names), None)
    if chosen is None:
        raise MissingColumn(f"keep {keep!r} needs a column {' or '.join(map(repr, wanted))}; the documents have {', '.join(names) or 'no columns'}; allowed: one of these, by=")
    return chosen


def _highest(scores: NDArray[np.float64]) -> Rows:
    return np.argsort(-scores, kind="stable")


def _scores(keep: Any, rows: int) -> NDArray[np.float64]:
    try:
        scores = np.asarray(keep, np.float64)
    except (TypeError, ValueError):
        raise BadOption(f"keep is a {type(keep).__name__}; {ALLOWED}") from None
    if scores.shape != (rows,) or np.isnan(scores).any():
        raise BadOption(f"keep has shape {scores.shape} and {int(np.isnan(scores).sum())} NaN for {rows} documents; allowed: one number for each")
    return scores
