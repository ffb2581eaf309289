"""Presentations (.pptx): the text of the slides in their order, tables included. Speakers' notes, masters and comments are left out."""

from dataclasses import dataclass, field
from typing import BinaryIO

from twinset.documents.confinement import Limits, Text
from twinset.documents.formats.archive import Archive
from twinset.documents.formats.markup import Flow, Rules, walk
from twinset.documents.formats.package import main_part, relations

RULES = Rules(
    texts=frozenset({"a:t", "m:t"}),
    breaks={"a:br": "\n", "a:tab": "\t"},
    paragraphs=frozenset({"a:p"}),
    cells=frozenset({"a:tc"}),
)


@dataclass
class Order:
    """Collects the ids of the slides in the order in which they are shown."""

    ids: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "p:sldId":
            self.ids += [value for name, value in attributes.items() if name.endswith(" id")]

    def end(self, tag: str) -> None: ...
    def data(self, text: str) -> None: ...


def read(file: BinaryIO, limits: Limits) -> Text:
    archive = Archive(file, limits)
    main = main_part(archive, "ppt/presentation.xml")
    order = Order()
    walk(archive.blocks(main), order, main)
    targets = {relation.id: relation.target for relation in relations(archive, main)}
    flow = Flow(RULES, limits)
    for part in (targets[slide] for slide in order.ids if slide in targets):
        walk(archive.blocks(part), flow, part)
        flow.write("\n")
    return Text(flow.text())
