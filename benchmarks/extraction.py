"""What the readers of documents make of a corpus of broken ones, and how much of the text of the good ones they find.

    python benchmarks/extraction.py [CORPUS]

CORPUS is a folder of .tar.xz archives of documents (default: ../shared/data/docx_pdf). Prints how many files of each suffix ended how, the slowest, and the recall of tokens
against pdftotext (poppler-utils) for .pdf and LibreOffice for .docx, where those are installed. Recall counts repeated tokens; a document counts when the other program finds
at least LEAST tokens in it and we find any.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import unicodedata
from collections import Counter
from pathlib import Path

from twinset.documents.extracting import Extracted, extract
from twinset.documents.folders import File

CORPUS = Path(__file__).parents[2] / "shared/data/docx_pdf"
LEAST = 20
SECONDS = 60
GOOD = 0.97
TOKEN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def tokens(text: str) -> Counter[str]:
    return Counter(TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def by_pdftotext(path: Path, folder: Path) -> str:
    return subprocess.run(["pdftotext", "-q", path, "-"], capture_output=True, timeout=SECONDS, check=False).stdout.decode("utf-8", "replace")


def by_office(path: Path, folder: Path) -> str:
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", str(folder), str(path)]
    subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    written = folder / f"{path.stem}.txt"
    return written.read_text(encoding="utf-8", errors="replace") if written.exists() else ""


OTHERS = {".pdf": ("pdftotext", by_pdftotext), ".docx": ("soffice", by_office)}


def outcomes(done: list[Extracted]) -> None:
    """How many files of each suffix ended how."""
    reasons = Counter((one.file.path.suffix.lower(), re.sub(r"\d+", "#", one.problem or "read").partition(" (")[0][:80]) for one in done)
    for (suffix, reason), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:>6}  {suffix:<6} {reason}")


def recall(done: list[Extracted], suffix: str) -> None:
    """The share of another program's tokens that we find too."""
    program, read = OTHERS[suffix]
    if shutil.which(program) is None:
        print(f"{suffix}: {program} is not installed, nothing to compare with")
        return
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        for one in done:
            if one.file.path.suffix.lower() == suffix and one.text:
                try:
                    wanted = tokens(read(one.file.path, Path(folder)))
                except subprocess.TimeoutExpired:
                    continue
                if wanted.total() >= LEAST:
                    shares.append((wanted & tokens(one.text)).total() / wanted.total())
    good = sum(share >= GOOD for share in shares) / len(shares)
    print(f"{suffix} against {program}: {len(shares)} documents, recall median {statistics.median(shares):.3f}, mean {statistics.mean(shares):.3f}, at least {GOOD} in {good:.0%}")


def main() -> None:
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    archives = sorted(corpus.glob("*.tar.xz"))
    if not archives:
        sys.exit(f"SKIPPED: {corpus} has no .tar.xz archives of documents")
    with tempfile.TemporaryDirectory() as folder:
        for archive in archives:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        files = [File(path, str(path.relative_to(folder)), path.stat().st_size) for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        started = time.perf_counter()
        done = list(extract(files))
        print(f"{len(files)} files in {time.perf_counter() - started:.1f} s; slowest {max(one.seconds for one in done):.1f} s")
        outcomes(done)
        for suffix in OTHERS:
            recall(done, suffix)


if __name__ == "__main__":
    main()
