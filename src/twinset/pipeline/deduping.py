"""One of each: files of documents to copies without those that repeat another, stage by stage, each kept on the disk until the end.

sketch: every document · search: candidates among distinct ones · verify: exact resemblance, from texts read again · group: stars around those that stay · write.
"""

import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset import __version__
from twinset.config import SCHEME, Config
from twinset.documents.corpus import Corpus
from twinset.errors import BadInput, BadOption
from twinset.estimate.certificate import Certificate
from twinset.grouping import groups, judged_by, ordering
from twinset.pairing import Pairs
from twinset.parallel import thread_count
from twinset.pipeline.gathering import Gathered, gather, shingled
from twinset.pipeline.output import Output
from twinset.pipeline.workspace import Workspace
from twinset.search.bands import Bands
from twinset.search.candidates import Candidates, counted
from twinset.search.finding import certificate
from twinset.search.verifying import Verified, by_counting
from twinset.sketch.sizes import Sizes
from twinset.sketch.sketches import Sketches

Progress = Callable[[str, int, int], None]  # stage, units done, units in all
Rows = NDArray[np.int64]
LAYOUT: dict[str, Any] = {"bits": "8", "samples": 128}
MEMORY = 2 << 30
WORKING = 860 << 20  # bytes that the interpreter, compiled kernels and batches of text take
HELD = 100  # bytes that are held of each row while pairs are verified
SHARE = 0.125  # of the memory allowed, for shingles that are being verified, where the rest does not leave more
STEP = 1 << 16  # pairs looked at together
SPARE = 1.1
LEVEL = 0.95


@dataclass(frozen=True)
class Rule:
    """What decides who stays."""

    threshold: float = 0.8
    recall: float = 0.99
    keep: str = "first"
    by: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise BadOption(f"threshold is {self.threshold}; allowed: above 0, at most 1")
        if not 0 < self.recall < 1:
            raise BadOption(f"recall is {self.recall}; allowed: above 0, below 1")


