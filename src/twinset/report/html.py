"""A report in one HTML file: it needs no network and no other file, runs only what twinset wrote, and shows whatever text it is given as text."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np
from numpy.typing import NDArray

from twinset import __version__
from twinset.documents.writing import whole
from twinset.errors import BadInput
from twinset.passages import Passage
from twinset.report import heatmap, summary
from twinset.report.entries import DocumentEntry, PairEntry, ReportData

__all__ = ["DocumentEntry", "PairEntry", "ReportData", "anonymised", "code", "hidden", "page", "write_report"]

SCRIPTS = ("data.js", "list.js", "marks.js", "pair.js", "main.js")
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"} | dict.fromkeys(range(0xD800, 0xE000), "\\ufffd")  # what JSON within HTML may not hold as it is
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # no letters that look like digits or like each other
CODE = 10  # letters of a code, five bits each


def write_report(path: str | Path, data: ReportData) -> None:
    """Write the report to `path`, which appears when it is complete."""
    path = Path(path)
    with whole(path) as part:
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(page(data))
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error}); allowed: a disk with room") from None


def code(name: str) -> str:
    """What stands for a name in an anonymised report: the same in every run, and of no meaning. Who has a list of names can find out whose code it is."""
    number = int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest(), "big")
    letters = "".join(ALPHABET[number >> 5 * i & 31] for i in range(CODE))
    return f"{letters[:5]}-{letters[5:]}"


def page(data: ReportData) -> Iterator[str]:
    """The report, piece by piece."""
    data = anonymised(data) if data.anonymise else data
    style, script = _part("report.css"), "".join(map(_part, SCRIPTS))
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    head, tail = (
        Template(_part("page.html"))
        .substitute(
            policy=escape(policy),
            style=style,
            title=escape(data.title),
            overview=summary.overview(data),
            problems=summary.problems(data),
            groups=heatmap.groups(data),
            plain=summary.plain(data),
            foot=summary.foot(data, __version__),
            data="$data",
            script="$script",
        )
        .split("$data")
    )
    yield head
    yield _block("data", _listed(data))
    for d in data.shown:
        yield _block(f"text-{d}", _shown_text(data.documents[d]))
    yield tail.replace("$script", script)


def anonymised(data: ReportData) -> ReportData:
    """With codes for names, also where a name stands in a problem or a note. Texts stay as they are. Documents are put in the order of their codes, as theirs may tell names."""
    codes = [code(document.name) for document in data.documents]
    order = sorted(range(len(codes)), key=lambda d: (codes[d], d))
    place = {d: i for i, d in enumerate(order)}
    documents = tuple(
        replace(document, name=codes[d], problem=hidden(document.problem, document.name, codes[d]), note=hidden(document.note, document.name, codes[d]))
        for d, document in ((d, data.documents[d]) for d in order)
    )
    pairs = tuple(replace(pair, left=place[pair.left], right=place[pair.right]) for pair in data.pairs)
    return replace(data, documents=documents, pairs=pairs)


def hidden(text: str | None, name: str, code: str) -> str | None:
    """A text with the code instead of the name, of its last part, and of that without suffix."""
    if text is None or not name:
        return text
    for known in dict.fromkeys((name, Path(name).name, Path(name).stem)):
        text = text.replace(known, code) if known else text
    return text


def _part(name: str) -> str:
    return files("twinset.report").joinpath("page", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _block(name: str, value: object) -> str:
    """JSON that HTML cannot take for anything else: no character of it can end the block, begin a comment or another block."""
    return f'<script type="application/json" id="{name}">{json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(UNSAFE)}</script>\n'


def _listed(data: ReportData) -> dict[str, object]:
    """What the list shows: columns, one value for each pair. Documents by their place; names and notes of those that are shown."""
    pairs, shown = data.pairs, data.shown
    wide = {d: _utf16(data.documents[d].text) for d in shown}
    return {
        "unit": data.unit,
        "by": data.by,
        "documents": {d: [data.documents[d].name, data.documents[d].size, data.documents[d].note or ""] for d in shown},
        "left": [pair.left for pair in pairs],
        "right": [pair.right for pair in pairs],
        **{name: [round(getattr(pair, name), 4) for pair in pairs] for name in ("resemblance", "low", "high", "containment_left", "containment_right")},
        "longest": [pair.longest for pair in pairs],
        "group": [pair.group for pair in pairs],
        "passages": [";".join(_compact(passage, wide[pair.left], wide[pair.right]) for passage in pair.passages) for pair in pairs],
    }


def _compact(passage: Passage, left: NDArray[np.int64] | None, right: NDArray[np.int64] | None) -> str:
    """Its words, and for each run where it begins and ends in both texts."""
    places = [f"{place if wide is None else wide[place]}" for run in passage.runs for span, wide in zip(run, (left, right), strict=True) for place in span]
    return " ".join([str(passage.words), *places])


def _shown_text(document: DocumentEntry) -> dict[str, object]:
    wide = _utf16(document.text)
    return {"text": document.text, "ignored": [int(place if wide is None else wide[place]) for span in document.ignored for place in span]}


def _utf16(text: str) -> NDArray[np.int64] | None:
    """Where each character begins in UTF-16, as a browser counts; None if it is where Python says."""
    if not re.search("[\U00010000-\U0010ffff]", text):
        return None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(1 + (codes >= 0x10000))])
