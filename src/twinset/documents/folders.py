"""Which files of a folder are documents, and what each is called."""

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from twinset.errors import BadInput

SUFFIXES = (".txt", ".md", ".tex", ".html", ".htm", ".pdf", ".docx", ".odt", ".rtf", ".pptx", ".epub", ".doc")
LINK, DEVICE = "a link", "no file"  # what is counted for entries ignored for another reason than their suffix


@dataclass(frozen=True)
class File:
    """A document to read. `name` is relative to the folder it was found in, with slashes, and unique among the files found together."""

    path: Path
    name: str
    size: int


class Found(NamedTuple):
    """The documents of some folders in the order of their names, and how many other entries were ignored, by suffix."""

    files: list[File]
    ignored: Counter[str]


class Entry(NamedTuple):
    root: Path
    path: Path


def documents(paths: Iterable[Path]) -> list[File]:
    """All documents in these folders and files, sorted by name."""
    return survey(paths).files


def survey(paths: Iterable[Path]) -> Found:
    """As `documents`, and what was ignored.

    Folders are searched to the bottom. Hidden entries are passed over. Links inside a folder are not followed, since they may lead out of what was given; a path that is
    itself a link is. A file named directly is taken whatever its suffix. A file met twice is taken once.
    """
    ignored: Counter[str] = Counter()
    entries: dict[Path, Entry] = {}
    for path in paths:
        path = Path(path)
        if path.is_dir():
            whole = path.resolve()
            for found in _inside(path, ignored):  # through no link: only the folder itself may be one
                entries.setdefault(whole / found.relative_to(path), Entry(path, found))
        elif path.is_file():
            entries.setdefault(path.resolve(), Entry(path.parent, path))
        else:
            raise BadInput(f"{path} is {'neither file nor folder' if path.exists() else 'not there'}; allowed: folders, and files such as {', '.join(SUFFIXES)}")
    names = _names(list(entries.values()))
    files = [File(entry.path, name, entry.path.stat().st_size) for name, entry in zip(names, entries.values(), strict=True)]
    return Found(sorted(files, key=lambda file: file.name), ignored)


def _inside(root: Path, ignored: Counter[str]) -> Iterator[Path]:
    """The documents below a folder, in the order of their paths."""
    for folder, inner, names in os.walk(root, onerror=_unlisted):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and not _is_link(Path(folder, name), ignored))
        for name in sorted(names):
            path = Path(folder, name)
            suffix = path.suffix.lower()
            if name.startswith("."):
                continue
            if suffix not in SUFFIXES:
                ignored[suffix or "no suffix"] += 1
            elif not _is_link(path, ignored):
                if stat.S_ISREG(path.stat().st_mode):
                    yield path
                else:
                    ignored[DEVICE] += 1


def _is_link(path: Path, ignored: Counter[str]) -> bool:
    if found := path.is_symlink():
        ignored[LINK] += 1
    return found


def _unlisted(error: OSError) -> None:
    raise BadInput(f"{error.filename} cannot be listed ({error.strerror}); allowed: folders that you may read")


def _names(entries: list[Entry]) -> list[str]:
    """Names relative to the folder given; where two files share one, with that folder's name in front; where even that is shared, the whole path."""
    forms: tuple[Callable[[Entry], str], ...] = (
        lambda entry: entry.path.relative_to(entry.root).as_posix(),
        lambda entry: f"{entry.root.absolute().name}/{entry.path.relative_to(entry.root).as_posix()}",
        lambda entry: entry.path.absolute().as_posix(),
    )
    names = [_printable(forms[0](entry)) for entry in entries]
    for form in forms[1:]:
        shared = {name for name, count in Counter(names).items() if count > 1}
        names = [_printable(form(entry)) if name in shared else name for name, entry in zip(names, entries, strict=True)]
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        names[i] = f"{name} ({seen[name]})" if seen[name] > 1 else name
    return names


def _printable(name: str) -> str:
    """A name that any output can carry: bytes that are no UTF-8 and control characters become question marks."""
    return "".join("?" if "\ud800" <= character <= "\udfff" or not character.isprintable() else character for character in name)
