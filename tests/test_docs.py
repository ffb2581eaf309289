"""The examples in README and docs do what the pages say: Python blocks print the text block after them, console blocks show what a terminal shows."""

import contextlib
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
COLUMNS = 80

pytestmark = pytest.mark.compiled


def ids(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def matches(expected, printed):
    """Equal line by line, where `...` stands for anything; blanks at the ends of lines do not count."""
    wanted, found = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (expected, printed))
    return re.fullmatch(".*?".join(map(re.escape, wanted.split("..."))), found, re.DOTALL) is not None


def in_terminal(command, folder):
    """What a terminal of 80 columns shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    environment |= {"TERM": "dumb", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # how the end of a terminal shows on Linux
        while part := os.read(ours, 1 << 16):
            shown += part
    os.close(ours)
    errors = process.communicate()[1].decode()
    return shown.decode().replace("\r\n", "\n") + "".join(line for line in errors.splitlines(keepends=True) if "compiling" not in line)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where examples run: a copy of the examples, and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_every_example_of_a_page(page, folder):
    names, printed = {}, None
    for kind, body in blocks(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text" and printed is not None:
            assert matches(body, printed), printed
            printed = None
        elif kind == "console":
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
                shown = in_terminal(command, folder)
                assert matches(expected, shown), shown
    assert not printed, f"an example of {page.name} prints what the page does not show"


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs/decisions").glob("*.md"))], ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
