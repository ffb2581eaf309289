"""A worker whose reader does what the name of its file says: what a flaw in a library could be made to do."""

import ctypes
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from twinset.documents import reading
from twinset.documents.confinement import Text


def grow():
    held = []
    while True:
        held.append(bytearray(1 << 24))


def recur():
    return recur() + 1


def by_system_call():
    """Past Python's audit hook: what only the kernel can refuse."""
    call = ctypes.CDLL(None, use_errno=True)
    with open("/dev/null", "rb"):
        handle = call.open(os.environ["TARGET"].encode(), os.O_WRONLY | os.O_CREAT, 0o600)
        return call.write(handle, b"x", 1)


DEEDS = {
    "crash": lambda: ctypes.string_at(0),
    "leave": lambda: os._exit(0),
    "sleep": lambda: time.sleep(600),
    "spin": lambda: all(iter(lambda: True, False)),
    "grow": grow,
    "recur": recur,
    "fail": lambda: 1 // 0,
    "write": lambda: Path(os.environ["TARGET"]).write_text("x"),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
    "resolve": lambda: socket.getaddrinfo("example.org", 80),
    "start": lambda: subprocess.run(["true"], check=True),
    "fork": os.fork,
    "remove": lambda: os.remove(os.environ["TARGET"]),
    "print": lambda: [os.write(1, b"noise\n" * 1000), os.write(2, b"noise\n" * 100_000)],
    "overrun": by_system_call,
}


def misbehave(path, suffix, limits):
    deed = os.path.basename(path).partition(".")[0]
    return Text(f"{deed}: {DEEDS[deed]()}" if deed in DEEDS else deed), None


if __name__ == "__main__":
    reading.read = misbehave
    reading.main(sys.argv[1:])
