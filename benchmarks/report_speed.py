"""A report of 5 000 pairs: how long it takes to align and to write, to open in Chromium, to scroll, to sort, and to open a pair.

    pip install -e ".[dev]" && apt-get install chromium chromium-driver && python benchmarks/report_speed.py

Documents are of random words with Zipf's frequencies; each shares a third with the next. A page is open when its first rows are drawn and the browser is idle.
"""

import argparse
import csv
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver

from twinset.config import Config
from twinset.passages import align, locate, passages
from twinset.report.html import DocumentEntry, PairEntry, ReportData, write_report

RESULTS = Path(__file__).parent / "results" / "report_speed.csv"
DOCUMENTS, WORDS, PAIRS, LONG = 2_000, 1_000, 5_000, 100_000
SCROLL = """
const done = arguments[0], gaps = [], end = document.documentElement.scrollHeight;
let last = performance.now(), y = 0;
const move = now => { gaps.push(now - last); last = now; y += end / 300; scrollTo(0, y); if (gaps.length < 300) requestAnimationFrame(move); else done(gaps); };
requestAnimationFrame(move);
"""
WORK = "const before = performance.now(); {} return performance.now() - before;"


def texts() -> list[str]:
    """Each shares its last third with the first third of the next."""
    random = np.random.default_rng(7)
    third = WORDS // 3
    parts = [" ".join(f"word{i}" for i in np.minimum(random.zipf(1.3, third), 50_000)) for _ in range(2 * DOCUMENTS + 1)]
    return [f"{parts[2 * d]}\n\n{parts[2 * d + 1]}\n\n{parts[2 * d + 2]}" for d in range(DOCUMENTS)]


def seconds(work: Any) -> tuple[float, Any]:
    before = time.perf_counter()
    result = work()
    return time.perf_counter() - before, result


def long_texts() -> float:
    """The time to align two texts of 100 000 words that have all but every 23rd word in common, their halves exchanged."""
    words = [f"word{i}" for i in np.minimum(np.random.default_rng(1).zipf(1.3, LONG), 50_000)]
    others = ["other" if i % 23 == 0 else word for i, word in enumerate(words[LONG // 2 :] + words[: LONG // 2])]
    left, right = " ".join(words), " ".join(others)
    return min(seconds(lambda: passages(left, right, Config()))[0] for _ in range(3))


def report() -> tuple[ReportData, float]:
    """The report, and the time to align its pairs."""
    config, documents = Config(), texts()
    located = [locate(text, config) for text in documents]
    sides = [(d, d + step) for step in (1, 2, 3) for d in range(DOCUMENTS - step)][:PAIRS]
    taken, aligned = seconds(lambda: [tuple(align(located[i], located[j])) for i, j in sides])
    entries = tuple(DocumentEntry(f"folder/document {d}.pdf", text, len(located[d].hashes)) for d, text in enumerate(documents))
    shares = [sum(passage.shingles for passage in found) / len(located[i].hashes) for (i, _), found in zip(sides, aligned, strict=True)]
    pairs = tuple(PairEntry(i, j, share / (2 - share), share / 3, share, share, share, found, i // 2) for (i, j), share, found in zip(sides, shares, aligned, strict=True))
    return ReportData(entries, pairs, 0.1), taken


def browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-quic")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", *quiet, "window-size=1400,900", f"user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def opened(path: Path) -> dict[str, float]:
    """What a reader waits for, in seconds; the longest and the typical gap between two frames while the whole list is scrolled through in 300 steps."""
    page = browser()
    try:
        page.set_script_timeout(60)
        wall, _ = seconds(lambda: (page.get(path.as_uri()), page.execute_script("return document.querySelectorAll('#rows [role=row]').length")))
        loaded = page.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000
        gaps = page.execute_async_script(SCROLL)[1:]
        sort = page.execute_script(WORK.format("document.querySelector('[data-sort=names]').click(); document.body.offsetHeight;")) / 1000
        pair = page.execute_script(WORK.format("location.hash = 'pair=1'; dispatchEvent(new Event('hashchange')); document.getElementById('left').offsetHeight;")) / 1000
        return {"open": wall, "load": loaded, "sort": sort, "pair": pair, "frame": float(np.median(gaps)) / 1000, "slowest_frame": max(gaps) / 1000}
    finally:
        page.quit()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    passages("a b c d e f", "a b c d e f", Config())  # compiled
    data, align_time = report()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_time, _ = seconds(lambda: write_report(path, data))
        runs = [opened(path) for _ in range(3)]
        size = path.stat().st_size
    rows = {"align 100 000 words": long_texts(), "align all pairs": align_time, "write": write_time, "megabytes": size / 1e6}
    rows |= {name: float(np.median([run[name] for run in runs])) for name in runs[0]}
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["version", "documents", "pairs", "what", "value"])
        writer.writerows([version("twinset"), DOCUMENTS, PAIRS, name, f"{value:.3f}"] for name, value in rows.items())
    for name, value in rows.items():
        print(f"{name:>20} {value:.3f}")


if __name__ == "__main__":
    main()
