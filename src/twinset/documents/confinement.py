"""What a process that reads a stranger's file may not do: use more than its share of memory and time, write, start programs, or reach a network.

Nothing here or in `formats` imports NumPy, Arrow or a compiler: a worker has to start in a fraction of a second.
"""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # flags of Linux's unshare(2)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = (
    *("socket.", "subprocess.", "urllib.", "ftplib.", "shutil.", "webbrowser.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.kill", "pty.", "signal.pthread_kill"),
)
UNITS = (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10), ("bytes", 1))


class Unreadable(Exception):
    """A file cannot be read, for the reason that the message gives in one line."""


class Forbidden(Exception):
    """A reader tried what a confined process may not do."""


class Text(NamedTuple):
    """What a format's reader found: the text, and one line on what is missing or remarkable, if anything is."""

    text: str
    note: str | None = None


@dataclass(frozen=True)
class Limits:
    """What one file may cost: seconds of wall time, bytes of memory of its worker, bytes of text it may hold, and its own size in bytes."""

    seconds: float = 60
    memory: int = 1 << 30
    text: int = 64 << 20
    input: int = 512 << 20

    @property
    def unpacked(self) -> int:
        """Bytes that all parts of an archive which are read may unpack to."""
        return 4 * self.text


def size_text(size: int) -> str:
    """A number of bytes in the largest unit that it fills: 1 610 612 736 is 1.5 GB."""
    name, unit = next((name, unit) for name, unit in UNITS if size >= unit or unit == 1)
    return f"{size / unit:.3g} {name}" if size < 1000 * unit else f"{size // unit} {name}"


def confine(limits: Limits) -> None:
    """Confine this process for good. What the platform does not offer is left out: Windows has no resource limits, only Linux can cut off the network below Python."""
    sys.dont_write_bytecode = True
    limit_resources(limits)
    _leave_network()
    sys.addaudithook(_refuse)


def limit_resources(limits: Limits, *, file_size: int = 0) -> None:
    """Set what the kernel enforces, also on a program that this process becomes."""
    with suppress(ImportError):
        import resource

        _lower(resource.RLIMIT_AS, limits.memory)
        _lower(resource.RLIMIT_FSIZE, file_size)
        _lower(resource.RLIMIT_CORE, 0)
        allow_seconds(limits.seconds)


def allow_seconds(seconds: float) -> None:
    """Let this process use that much more processor time from now, and a little: who starts it ends it sooner, by the clock, if still there."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + seconds) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _lower(kind: int, value: int) -> None:
    import resource

    with suppress(ValueError, OSError):
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))


def _leave_network() -> None:
    """Move to a network of its own without any interface. A kernel may forbid it; the audit hook stands in any case."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            system = ctypes.CDLL(None)
            if system.unshare(NEW_NETWORK) and os.geteuid():
                system.unshare(NEW_NETWORK | NEW_USER)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: Python reports here what it is about to do."""
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & WRITING):
            raise Forbidden("write a file")
    elif event.startswith(FORBIDDEN):
        raise Forbidden(f"do what a reader may not ({event})")


if __name__ == "__main__":  # become a program that another process wants confined: SECONDS MEMORY FILE_SIZE PROGRAM ARGUMENTS...
    limit_resources(Limits(seconds=float(sys.argv[1]), memory=int(sys.argv[2])), file_size=int(sys.argv[3]))
    _leave_network()
    os.execvp(sys.argv[4], sys.argv[4:])
