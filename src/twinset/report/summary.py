"""The words of a report: what was read, what was found, and what may have been missed."""

from html import escape

from twinset.estimate.certificate import Certificate
from twinset.report.entries import DocumentEntry, PairEntry, ReportData

PLAIN = 100  # pairs in the table that is shown where scripts do not run
SOME = {
    "resemblance": "In {pairs} the two documents resemble each other by {share} or more; the highest resemblance is {highest}.",
    "containment": "In {pairs} {share} or more of one document is found in the other; the highest share is {highest}.",
}
NONE = {
    "resemblance": "In no pair do the two documents resemble each other by {share} or more.",
    "containment": "In no pair is {share} or more of one document found in the other.",
}


def overview(data: ReportData) -> str:
    """The first paragraph, the figures and the certificate."""
    failed, empty = (len(found) for found in _unread(data))
    read = len(data.documents) - failed
    groups = len({pair.group for pair in data.pairs if pair.group is not None})
    figures = [(whole_number(read), _plural(read, "document read", "documents read")), (whole_number(len(data.pairs)), _plural(len(data.pairs), "pair", "pairs") + " listed")]
    figures += [(whole_number(groups), _plural(groups, "group", "groups"))] if groups else []
    figures += [(whole_number(failed), "could not be read")] if failed else []
    figures += [(whole_number(empty), "without text")] if empty else []
    figures += [(whole_number(data.ignored), _plural(data.ignored, "template shingle ignored", "template shingles ignored"))] if data.ignored else []
    cells = "".join(f"<div><dd>{value}</dd><dt>{label}</dt></div>" for value, label in figures)
    facts = "".join(f"<p><b>{escape(label)}</b> {escape(text)}</p>" for label, text in data.facts)
    return f'<p class="lead">{_found(data, read)}</p>\n<dl class="figures">{cells}</dl>\n{_certified(data.certificate)}{facts}'


def problems(data: ReportData) -> str:
    """Documents that could not be read, that are empty, or that have a note."""
    failed, empty = _unread(data)
    noted = [document for document in data.documents if document.note and document.problem is None]
    nothing = "no letter or digit to compare" + (", but for a template's" if data.ignored else "")
    parts = [
        _named(f"{whole_number(len(failed))} {_plural(len(failed), 'file', 'files')} could not be read", [(document.name, document.problem or "") for document in failed]),
        _named(f"{whole_number(len(empty))} {_plural(len(empty), 'document has', 'documents have')} {nothing}", [(document.name, "") for document in empty]),
        _named(f"{whole_number(len(noted))} {_plural(len(noted), 'note', 'notes')} on how documents were read", [(document.name, document.note or "") for document in noted]),
    ]
    return "".join(parts)


def plain(data: ReportData) -> str:
    """A table of the first pairs for viewers that run no scripts."""
    rows = "".join(_row(data, pair) for pair in data.pairs[:PLAIN])
    left = len(data.pairs) - PLAIN
    more = f"<p>{whole_number(left)} more pairs are in this file. Open it in a browser to see them.</p>" if left > 0 else ""
    heads = "".join(f"<th>{head}</th>" for head in ("Documents", "Resemblance", "Of the first in the second", "Of the second in the first", f"Longest passage, {data.unit}"))
    return f"<p>This viewer runs no scripts: texts side by side can be seen in a browser.</p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"


def foot(data: ReportData, version: str) -> str:
    """How it was made."""
    search = "; ".join(text for text in (data.why, data.about) if text)
    names = "Names are replaced by codes, the same in every report. Texts are as they were." if data.anonymise else ""
    made = f"Made by twinset {version}" + (f" on {data.date}" if data.date else "") + "."
    return "".join(f"<p>{escape(line)}</p>" for line in (f"Search: {search}." if search else "", names, made) if line)


def share(value: float) -> str:
    """A share in per cent; only what is 0 or 1 is shown as 0 % or 100 %."""
    if 0 < value < 0.005:
        return "&lt;1\u00a0%"
    return "&gt;99\u00a0%" if 0.995 <= value < 1 else f"{value:.0%}".replace("%", "\u00a0%")


def whole_number(value: float) -> str:
    """With thin spaces between thousands."""
    return f"{value:,.0f}".replace(",", "\u202f")


def _plural(count: float, one: str, many: str) -> str:
    return one if round(count) == 1 else many


def _unread(data: ReportData) -> tuple[list[DocumentEntry], list[DocumentEntry]]:
    failed = [document for document in data.documents if document.problem is not None]
    return failed, [document for document in data.documents if document.problem is None and not document.size]


def _found(data: ReportData, read: int) -> str:
    documents = f"{whole_number(read)} {_plural(read, 'document was', 'documents were')} read and compared."
    if not data.pairs:
        return f"{documents} {NONE[data.by].format(share=share(data.threshold))}"
    pairs = f"{whole_number(len(data.pairs))} {_plural(len(data.pairs), 'pair', 'pairs')}"
    highest = max(getattr(pair, data.by) for pair in data.pairs)
    return f"{documents} {SOME[data.by].format(pairs=pairs, share=share(data.threshold), highest=share(highest))}"


def _certified(certificate: Certificate | None) -> str:
    if certificate is None:
        return ""
    if certificate.detection >= 1 and not certificate.missed_high:
        words, more = "No such pair was missed.", "The search was complete: every pair at or above the threshold is listed."
    else:
        missed, low, high = (whole_number(value) for value in (certificate.missed, certificate.missed_low, certificate.missed_high))
        unsure = f"{low} to {high}, with {share(certificate.level)} confidence"
        words = f"About {missed} {_plural(certificate.missed, 'pair', 'pairs')} may have been missed ({unsure})."
        more = f"A pair exactly at the threshold is found with a probability of {100 * certificate.detection:.1f}\u00a0%; one that shares more, with a higher one."
    return f'<div class="certificate"><h2>What may have been missed</h2><p class="said">{words}</p><p>{more}</p></div>\n'


def _named(title: str, rows: list[tuple[str, str]]) -> str:
    if not rows:
        return ""
    items = "".join(f"<li><b>{escape(name)}</b>{' ' + escape(text) if text else ''}</li>" for name, text in rows)
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>\n"


def _row(data: ReportData, pair: PairEntry) -> str:
    names = f"<td>{escape(data.documents[pair.left].name)}<br>{escape(data.documents[pair.right].name)}</td>"
    shares = "".join(f"<td>{share(value)}</td>" for value in (pair.resemblance, pair.containment_left, pair.containment_right))
    return f"<tr>{names}{shares}<td>{whole_number(pair.longest)}</td></tr>"
