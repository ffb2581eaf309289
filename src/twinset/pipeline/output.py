"""Where the documents go that stay, and those that do not: files that appear when they are complete."""

import glob
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from twinset.documents.corpus import Corpus, copy_rows
from twinset.documents.ipc import dataset_of, dataset_pages
from twinset.documents.writing import LISTS, whole, write_table
from twinset.errors import BadInput, BadOption

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Output:
    """`targets` are one file for each file of input. With `annotate` every row is copied, with four more columns; `removed` lists the others."""

    out: Path
    targets: tuple[Path, ...]
    annotate: bool = False
    removed: Path | None = None
    dataset: Path | None = None  # the folder of the input, if `datasets` saved it: the output is one too

    @classmethod
    def at(cls, out: str | Path, new: Corpus, *, annotate: bool = False, removed: str | Path | None = None) -> "Output":
        """Check the names before any work. One file goes to a file, several go to a folder."""
        out, listed = Path(out), None if removed is None else Path(removed)
        dataset = None if out.suffix else dataset_of([source.path for source in new.sources])
        if len(new.sources) == 1 and not out.is_dir() and dataset is None:
            targets: tuple[Path, ...] = (out,)
            ending, wanted = _ending(out), _ending(new.sources[0].path)
            if ending != wanted:
                raise BadOption(f"{out} ends in {ending!r}; allowed: {wanted!r}, the format of the input")
        else:
            targets = tuple(out / source.path.name for source in new.sources)
            if len(set(targets)) < len(targets):
                raise BadInput(
                    f"two files of the input have one name; allowed for a folder of output: names that differ, and they are {', '.join(each.name for each in targets[:10])}"
                )
            if out.exists() and not out.is_dir():
                raise BadInput(f"{out} is a file; allowed for {len(targets)} files of input: a folder")
        for source in new.sources:
            if source.path.resolve() in {each.resolve() for each in targets}:
                raise BadInput(f"{source.path} would be overwritten; allowed: an output other than the input")
        if listed is not None and listed.suffix not in LISTS:
            raise BadOption(f"{listed} ends in {listed.suffix!r}; allowed for the list of removed documents: {', '.join(LISTS)}")
        for folder in {each.parent if each.parent != out else out.parent for each in (*targets, *([listed] if listed else []))}:
            if not folder.is_dir():
                raise BadInput(f"{folder} is not a folder; allowed: an output in a folder that exists")
        return cls(out, targets, annotate, listed, dataset)

    @property
    def folder(self) -> Path:
        """The folder that exists, on whose disk the output goes."""
        return self.out if self.out.is_dir() else self.out.parent

    @property
    def workspace(self) -> Path:
        return self.out.with_name(f".{self.out.name}.twinset")

    def write(self, new: Corpus, decided: pa.Table, rows: np.ndarray[tuple[int], np.dtype[np.int64]], corpus: Corpus, old: int, told: Told) -> None:
        """All files, which appear together when the last of them is complete."""
        names = self._names(decided, corpus) if self.removed is not None or self.annotate else None
        if len(self.targets) > 1 or self.targets[0] != self.out:
            self.out.mkdir(exist_ok=True)
        for target in (*self.targets, *([self.removed] if self.removed else [])):
            for part in target.parent.glob(f".{glob.escape(target.name)}.????????.part"):  # what a killed run was writing
                part.unlink()
        with ExitStack() as stack:
            parts = [stack.enter_context(whole(target)) for target in self.targets]
            first = old
            for number, (source, part) in enumerate(zip(new.sources, parts, strict=True)):
                mine = decided.slice(first, int(rows[number]))
                keep = mine["keep"].to_numpy()
                added = None if names is None or not self.annotate else _added(mine, names)
                copy_rows(source, part, np.ones(len(keep), bool) if self.annotate else keep, added)
                first += len(keep)
                told(number + 1, len(parts))
            for name, page in dataset_pages(self.dataset, columns_added=self.annotate).items() if self.dataset is not None else ():
                stack.enter_context(whole(self.out / name)).write_text(page, encoding="utf-8")
            if self.removed is not None and names is not None:
                _list(stack.enter_context(whole(self.removed)), self.removed.suffix, decided.slice(old), names, old)

    def _names(self, decided: pa.Table, corpus: Corpus) -> pa.ChunkedArray | None:
        """What documents are called: the id column of all files, or their row numbers."""
        ids = {source.id for source in corpus.sources}
        name = ids.pop() if len(ids) == 1 else None
        return pa.chunked_array([pa.array(np.arange(len(decided)))]) if name is None else corpus.column(name)


def _added(mine: pa.Table, names: pa.ChunkedArray) -> pa.Table:
    """The columns of groups, with the names of documents instead of rows."""
    return pa.table({"group": names.take(mine["group"]), "keep": mine["keep"], "witness": names.take(mine["witness"]), "resemblance": mine["resemblance"]})


def _list(part: Path, ending: str, mine: pa.Table, names: pa.ChunkedArray, old: int) -> None:
    gone = np.flatnonzero(~mine["keep"].to_numpy())
    table = pa.table({"id": names.take(pa.array(gone + old)), "witness": names.take(mine["witness"].take(gone)), "resemblance": mine["resemblance"].take(gone)})
    write_table(table, part, ending)


def _ending(path: Path) -> str:
    """The name's ending, with that of a compression."""
    parts = path.name.lower().split(".")
    return "." + ".".join(parts[-2:] if parts[-1] in ("gz", "zst") else parts[-1:])
