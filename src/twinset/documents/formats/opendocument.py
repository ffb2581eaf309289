"""OpenDocument texts (.odt): headers, body with tables, frames and notes, footers. Comments and the record of deleted text are left out."""

from typing import BinaryIO

from twinset.documents.confinement import Limits, Text, Unreadable
from twinset.documents.formats.archive import Archive
from twinset.documents.formats.markup import Flow, Rules, walk

SKIPPED = frozenset({"office:annotation", "text:tracked-changes", "text:note-citation", "text:ruby-text", "text:page-number", "office:forms"})
BODY = Rules(
    texts=frozenset({"text:p", "text:h"}),
    breaks={"text:s": " ", "text:tab": "\t", "text:line-break": "\n"},
    paragraphs=frozenset({"text:p", "text:h"}),
    skipped=SKIPPED,
    asides=frozenset({"text:note-body", "draw:text-box"}),
)


def read(file: BinaryIO, limits: Limits) -> Text:
    archive = Archive(file, limits)
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("is encrypted: opening it needs a password")
    found: dict[str, None] = {}
    for part in ("styles.xml", "content.xml"):
        if part in archive or part == "content.xml":
            flow = Flow(BODY, limits)
            walk(archive.blocks(part), flow, part)
            found.setdefault(flow.text())
    return Text("\n".join(text for text in found if text.strip()))
