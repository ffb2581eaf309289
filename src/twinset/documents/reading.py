"""A worker: confines itself, then reads one file for each line that it is sent, and answers with a line and the text.

    python -P -m twinset.documents.reading SECONDS MEMORY TEXT INPUT

It says `ready` when it is confined. A request is the JSON of a path and its suffix. An answer is the JSON of `problem`, `note`, `convert` (to be converted by another program
first), `again` (a fresh worker may do better) and the number of `bytes` of UTF-8 text that follow.
"""

import errno
import json
import os
import signal
import sys
from importlib import import_module
from typing import Any, BinaryIO

from twinset.documents.confinement import Forbidden, Limits, Text, Unreadable, allow_seconds, confine, size_text
from twinset.documents.formats import kinds

READERS = {"text": "plain", "html": "html", "pdf": "pdf", "docx": "word", "pptx": "slides", "odt": "opendocument", "epub": "book", "rtf": "rtf"}
CONVERTED = "doc"  # by a program of its own, which a confined worker may not start
READY = b"ready\n"


def main(arguments: list[str]) -> None:
    seconds, memory, text, size = arguments
    limits = Limits(float(seconds), int(memory), int(text), int(size))
    requests, answers = sys.stdin.buffer, _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends its workers
    confine(limits)
    answers.write(READY)
    answers.flush()
    for line in requests:
        path, suffix = json.loads(line)
        answer, content = attempt(path, suffix, limits)
        answers.write(json.dumps(answer | {"bytes": len(content)}).encode() + b"\n" + content)
        answers.flush()


def attempt(path: str, suffix: str, limits: Limits) -> tuple[dict[str, Any], bytes]:
    """Read one file. Whatever happens in a reader is a line about this file."""
    allow_seconds(limits.seconds)
    problem = note = None
    again, content = False, b""
    try:
        found, note = read(path, suffix, limits)
        if found is None:
            return {"problem": None, "note": note, "convert": True, "again": False}, b""
        content = found.text.encode("utf-8", "replace")
        note = "; ".join(filter(None, (note, found.note))) or None
        if not found.text.strip():
            problem = "has no text"
        elif len(content) > limits.text:
            problem = f"holds more than {size_text(limits.text)} of text"
    except Unreadable as error:
        problem = str(error)
    except Forbidden as error:
        problem = f"made its reader try to {error}: refused"
    except (MemoryError, OSError) as error:
        again = isinstance(error, MemoryError) or error.errno == errno.ENOMEM
        problem = f"needs more than {size_text(limits.memory)} of memory" if again else f"cannot be read ({error})"
    except Exception as error:  # a reader's bug must not cost the neighbours; the line says what it was
        again, problem = True, f"cannot be read: its reader failed ({type(error).__name__}: {' '.join(str(error).split())[:120]})"
    return {"problem": problem, "note": note, "convert": False, "again": again}, b"" if problem else content


def read(path: str, suffix: str, limits: Limits) -> tuple[Text | None, str | None]:
    """The text of a file, and a note when it is not what its name says. None: it has to be converted first."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise Unreadable("is empty (0 bytes)")
        if size > limits.input:
            raise Unreadable(f"is {size_text(size)} large; at most {size_text(limits.input)} are read")
        kind, note = kinds.kind(file, suffix, limits)
        if kind == CONVERTED:
            return None, note
        file.seek(0)
        found: Text = import_module(f"twinset.documents.formats.{READERS[kind]}").read(file, limits)
        return found, note


def _own_output() -> BinaryIO:
    """The pipe to the parent, out of reach of libraries that print: their output goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return pipe


if __name__ == "__main__":
    main(sys.argv[1:])
