"""Results for people: small tables and lines on a terminal."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from twinset.comparing import Comparison
from twinset.documents.writing import LISTS, whole, write_table
from twinset.errors import BadInput
from twinset.estimate.planner import Choice, Plan
from twinset.pipeline import Deduped, Scanned, Sketched

FACTOR = "storage factor: stored bits × variance at the threshold, lower is better"
SAVING = "saving: bytes that 64-bit values need for the same error, over these bytes"


def comparison(found: Comparison) -> Table:
    """What two documents share, one quantity in each line."""
    table = Table.grid(padding=(0, 2))
    table.add_row("resemblance", f"{found.exact:.4f}", "exact")
    table.add_row("", f"{found.resemblance:.4f}", f"estimated from sketches, {100 * found.level:g} % interval {found.low:.4f} to {found.high:.4f}, raw {found.raw:.4f}")
    table.add_row("left in right", f"{found.containment_left:.4f}", f"{found.shared} of {found.size_left} shingles")
    table.add_row("right in left", f"{found.containment_right:.4f}", f"{found.shared} of {found.size_right} shingles")
    for side, size, bad in (("left", found.size_left, found.malformed_left), ("right", found.size_right, found.malformed_right)):
        if not size:
            table.add_row("note", "", f"the {side} document is empty: it has no letter or digit, and resembles nothing")
        if bad:
            table.add_row("note", "", f"{bad} malformed UTF-8 sequences in the {side} document were replaced")
    return table


def plan(found: Plan) -> list[Table | Text]:
    """The choices of a plan, best first, and what the limits kept out."""
    table = Table(box=None, header_style="bold", collapse_padding=True, pad_edge=False)
    around = [f"error\nat {at:g}" for at, _ in found.best.errors]
    judged = found.best.precision is not None
    for heading in ("layout", "samples", "bytes", *around, *(("preci-\nsion", "recall") if judged else ("storage\nfactor",)), "saving", "permu-\ntations", "ns/\nshingle"):
        table.add_column(heading, justify="left" if heading == "layout" else "right", no_wrap=heading == "layout")
    for choice in found:
        table.add_row(*_cells(choice, judged), style="bold" if choice is found.best else "")
    lines = [Text(f"best: {found.best.why}"), *(Text(f"note: {note}") for note in found.notes)]
    return [table, *lines, Text(SAVING if judged else f"{FACTOR}\n{SAVING}", style="dim")]


def sketched(done: Sketched, out: str) -> Text:
    """One line on a finished run."""
    rate = done.text_bytes / 1e6 / max(done.seconds, 1e-9)
    line = f"{done.documents:,} documents, {done.text_bytes / 1e6:,.1f} MB of text in {done.seconds:.1f} s ({rate:,.0f} MB/s): {done.sketch_bytes} bytes each in {out}"
    empty = f"; {done.empty:,} empty" if done.empty else ""
    malformed = f"; {done.malformed:,} malformed UTF-8 sequences replaced" if done.malformed else ""
    return Text(line + empty + malformed)


def deduped(done: Deduped, out: str) -> Table:
    """What a run did, and its promises."""
    table = Table.grid(padding=(0, 2))
    table.add_row("documents", f"{done.rows_in:,}", f"in {done.seconds:.1f} s" + (", going on with a run that was stopped" if done.resumed else ""))
    table.add_row("kept", f"{done.kept:,}", f"in {out}" + (f"; {done.empty:,} of them empty" if done.empty else ""))
    table.add_row("removed", f"{done.removed:,}", f"each has a kept document at resemblance {done.threshold:g} or more, counted from the texts")
    said = f"{done.missed_low:,} to {done.missed_high:,}" if done.missed_high > done.missed_low else f"{done.missed_low:,}"
    table.add_row("missed", said, f"pairs, with 95 % confidence, beside the {done.found:,} found; a pair at {done.threshold:g} is found with probability {done.detection:.4f}")
    if done.malformed:
        table.add_row("note", f"{done.malformed:,}", "malformed UTF-8 sequences were read as U+FFFD; the copies keep them as they are")
    return table


def scanned(found: Scanned, limit: int, report: Path | None, pairs: Path | None) -> list[Table | Text]:
    """The ranked pairs, and what could not be read."""
    table = Table(box=None, header_style="bold", collapse_padding=True, pad_edge=False)
    for heading in ("resem-\nblance", "of\nleft", "of\nright", "longest\npassage", "left", "right"):
        table.add_column(heading, justify="left" if heading in ("left", "right") else "right", overflow="fold")
    shown = len(found) if not limit else min(limit, len(found))
    for i in range(shown):
        hits = found.hits
        longest = max((passage.words for passage in found.passages(i)), default=0)
        shares = [f"{100 * float(column[i]):.0f} %" for column in (hits.resemblance, hits.containment_left, hits.containment_right)]
        table.add_row(*shares, f"{longest:,}", *(Text(found.documents[int(side[i])].name) for side in (hits.pairs.left, hits.pairs.right)))
    read = len(found.documents) - len(found.problems)
    lines: list[Table | Text] = [
        Text(f"{len(found):,} pairs of {read:,} documents with {found.by} {found.threshold:g} or more" + (f"; the first {shown} are shown" if shown < len(found) else ""))
    ]
    lines += [Text(f"{len(found.ignored):,} shingles of templates were left out")] if len(found.ignored) else []
    lines += [Text(f"{sum(found.skipped.values()):,} files of other kinds were passed over: {_counted(found.skipped)}")] if found.skipped else []
    lines += _first(limit, "nothing to compare", [document.name for document in found.empty])
    lines += _first(limit, "not read", [f"{document.name}: {document.problem}" for document in found.problems])
    lines += _first(limit, "note", [f"{document.name}: {document.note}" for document in found.documents if document.note and not document.problem])
    lines += [Text(f"{what}: {path}") for what, path in (("report", report), ("pairs", pairs)) if path is not None]
    return [table, *lines] if len(found) else lines


def scanned_dict(found: Scanned) -> dict[str, Any]:
    """The same for machines."""
    about = {"documents": len(found.documents), "by": found.by, "threshold": found.threshold, "ignored_shingles": len(found.ignored), "about": found.about}
    problems = [{"name": document.name, "problem": document.problem} for document in found.problems]
    notes = [{"name": document.name, "note": document.note} for document in found.documents if document.note]
    unread = {"problems": problems, "notes": notes, "empty": [document.name for document in found.empty], "skipped": found.skipped}
    return about | {"certificate": found.certificate.to_dict()} | unread | {"pairs": found.table().to_pylist()}


def check_lists(pairs: Path | None, report: Path | None, given: Iterable[Path]) -> None:
    """Refuse names of files that cannot be written, or that are among the files given, before any work."""
    if pairs is not None and pairs.suffix not in LISTS:
        raise BadInput(f"{pairs} ends in {pairs.suffix!r}; allowed for pairs: {', '.join(LISTS)}")
    if report is not None and report.suffix != ".html":
        raise BadInput(f"{report} ends in {report.suffix!r}; allowed for a report: .html")
    for path in (pairs, report):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise BadInput(f"{path} cannot be written; allowed: a file in a folder that exists")
        if path is not None and path.exists() and any(other.exists() and path.samefile(other) for other in given):
            raise BadInput(f"{path} is one of the documents; allowed: another file to write")


def _first(limit: int, label: str, rows: list[str]) -> list[Text]:
    shown = [Text(f"{label}: {row}") for row in (rows[:limit] if limit else rows)]
    return shown + ([Text(f"{label}: {len(rows) - limit:,} more, which --limit 0, --json and the report list")] if 0 < limit < len(rows) else [])


def _counted(skipped: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(skipped.items()))


def write_pairs(found: Scanned, path: Path) -> None:
    """Write the pairs, with the names of documents."""
    with whole(path) as part:
        write_table(found.table(), part, path.suffix)


def show(*parts: Table | Text) -> None:
    """Print on stdout, as wide as the terminal."""
    console = Console(highlight=False)
    for part in parts:
        console.print(part)


def _cells(choice: Choice, judged: bool) -> list[str]:
    share = [f"{choice.precision:.3f}", f"{choice.recall:.3f}"] if judged else [f"{choice.storage_factor:.3f}"]
    speed = "" if choice.ns_per_shingle is None else f"{choice.ns_per_shingle:.1f}"
    errors = [f"{error:.4f}" for _, error in choice.errors]
    return [choice.bits, str(choice.samples), str(choice.bytes), *errors, *share, f"{choice.saving:.1f}", str(choice.permutations), speed]
