"""From a scan to the data of its report."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

from twinset.pipeline.scanning import Document, Scanned
from twinset.report.html import DocumentEntry, PairEntry, ReportData, code, hidden, write_report


def anonymised(found: Scanned) -> Scanned:
    """With codes instead of names, also where a problem or a note tells one."""
    return replace(found, documents=tuple(_hidden(document) for document in found.documents))


def _hidden(document: Document) -> Document:
    name = code(document.name)
    return replace(document, name=name, problem=hidden(document.problem, document.name, name), note=hidden(document.note, document.name, name))


def write(found: Scanned, path: Path, *, anonymise: bool = False, progress: Callable[[str, int, int], None] = lambda stage, done, total: None) -> None:
    """Write the report of a scan, with the passages of every pair."""
    write_report(path, report_data(found, anonymise=anonymise, progress=progress))


def report_data(found: Scanned, *, anonymise: bool = False, progress: Callable[[str, int, int], None] = lambda stage, done, total: None) -> ReportData:
    """What the report says."""
    rows = {int(row) for side in (found.hits.pairs.left, found.hits.pairs.right) for row in side}
    ignored = {row: tuple(found.template(row)) for row in rows} if len(found.ignored) else {}
    documents = tuple(DocumentEntry(each.name, each.text, int(found.sizes[row]), ignored.get(row, ()), each.problem, each.note) for row, each in enumerate(found.documents))
    pairs, groups, hits = [], found.groups, found.hits
    numbers: dict[int, int] = {}
    for i in range(len(found)):
        left, right = int(hits.pairs.left[i]), int(hits.pairs.right[i])
        group = numbers.setdefault(int(groups[left]), len(numbers) + 1)
        resemblance, low, high, of_left, of_right = (float(column[i]) for column in (hits.resemblance, hits.low, hits.high, hits.containment_left, hits.containment_right))
        pairs.append(PairEntry(left, right, resemblance, low, high, of_left, of_right, tuple(found.passages(i)), group))
        progress("aligning", i + 1, len(found))
    skipped = ", ".join(f"{count} {suffix}" for suffix, count in sorted(found.skipped.items()))
    facts: tuple[tuple[str, str], ...] = (("Older documents", f"{sum(each.old for each in found.documents):,}"),) if any(each.old for each in found.documents) else ()
    facts += (("Files of other kinds, not read", skipped),) if skipped else ()
    unit = "words" if found.config.unit == "words" else "characters"
    return ReportData(
        documents, tuple(pairs), found.threshold, found.certificate, by=found.by, unit=unit, ignored=len(found.ignored), about=found.about,
        date=date.today().isoformat(), facts=facts, anonymise=anonymise,
    )  # fmt: skip
