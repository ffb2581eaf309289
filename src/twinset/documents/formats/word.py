"""Word documents (.docx): headers, body with tables and text boxes, footnotes, endnotes, footers. Comments, deleted and moved-away text, and field codes are left out."""

from typing import BinaryIO

from twinset.documents.confinement import Limits, Text, Unreadable
from twinset.documents.formats.archive import Archive
from twinset.documents.formats.markup import Flow, Rules, walk
from twinset.documents.formats.package import main_part, relations

RULES = Rules(
    texts=frozenset({"w:t", "m:t", "a:t"}),
    breaks={"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"},
    paragraphs=frozenset({"w:p", "a:p"}),
    cells=frozenset({"w:tc"}),
    skipped=frozenset({"w:del", "w:moveFrom", "w:instrText", "w:rt", "w:tabs", "w:pPr"}),
    asides=frozenset({"w:txbxContent"}),
)
BEFORE, AFTER = ("header",), ("footnotes", "endnotes", "footer")


def read(file: BinaryIO, limits: Limits) -> Text:
    archive = Archive(file, limits)
    main = main_part(archive, "word/document.xml")
    named = relations(archive, main)
    found: dict[str, None] = {}  # a header for first, odd and even pages is often the same text
    notes = []

    def add(kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            for part in dict.fromkeys(relation.target for relation in named if relation.kind == kind):
                try:
                    found.setdefault(_part(archive, part, limits))
                except Unreadable as error:
                    notes.append(f"without part {part}, which {error}")

    add(BEFORE)
    found.setdefault(_part(archive, main, limits))
    add(AFTER)
    if any(relation.kind == "aFChunk" for relation in named):
        notes.append("without the documents embedded in it")
    return Text("\n".join(text for text in found if text.strip()), "; ".join(notes) or None)


def _part(archive: Archive, part: str, limits: Limits) -> str:
    flow = Flow(RULES, limits)
    walk(archive.blocks(part), flow, part)
    return flow.text()
