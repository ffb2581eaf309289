"""Files in object stores, by their addresses: fetched beside the output before a run, delivered after it.

An address is what Arrow's file systems understand: s3://bucket/key, gs://, hdfs://, abfs://, file:///. Keys and endpoints come from it and from the environment.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from twinset.documents.writing import whole
from twinset.errors import BadInput

CHUNK = 1 << 24  # bytes copied at a time
MARK = "://"


@dataclass(frozen=True)
class Staged:
    """Local names for what was asked for, and the folder that holds copies of what is elsewhere."""

    sources: list[str]
    against: list[str]
    out: Path
    folder: Path


def is_address(path: str) -> bool:
    """Whether a name is an address and not a path."""
    return MARK in path


@contextmanager
def staged(sources: Iterable[str], out: str, against: Iterable[str] = ()) -> Iterator[Staged]:
    """Local copies of the files at addresses; when the block ends well the output goes to its address, and the copies go. After an error they stay, for the next run."""
    far = is_address(out)
    path = Path(f".twinset-{_short(out)}") / _address(out)[1].rstrip("/").rsplit("/", 1)[-1] if far else Path(out)
    folder = path.parent if far else path.parent / f".{path.name}.fetched"
    if far:
        folder.mkdir(exist_ok=True)
    names = [[name for each in group for name in (_fetched(each, folder) if is_address(each) else [each])] for group in (sources, against)]
    yield Staged(names[0], names[1], path, folder)
    if far:
        _deliver(path, out)
    if folder != path.parent or far:
        shutil.rmtree(folder, ignore_errors=True)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _address(url: str) -> tuple[fs.FileSystem, str]:
    try:
        store, path = fs.FileSystem.from_uri(url)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{url} is not an address ({str(error).splitlines()[0]}); allowed: s3://, gs://, abfs://, hdfs:// or file:///") from None
    return store, path


def _fetched(url: str, folder: Path) -> list[str]:
    """The local copies of a file, or of the files below a folder, in order. One that is there already, of the same size and time, is not fetched again."""
    store, path = _address(url)
    try:
        found = store.get_file_info(path)
        every = [found] if found.type == fs.FileType.File else sorted(_files_below(store, path, found), key=lambda each: each.path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{url} cannot be reached ({str(error).splitlines()[0]}); allowed: a file or folder that can be read") from None
    if not every:
        raise BadInput(f"{url} does not exist; allowed: a file, or a folder of files")
    return [str(_copy(store, each, folder)) for each in every]


def _files_below(store: fs.FileSystem, path: str, found: fs.FileInfo) -> list[fs.FileInfo]:
    if found.type != fs.FileType.Directory:
        return []
    return [each for each in store.get_file_info(fs.FileSelector(path, recursive=True)) if each.type == fs.FileType.File]


def _copy(store: fs.FileSystem, info: fs.FileInfo, folder: Path) -> Path:
    target = folder / _short(f"{info.path} {info.size} {info.mtime_ns}") / str(info.base_name)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with whole(target) as part, store.open_input_stream(info.path) as source, part.open("wb") as file:
                while block := source.read(CHUNK):
                    file.write(block)
        except (pa.ArrowException, OSError) as error:
            raise BadInput(f"{info.path} cannot be fetched ({str(error).splitlines()[0]}); allowed: a file that can be read, and a disk with room") from None
    return target


def _deliver(path: Path, url: str) -> None:
    """Put a file, or the files of a folder, at an address. An object appears when it is complete."""
    store, place = _address(url)
    files = [(path, place)] if path.is_file() else [(file, f"{place.rstrip('/')}/{file.relative_to(path).as_posix()}") for file in sorted(path.rglob("*")) if file.is_file()]
    try:
        for file, key in files:
            if store.type_name == "local":
                Path(key).parent.mkdir(parents=True, exist_ok=True)
            with file.open("rb") as source, store.open_output_stream(key) as out:
                while block := source.read(CHUNK):
                    out.write(block)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{url} cannot be written ({str(error).splitlines()[0]}); allowed: an address that can be written to; the output is in {path}") from None
