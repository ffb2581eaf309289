"""One line to the user when a first run compiles."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def announced() -> Iterator[None]:
    """Say on stderr, once, that kernels are being compiled, if they are: those of earlier runs are loaded from the disk."""
    from numba.core import event

    class Announcer(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                print("twinset: compiling for this machine, once; it takes some seconds", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            pass

    announcer = Announcer()
    event.register("numba:compile", announcer)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", announcer)  # type: ignore[no-untyped-call]