@dataclass(frozen=True)
class Deduped:
    """What a run of `dedup` did."""

    rows_in: int
    kept: int
    removed: int
    empty: int  # documents without a shingle, which stay
    malformed: int  # UTF-8 sequences replaced by U+FFFD
    threshold: float
    detection: float
    missed: float
    missed_low: int
    missed_high: int
    found: int  # pairs at or above the threshold
    about: str
    resumed: bool  # whether a killed run had begun
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    peak_rss: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Deduper:
    """A run that has been checked and not yet begun."""

    new: Corpus
    old: Corpus
    output: Output
    rule: Rule
    config: Config
    memory: int = MEMORY
    threads: int | None = None
    strict: bool = False
    progress: Progress = lambda stage, done, total: None
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        thread_count(self.threads)  # a wrong number is refused before anything is written
        self.corpus = Corpus(self.old.sources + self.new.sources)
        self._begin = time.perf_counter()

    def run(self) -> Deduped:
        """Go on where an earlier run was, to the end."""
        self._room()
        work = Workspace(self.output.workspace, self._identity())
        resumed = any(work.folder.glob("*.npz"))
        gathered = self._timed("sketch", lambda: gather(self.corpus, self.config, work, threads=self.threads, strict=self.strict, told=self._told("sketching")))
        old = int(gathered.rows[: len(self.old.sources)].sum())
        distinct = np.flatnonzero((gathered.first == np.arange(len(gathered.first))) & (gathered.sizes > 0))
        searched = self._timed("search", lambda: work.keep("candidates", lambda: self._candidates(gathered, distinct, old)))
        found = self._timed("verify", lambda: work.keep("pairs", lambda: self._verify(gathered, Candidates(searched["left"], searched["right"]))))
        result = self._certified(gathered, distinct, found, str(searched["about"]))
        decided = self._timed("group", lambda: self._decide(result, old))
        self._timed("write", lambda: self.output.write(self.new, decided, gathered.rows[len(self.old.sources) :], self.corpus, old, self._told("writing")))
        work.drop()
        kept, said = decided["keep"].to_numpy()[old:], result.certificate
        return Deduped(
            len(kept), int(kept.sum()), int((~kept).sum()), int((gathered.sizes[old:] == 0).sum()), gathered.malformed,
            said.threshold, said.detection, said.missed, said.missed_low, said.missed_high, said.found, result.about, resumed,
            round(time.perf_counter() - self._begin, 3), self.seconds, peak_rss(),
        )  # fmt: skip

    def plan(self) -> dict[str, Any]:
        """What a run would take: bytes to read, of the workspace, of the output at most, and free on its disk."""
        need, free = self._need()
        return {"files": len(self.new.sources), "files_against": len(self.old.sources), "bytes_in": self.corpus.size, "disk_needed": need, "disk_free": free, "memory": self.memory}

    def _need(self) -> tuple[int, int]:
        """Bytes of disk: the copies are no larger than the files, and a document of 500 bytes of text leaves about 200 in the workspace."""
        need = int(self.new.size * SPARE) + self.corpus.size * 2 // 5
        return need, shutil.disk_usage(self.output.folder).free

    def _room(self) -> None:
        need, free = self._need()
        if need > free:
            raise BadInput(f"{self.output.folder} has {free >> 20} MiB free and about {need >> 20} MiB may be needed; allowed: a disk with room")

    def _identity(self) -> dict[str, Any]:
        files = {"new": self.new.identity(), "old": self.old.identity()}
        return {"twinset": __version__, "scheme": SCHEME, "config": self.config.to_dict(), "rule": asdict(self.rule), "files": files, "strict": self.strict}

    def _told(self, stage: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(stage, done, total)

    def _timed(self, stage: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        done = work()
        self.seconds[stage] = round(time.perf_counter() - begin, 3)
        return done

    def _sketches(self, gathered: Gathered, rows: Rows) -> Sketches:
        sizes = gathered.sizes[rows]
        return Sketches(gathered.words(rows), Sizes(sizes, "exact", len(sizes)), self.config)

    def _candidates(self, gathered: Gathered, distinct: Rows, old: int) -> dict[str, NDArray[Any]]:
        """Pairs of distinct documents, by their rows: new ones with one another and with old ones."""
        border = int(np.searchsorted(distinct, old))
        sketches = self._sketches(gathered, distinct)
        ours = sketches if border == 0 else sketches[border:]
        threshold, told = self.rule.threshold, self._told("searching")
        bands = Bands(ours, threshold, recall=self.rule.recall)
        found = bands.join(threads=self.threads, progress=told)
        left, right = distinct[found.left + border], distinct[found.right + border]
        if border and len(ours):
            across = Bands(sketches[:border], threshold, recall=self.rule.recall, banding=bands.banding).query(ours, threads=self.threads, progress=told)
            left, right = np.concatenate([left, distinct[across.right]]), np.concatenate([right, distinct[across.left + border]])
        ordered = Candidates.gather([(left, right)])
        return {"left": ordered.left, "right": ordered.right, "about": np.array(bands.about)}

    def _verify(self, gathered: Gathered, pairs: Candidates) -> dict[str, NDArray[Any]]:
        """The pairs at or above the threshold, so many at a time that their shingles fit the memory allowed."""
        parts, first = [], 0
        done = counted(self._told("verifying"), len(pairs))
        room = max(self.memory - WORKING - HELD * len(gathered.sizes), int(self.memory * SHARE)) // 8
        while first < len(pairs):
            last, wanted = _fitting(pairs, gathered.sizes, first, room)
            parts.append(self._counted(gathered, Candidates(pairs.left[first:last], pairs.right[first:last]), wanted))
            done(last - first)
            first = last
        return _columns(parts)

    def _counted(self, gathered: Gathered, pairs: Candidates, wanted: NDArray[np.bool_]) -> Verified:
        """The pairs, of the rows `wanted`, that are at or above the threshold."""
        shingles = shingled(self.corpus, gathered, wanted, threads=self.threads)
        place = np.cumsum(wanted) - 1
        near = Candidates(place[pairs.left], place[pairs.right])
        return by_counting(shingles, near, shingles.shared(near.left, near.right, threads=self.threads), self.rule.threshold).at(np.flatnonzero(wanted))

    def _certified(self, gathered: Gathered, distinct: Rows, found: dict[str, NDArray[Any]], about: str) -> Pairs:
        columns = [found[name] for name in ("resemblance", "resemblance", "resemblance", "exact", "containment_left", "containment_right")]
        hits = Verified(Candidates(found["left"], found["right"]), *columns)
        sketches = self._sketches(gathered, distinct)
        weight = np.bincount(gathered.first, minlength=len(gathered.first))[distinct]
        local = replace(hits, pairs=Candidates(np.searchsorted(distinct, found["left"]), np.searchsorted(distinct, found["right"])))
        bands = Bands(sketches, self.rule.threshold, recall=self.rule.recall)
        said: Certificate = certificate(bands, sketches, local, self.rule.threshold, weight, LEVEL)
        result = Pairs(gathered.first, gathered.sizes, gathered.lengths, hits, said, about, about)
        return result.counted()

    def _decide(self, result: Pairs, old: int) -> pa.Table:
        """The groups, with the old documents before all others."""
        name = judged_by(self.rule.keep, self.rule.by, _shared_names(self.corpus))
        documents = None if name is None else pa.table({name: self.corpus.column(name)})
        order = ordering(replace(result, documents=documents), self.rule.keep, name)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return groups(result, keep=-np.where(np.arange(len(order)) < old, np.arange(len(order)) - len(order), place).astype(np.float64))


def dedup(
    paths: Iterable[str | Path],
    out: str | Path,
    *,
    against: Iterable[str | Path] = (),
    removed: str | Path | None = None,
    annotate: bool = False,
    rule: Rule | None = None,
    config: Config | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    memory: int = MEMORY,
    threads: int | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Deduper:
    """A run that copies the documents of some files without those that repeat another, or a document of the files `against`, which are only read.

    All options are checked and all files opened here; `run()` does the work. `out` is a file for one file of input, otherwise a folder.
    """
    new = Corpus.open(paths, text_column=text_column, id_column=id_column)
    old = list(against)
    before = Corpus.open(old, text_column=text_column, id_column=id_column) if old else Corpus(())
    judged_by(rule.keep if rule else "first", rule.by if rule else None, _shared_names(Corpus(before.sources + new.sources)))
    output = Output.at(out, new, annotate=annotate, removed=removed)
    told = progress or (lambda stage, done, total: None)
    return Deduper(new, before, output, rule or Rule(), config or Config(**LAYOUT), memory, threads, strict, told)


def _shared_names(corpus: Corpus) -> list[str]:
    """The columns that all files have."""
    first, *others = (source.table.schema.names for source in corpus.sources)
    return [name for name in first if all(name in names for names in others)]


def _fitting(pairs: Candidates, sizes: Rows, first: int, most: int) -> tuple[int, NDArray[np.bool_]]:
    """Up to which pair, from `first` on, the rows have at most `most` shingles together, one pair at least; and which rows these are."""
    wanted, last = np.zeros(len(sizes), bool), first
    while last < len(pairs):
        upto = min(last + STEP, len(pairs))
        rows = np.stack([pairs.left[last:upto], pairs.right[last:upto]], axis=1)
        fresh, place = np.unique(rows, return_index=True)
        new = ~wanted[fresh]
        added = np.bincount(place[new] // 2, sizes[fresh[new]], upto - last).cumsum()
        fit = int(np.searchsorted(added, most, side="right"))
        fit = max(fit, 1 if last == first else 0)
        wanted[rows[:fit]] = True
        most, last = most - int(added[-1]), last + fit
        if last < upto:
            break
    return last, wanted


def _columns(parts: list[Verified]) -> dict[str, NDArray[Any]]:
    names = ("resemblance", "exact", "containment_left", "containment_right")
    kinds = {"exact": bool}
    columns = {name: np.concatenate([np.empty(0, kinds.get(name, np.float64)), *(getattr(part, name) for part in parts)]) for name in names}
    sides = {side: np.concatenate([np.empty(0, np.int64), *(getattr(part.pairs, side) for part in parts)]) for side in ("left", "right")}
    return sides | columns


def peak_rss() -> int:
    """The most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")  # Linux's getrusage begins with the peak of the process that started this one
    if status.exists() and "VmHWM:" in (told := status.read_text()):
        return int(told.split("VmHWM:")[1].split()[0]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
