"""Who repeats whom: folders and tables of documents to a ranked list of pairs, with what they share.

read: texts, by confined workers · subtract: shingles of templates, and those in too many documents · search: every pair, none missed · rank · align passages.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.config import Config
from twinset.documents.corpus import Corpus
from twinset.documents.extracting import Limits, extract
from twinset.documents.folders import File, survey
from twinset.documents.shingles import Shingles, shingle
from twinset.documents.tables import is_table
from twinset.errors import BadInput, BadOption
from twinset.estimate.certificate import Certificate, certify
from twinset.kernels import graph
from twinset.passages import Located, Passage, Span, align, locate, template
from twinset.search.candidates import Candidates
from twinset.search.containment import ContainmentJoin
from twinset.search.exact import ExactJoin, Found
from twinset.search.verifying import Verified, by_counting

Progress = Callable[[str, int, int], None]
Rows = NDArray[np.int64]
MEASURES = ("containment", "resemblance")
SHARED_BY = 3  # documents at least that a shingle must be in to count as in too many


@dataclass(frozen=True)
class Document:
    """A document that was looked at: its text, or why there is none."""

    name: str
    text: str
    problem: str | None = None
    note: str | None = None
    old: bool = False


@dataclass(frozen=True)
class Scanned:
    """What a scan found. Pairs are ranked; rows are places in `documents`. Sizes and shares do not count the shingles that were ignored."""

    documents: tuple[Document, ...]
    sizes: Rows
    hits: Verified
    by: str
    threshold: float
    certificate: Certificate
    about: str
    ignored: NDArray[np.uint64]  # shingles left out as a template's
    config: Config
    skipped: dict[str, int] = field(default_factory=dict)  # files of no known kind, by suffix
    _located: dict[int, Located] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def groups(self) -> Rows:
        """For each document the first one that chains of pairs connect it with."""
        root = np.empty(len(self.documents), np.int64)
        graph.components(self.hits.pairs.left, self.hits.pairs.right, root)
        return root

    @property
    def problems(self) -> list[Document]:
        return [document for document in self.documents if document.problem]

    @property
    def empty(self) -> list[Document]:
        """Documents that were read and have nothing to compare: no letter or digit, or nothing that is not ignored."""
        return [document for document, size in zip(self.documents, self.sizes, strict=True) if not size and not document.problem]

    def passages(self, pair: int) -> list[Passage]:
        """What the two documents of a pair have in common, aligned; template text left out."""
        return align(self._locate(int(self.hits.pairs.left[pair])), self._locate(int(self.hits.pairs.right[pair])), self.ignored)

    def template(self, row: int) -> list[Span]:
        """The characters of a document that are a template's."""
        return template(self._locate(row), self.ignored)

    def table(self) -> pa.Table:
        """The pairs shape with the names of documents, ranked."""
        names = np.array([document.name for document in self.documents], object)
        hits = self.hits
        columns: dict[str, Any] = {"left": pa.array(names[hits.pairs.left], pa.string()), "right": pa.array(names[hits.pairs.right], pa.string())}
        columns |= {name: getattr(hits, name) for name in ("resemblance", "low", "high", "exact", "containment_left", "containment_right")}
        return pa.table(columns)

    def _locate(self, row: int) -> Located:
        if row not in self._located:
            self._located[row] = locate(self.documents[row].text, self.config)
        return self._located[row]


def scan(
    paths: Iterable[str | Path],
    *,
    by: str = "containment",
    threshold: float = 0.3,
    ignore: Iterable[str | Path] = (),
    max_share: float | None = None,
    old: Iterable[str | Path] = (),
    leave: Iterable[str | Path] = (),
    text_column: str | None = None,
    id_column: str | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    config: Config | None = None,
) -> Scanned:
    """Compare all documents with one another, and with the `old` ones: pairs of which `by` is the threshold or more, the greatest first.

    Containment is the share of one document that the other has, the greater of both ways. Shingles of the files `ignore`, and those in more than `max_share` of the
    documents (and in three at least), are left out. Both searches are complete: nothing at or above the threshold is missed. A file met among new and old ones is new;
    one met among the templates, or in `leave`, such as a file to be written, is no document.
    """
    if by not in MEASURES:
        raise BadOption(f"by is {by!r}; allowed: {', '.join(MEASURES)}")
    if max_share is not None and not 0 < max_share <= 1:
        raise BadOption(f"max_share is {max_share}; allowed: above 0, at most 1")
    told, chosen = progress or (lambda stage, done, total: None), config or Config()
    _searcher(by, Shingles(np.empty(0, np.uint64), np.zeros(1, np.int64)), threshold)  # a wrong threshold is said before any reading
    reader = _Reader(text_column, id_column, limits or Limits(), threads, told)
    given = _Given.find(paths, old, ignore, leave)
    templates = _templates(list(reader.read(given.templates, "templates")), chosen)
    before = [replace(each, old=True) for each in reader.read(given.old, "reading old")]
    documents = [*before, *reader.read(given.new, "reading")]
    shingles = shingle([each.text for each in documents], chosen, threads=threads)
    ignored = np.union1d(templates, _frequent(shingles, max_share))
    reduced = _without(shingles, ignored)
    searcher = _searcher(by, reduced, threshold)
    found = _search(searcher, reduced, len(before), threads, lambda done, total: told("comparing", done, total))
    hits = by_counting(reduced, found.pairs, found.shared, 0.0)
    ranked = _ranked(hits, by)
    said = certify(threshold, 1.0, np.ones(len(hits)), np.ones(len(hits)))
    return Scanned(tuple(documents), reduced.sizes, ranked, by, threshold, said, searcher.about, ignored, chosen, given.skipped)


