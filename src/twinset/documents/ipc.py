"""Arrow IPC files, and folders of them as Hugging Face's `datasets` saves them."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from twinset.errors import BadInput

STATE, INFO = "state.json", "dataset_info.json"


class IpcTable:
    """An Arrow IPC file, in the file or the stream format."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.position = path, path.stat().st_size, 0
        with self._reading() as reader:
            self.schema, self.stream = reader.schema, not isinstance(reader, pa.ipc.RecordBatchFileReader)

    def batches(self, columns: list[str] | None, size: int) -> Iterator[pa.RecordBatch]:
        """These columns (all of them by default) of all rows, in order, in the batches of the file or parts of about `size` bytes of them."""
        with self._reading() as reader:
            for batch in self._every(reader):
                rows = max(1, int(size * len(batch) / max(batch.nbytes, 1)))
                for first in range(0, len(batch), rows):
                    part = batch.slice(first, rows)
                    yield part if columns is None else part.select(columns)
        self.position = self.size

    @contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], Any]]:
        """A function that adds batches to a new file of the same kind."""
        with (pa.ipc.new_stream if self.stream else pa.ipc.new_file)(str(path), schema) as out:
            yield out.write_batch

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        try:
            with pa.memory_map(str(self.path)) as file:
                try:
                    reader = pa.ipc.open_file(file)
                except pa.ArrowInvalid:
                    file.seek(0)
                    reader = pa.ipc.open_stream(file)
                yield reader
        except (pa.ArrowException, OSError) as error:
            raise BadInput(f"{self.path} cannot be read as Arrow IPC ({str(error).splitlines()[0]}); allowed: a complete file or stream") from None

    def _every(self, reader: Any) -> Iterator[pa.RecordBatch]:
        if self.stream:
            yield from reader
            return
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)
            self.position = self.size * (i + 1) // reader.num_record_batches


def dataset_files(folder: Path) -> list[Path]:
    """The Arrow files of a folder that `datasets` saved, in order."""
    try:
        names = [entry["filename"] for entry in json.loads((folder / STATE).read_text(encoding="utf-8"))["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"{folder} has no readable {STATE}; allowed: a folder that datasets' save_to_disk wrote, or files") from None
    if any(Path(name).name != name for name in names):
        raise BadInput(f"{folder / STATE} names files outside its folder; allowed: names of files in it")
    return [folder / name for name in names]


def dataset_of(files: list[Path]) -> Path | None:
    """The folder that `datasets` saved, if these are the files of one."""
    homes = {file.parent for file in files}
    home = homes.pop() if len(homes) == 1 else None
    return home if home is not None and (home / STATE).exists() and dataset_files(home) == files else None


def dataset_pages(home: Path, *, columns_added: bool) -> dict[str, str]:
    """What stands beside the files of a copy: the same but for the fingerprint, by which `datasets` tells data apart. Of added columns only Arrow's schema knows."""
    pages = {name: json.loads((home / name).read_text(encoding="utf-8")) for name in (INFO, STATE) if (home / name).exists()}
    pages[STATE]["_fingerprint"] = hashlib.sha256(f"twinset {columns_added} {pages[STATE].get('_fingerprint')}".encode()).hexdigest()[:16]
    if columns_added and INFO in pages:
        pages[INFO].pop("features", None)
    return {name: json.dumps(page, indent=2) for name, page in pages.items()}
