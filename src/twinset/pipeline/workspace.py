"""A folder beside the output that holds what finished stages gave, so that the same command goes on after a kill. It goes when the output is there."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinset.documents.writing import whole
from twinset.errors import BadInput

Arrays = dict[str, NDArray[Any]]
ABOUT = "run.json"


class Workspace:
    """Arrays by name. `identity` is all that the answer depends on: what another identity left behind is thrown away."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self.computed: list[str] = []  # names that this process had to make
        text = json.dumps(identity, sort_keys=True)
        about = folder / ABOUT
        if folder.exists() and not (about.exists() and about.read_text(encoding="utf-8") == text):
            if not about.exists() and any(not path.name.endswith(".part") for path in folder.iterdir()):
                raise BadInput(f"{folder} exists and is not twinset's; allowed: an output whose workspace folder is free")
            self.drop()
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise BadInput(f"{folder} cannot be made ({error.strerror}); allowed: an output in a folder that can be written to") from None
        if not about.exists():
            with whole(about) as part:
                part.write_text(text, encoding="utf-8")

    @property
    def key(self) -> str:
        """A short name of the identity."""
        return hashlib.sha256((self.folder / ABOUT).read_bytes()).hexdigest()[:12]

    def keep(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """What `make` gave when it was last called under this name; if it never was, it is called now and its arrays are kept."""
        path = self.folder / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                return dict(file)
        arrays = make()
        self.computed.append(name)
        try:
            with whole(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error.strerror}); allowed: a disk with room") from None
        return arrays

    def has(self, name: str) -> bool:
        """Whether arrays are kept under this name."""
        return (self.folder / f"{name}.npz").exists()

    def array(self, name: str, of: str) -> NDArray[Any]:
        """One of the arrays that are kept under a name."""
        with np.load(self.folder / f"{name}.npz") as file:
            return np.asarray(file[of])

    def count(self, beginning: str) -> int:
        """How many of the names kept begin so."""
        return len(list(self.folder.glob(f"{beginning}-*.npz")))

    def drop(self) -> None:
        """Remove the folder; last of all the file that says whose it is, so that a kill leaves a folder that the next run knows."""
        for path in self.folder.iterdir():
            if path.name != ABOUT:
                path.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