@dataclass(frozen=True)
class _Given:
    """The files that were asked for. Names are unique among the new and the old ones."""

    new: list[File]
    old: list[File]
    templates: list[File]
    skipped: dict[str, int]

    @classmethod
    def find(cls, paths: Iterable[str | Path], old: Iterable[str | Path], ignore: Iterable[str | Path], leave: Iterable[str | Path]) -> "_Given":
        now, before, templates = [Path(path) for path in paths], [Path(path) for path in old], survey(map(Path, ignore)).files
        out = {Path(path).resolve() for path in leave} | {file.path.resolve() for file in templates}
        every = survey([*now, *before])
        fresh = {file.path for file in (survey(now) if before else every).files}
        files = [file for file in every.files if not out or file.path.resolve() not in out]
        if not any(file.path in fresh for file in files):
            raise BadInput(f"{', '.join(map(str, now)) or 'nothing'} holds no document; allowed: folders with some, files, or tables of texts")
        return cls([file for file in files if file.path in fresh], [file for file in files if file.path not in fresh], templates, dict(every.ignored))


@dataclass(frozen=True)
class _Reader:
    """Reads files of documents, and tables of them, by the names of columns."""

    text_column: str | None
    id_column: str | None
    limits: Limits
    threads: int | None
    told: Progress

    def read(self, files: list[File], stage: str) -> Iterator[Document]:
        """All documents of files, and of tables among them, in this order."""
        single = [file for file in files if not is_table(file.path)]
        texts = extract(single, workers=self.threads, limits=self.limits, progress=lambda done, total: self.told(stage, done, total))
        for file in files:
            if is_table(file.path):
                yield from self._rows(file)
            else:
                each = next(texts)
                yield Document(file.name, each.text, each.problem, each.note)
        next(texts, None)  # the last of them is told of, and the workers end

    def _rows(self, file: File) -> Iterator[Document]:
        corpus = Corpus.open([file.path], text_column=self.text_column, id_column=self.id_column)
        texts = [text or "" for _, batch in corpus.texts() for text in batch.to_pylist()]
        name = corpus.sources[0].id
        ids = range(len(texts)) if name is None else corpus.column(name).to_pylist()
        for row, text in zip(ids, texts, strict=True):
            yield Document(f"{file.name}#{row}", text if isinstance(text, str) else text.decode("utf-8", "replace"))


def _templates(documents: list[Document], config: Config) -> NDArray[np.uint64]:
    bad = next((each for each in documents if each.problem), None)
    if bad:
        raise BadInput(f"the template {bad.name} cannot be read ({bad.problem}); allowed: a document with text")
    return np.unique(shingle([each.text for each in documents], config).values)


def _frequent(shingles: Shingles, max_share: float | None) -> NDArray[np.uint64]:
    """Shingles in more than a share of the documents that have any."""
    if max_share is None:
        return np.empty(0, np.uint64)
    values, counts = np.unique(shingles.values, return_counts=True)
    return values[counts >= max(max_share * np.count_nonzero(shingles.sizes) + 1e-9, SHARED_BY)]


def _without(shingles: Shingles, ignored: NDArray[np.uint64]) -> Shingles:
    if not len(ignored):
        return shingles
    kept = ~np.isin(shingles.values, ignored)
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return Shingles(shingles.values[kept], total[shingles.offsets])


def _searcher(by: str, shingles: Shingles, threshold: float) -> ContainmentJoin | ExactJoin:
    return ContainmentJoin(shingles, threshold) if by == "containment" else ExactJoin(shingles, threshold)


def _search(searcher: ContainmentJoin | ExactJoin, shingles: Shingles, border: int, threads: int | None, progress: Callable[[int, int], None]) -> Found:
    """Pairs with a new document in them: rows from the border on."""
    if isinstance(searcher, ContainmentJoin):
        return searcher.join_shared(border=border, threads=threads, progress=progress)
    found = searcher.join_shared(threads=threads, progress=progress)
    fresh = found.pairs.right >= border
    return Found(found.pairs[fresh], found.shared[fresh])


def _ranked(hits: Verified, by: str) -> Verified:
    """The greatest first; the other measure, then the order of documents decide among equals."""
    containment = np.maximum(hits.containment_left, hits.containment_right)
    first, second = (containment, hits.resemblance) if by == "containment" else (hits.resemblance, containment)
    order = np.lexsort((hits.pairs.right, hits.pairs.left, -second, -first))
    return replace(hits[order], pairs=Candidates(hits.pairs.left[order], hits.pairs.right[order]))
