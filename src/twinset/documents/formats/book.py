"""Electronic books (.epub): the chapters in reading order, each as a page of HTML."""

import posixpath
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import unquote

from twinset.documents.confinement import Limits, Text, Unreadable, size_text
from twinset.documents.formats.archive import Archive
from twinset.documents.formats.html import visible
from twinset.documents.formats.markup import walk

CONTAINER = "META-INF/container.xml"
PAGES = ("application/xhtml+xml", "text/html")


@dataclass
class Contents:
    """Collects where the list of parts is, the parts by id, and the reading order."""

    lists: list[str] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "rootfile":
            self.lists.append(attributes.get("full-path", ""))
        elif name == "item" and attributes.get("media-type") in PAGES:
            self.parts[attributes.get("id", "")] = unquote(attributes.get("href", ""))
        elif name == "itemref":
            self.order.append(attributes.get("idref", ""))

    def end(self, tag: str) -> None: ...
    def data(self, text: str) -> None: ...


def read(file: BinaryIO, limits: Limits) -> Text:
    archive = Archive(file, limits)
    if "META-INF/rights.xml" in archive:
        raise Unreadable("is protected against copying")
    contents = Contents()
    walk(archive.blocks(CONTAINER), contents, CONTAINER)
    if not contents.lists or contents.lists[0] not in archive:
        raise Unreadable("is damaged: it has no list of its parts")
    walk(archive.blocks(contents.lists[0]), contents, contents.lists[0])
    folder = posixpath.dirname(contents.lists[0])
    chapters = [posixpath.normpath(posixpath.join(folder, contents.parts[id])) for id in contents.order if id in contents.parts]
    missing = sum(chapter not in archive for chapter in chapters)
    texts, size = [], 0
    for chapter in chapters:
        if chapter in archive:
            texts.append(visible(archive.read(chapter)))
            size += len(texts[-1])
            if size > limits.text:
                raise Unreadable(f"holds more than {size_text(limits.text)} of text")
    return Text("\n\n".join(texts), f"{missing} of {len(chapters)} chapters are missing" if missing else None)
