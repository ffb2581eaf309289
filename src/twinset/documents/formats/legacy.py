"""Older Word documents (.doc), by antiword or LibreOffice where installed: their own processes, confined like a worker but for a folder to write to."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from twinset.documents.confinement import Limits, Text, Unreadable, size_text

OFFICE_MEMORY = 4 << 30  # addresses that LibreOffice maps before it does anything
MISSING = "is an older Word document (.doc): install antiword or LibreOffice to read it, or save it as .docx"

Command = tuple[str, list[str], int]


def convert(path: Path, limits: Limits) -> Text:
    """The text of a .doc file by the first converter that gives any. Starts processes: not for a confined worker."""
    reasons: list[str] = []
    with tempfile.TemporaryDirectory(prefix="twinset-") as folder:
        for names, converter in CONVERTERS:
            program = next(filter(None, map(shutil.which, names)), None)
            if program is None or any("encrypted" in reason.lower() for reason in reasons):
                continue
            try:
                if (text := converter(program, path, Path(folder), limits)).strip():
                    return Text(text)
                reasons.append(f"{names[0]} finds no text")
            except Unreadable as error:
                reasons.append(str(error).replace(str(path), "it"))
    raise Unreadable(_failure(reasons))


def _failure(reasons: list[str]) -> str:
    if not reasons:
        return MISSING
    if any("encrypted" in reason.lower() for reason in reasons):
        return "is encrypted: opening it needs a password"
    if all(reason.endswith("finds no text") for reason in reasons):
        return "has no text"
    return f"is an older Word document that cannot be converted ({'; '.join(reasons)})"


def _antiword(program: str, path: Path, folder: Path, limits: Limits) -> str:
    output = folder / "antiword.txt"
    _run([program, "-m", "UTF-8.txt", "-w", "0", str(path)], output, folder, limits, limits.memory)
    return output.read_text(encoding="utf-8", errors="replace")


def _office(program: str, path: Path, folder: Path, limits: Limits) -> str:
    source = folder / "document.doc"  # a name of ours: theirs may begin with a dash
    shutil.copyfile(path, source)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    arguments = [program, profile, "--headless", "--norestore", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", str(folder), str(source)]
    _run(arguments, folder / "office.log", folder, limits, OFFICE_MEMORY)
    output = folder / "document.txt"
    if not output.exists():
        raise Unreadable("LibreOffice cannot open it")
    return output.read_text(encoding="utf-8-sig", errors="replace")


CONVERTERS: tuple[tuple[tuple[str, ...], Callable[[str, Path, Path, Limits], str]], ...] = ((("antiword",), _antiword), (("soffice", "libreoffice"), _office))


def _run(arguments: list[str], output: Path, folder: Path, limits: Limits, memory: int) -> None:
    """Run a converter under limits, its output in a file that the kernel lets grow to the limit of text only."""
    launcher = [sys.executable, "-P", "-m", "twinset.documents.confinement", str(limits.seconds), str(memory), str(limits.text)]
    name = Path(arguments[0]).name
    with output.open("wb") as target, (folder / "errors").open("wb+") as errors:
        process = subprocess.Popen([*launcher, *arguments], stdin=subprocess.DEVNULL, stdout=target, stderr=errors, cwd=folder, env=_environment(folder), start_new_session=True)
        try:
            code = process.wait(limits.seconds)
        except subprocess.TimeoutExpired:
            raise Unreadable(f"{name} took more than {limits.seconds:g} s") from None
        finally:
            _end(process)
        errors.seek(0)
        complaint = next(_lines(errors.read(4096)), "")
    if output.stat().st_size >= limits.text:
        raise Unreadable(f"{name} wrote more than {size_text(limits.text)}")
    if code:
        raise Unreadable(f"{name} says: {complaint}" if complaint and code > 0 else f"{name} crashed ({signal_name(code)})" if code < 0 else f"{name} failed with code {code}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program and all that it started."""
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _environment(folder: Path) -> dict[str, str]:
    kept = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "ANTIWORDHOME")
    return {"HOME": str(folder), "TMPDIR": str(folder)} | {name: os.environ[name] for name in kept if name in os.environ}


def _lines(raw: bytes) -> Iterator[str]:
    return (line.strip()[:160] for line in raw.decode("utf-8", "replace").splitlines() if line.strip())


def signal_name(code: int) -> str:
    """The name of the signal that ended a process, from its return code."""
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"code {code}"
