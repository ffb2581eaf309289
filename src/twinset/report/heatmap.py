"""Groups of documents as matrices: how much of the document of a row is found in that of a column."""

from collections import defaultdict
from html import escape
from itertools import pairwise

from twinset.report.entries import ReportData
from twinset.report.summary import share, whole_number

WHOLE = 60  # documents in groups that one matrix shows; of more, each large group has a matrix of its own
SMALL = 3  # documents in a group that is worth a matrix of its own
SHOWN = 24  # matrices of groups
STEPS = (0.3, 0.5, 0.7, 0.85, 0.95)  # where the shade changes
NUMBERED = 24  # documents in a matrix whose cells say their number too
LABEL = 32  # letters of a name beside a matrix

Cells = dict[tuple[int, int], tuple[float, int]]
Group = tuple[int, list[int]]  # its number, and its documents


def groups(data: ReportData) -> str:
    """The section on groups, or nothing if there is none."""
    members, cells = _members(data), _cells(data)
    if not members:
        return ""
    if sum(len(group) for _, group in members) <= WHOLE:
        return _section(_how(), f"<figure>{_matrix(data, members, cells)}</figure>")
    large = [(number, group) for number, group in members if len(group) >= SMALL][:SHOWN]
    figures = "".join(_figure(data, number, group, cells) for number, group in large)
    rest = len(members) - len(large)
    more = f"<p>{whole_number(rest)} other groups are in the list of pairs only.</p>" if rest else ""
    return _section(_how(), f'<div class="multiples">{figures}</div>{more}')


def _members(data: ReportData) -> list[Group]:
    """The groups, the largest first; in each, documents that share most with others come first."""
    weight: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for pair in data.pairs:
        if pair.group is not None:
            for d in (pair.left, pair.right):
                weight[pair.group][d] += pair.containment
    ordered = [(number, sorted(of, key=lambda d, of=of: (-of[d], d))) for number, of in sorted(weight.items())]  # type: ignore[misc]
    return sorted(ordered, key=lambda group: -len(group[1]))


def _cells(data: ReportData) -> Cells:
    """(row, column): the share, and the number of the pair."""
    cells: Cells = {}
    for i, pair in enumerate(data.pairs):
        cells[pair.left, pair.right] = pair.containment_left, i
        cells[pair.right, pair.left] = pair.containment_right, i
    return cells


def _section(how: str, body: str) -> str:
    return f'<section class="groups" aria-labelledby="groups-title"><h2 id="groups-title">Groups</h2><div class="about">{_key()}<p>{how}</p></div>{body}</section>\n'


def _how() -> str:
    return "A cell says how much of the document in its row is found in the document of its column. Select one to see both texts."


def _key() -> str:
    bounds = (0.0, *STEPS, 1.0)
    names = [f"{100 * low:.0f}–{100 * high:.0f}\u00a0%" for low, high in pairwise(bounds)]
    return '<ul class="key">' + "".join(f'<li><i class="h{i}"></i>{name}</li>' for i, name in enumerate(names)) + "</ul>"


def _figure(data: ReportData, number: int, group: list[int], cells: Cells) -> str:
    cut = f"; the {WHOLE} that share most are shown" if len(group) > WHOLE else ""
    caption = f"<figcaption>Group {number}: {whole_number(len(group))} documents{cut}</figcaption>"
    return f"<figure>{caption}{_matrix(data, [(number, group[:WHOLE])], cells)}</figure>"


def _matrix(data: ReportData, members: list[Group], cells: Cells) -> str:
    """One row and one column for each document, group after group."""
    order = [d for _, group in members for d in group]
    size = 36 if len(order) <= 12 else 28 if len(order) <= NUMBERED else 15
    margin, top = 44 + 7 * max(_width(_short(data.documents[d].name)) for d in order), 24
    side = size * len(order)
    parts = [f'<svg class="matrix" viewBox="0 0 {margin + side + 2} {top + side + 2}" width="{margin + side + 2}" height="{top + side + 2}" role="group" aria-label="Matrix">']
    for i, d in enumerate(order):
        middle = top + size * i + size / 2
        parts.append(f'<text class="name" x="{margin - 30}" y="{middle:g}">{escape(_short(data.documents[d].name))}<title>{escape(data.documents[d].name)}</title></text>')
        parts.append(f'<text class="number" x="{margin - 6}" y="{middle:g}">{i + 1}</text><text class="column" x="{margin + size * i + size / 2:g}" y="{top - 8}">{i + 1}</text>')
    place = 0
    for _, group in members:
        parts.append(f'<rect class="block" x="{margin + size * place}" y="{top + size * place}" width="{size * len(group)}" height="{size * len(group)}"/>')
        parts += [f'<rect class="own" x="{margin + size * i + 1}" y="{top + size * i + 1}" width="{size - 2}" height="{size - 2}"/>' for i in range(place, place + len(group))]
        place += len(group)
    for i, row in enumerate(order):
        parts += [_cell(data, row, column, cells[row, column], margin + size * j, top + size * i, size) for j, column in enumerate(order) if (row, column) in cells]
    return "".join([*parts, "</svg>"])


def _cell(data: ReportData, row: int, column: int, cell: tuple[float, int], x: int, y: int, size: int) -> str:
    value, pair = cell
    shade = sum(value >= step for step in STEPS)
    said = f"{share(value)} of {escape(data.documents[row].name)} in {escape(data.documents[column].name)}"
    number = f'<text class="in{shade}" x="{x + size / 2:g}" y="{y + size / 2:g}">{100 * value:.0f}</text>' if size > 15 else ""
    return (
        f'<a href="#pair={pair + 1}" aria-label="{said}"><title>{said}</title><rect class="h{shade}" x="{x + 1}" y="{y + 1}" width="{size - 2}" height="{size - 2}"/>{number}</a>'
    )


def _short(name: str) -> str:
    """A name's end tells more than its beginning, which may be a folder."""
    short = name.replace("\\", "/").rsplit("/", 1)[-1]
    if _width(short) <= LABEL:
        return short
    kept = next(i for i in range(len(short)) if _width(short[: i + 1]) >= LABEL)
    return f"{short[:kept]}…"


def _width(text: str) -> int:
    """In letters: an ideograph is as wide as two."""
    return sum(1 + (ord(c) > 0x2E80) for c in text)
