"""Open Packaging: how the parts of a .docx or .pptx refer to one another."""

import posixpath
from dataclasses import dataclass, field

from twinset.documents.confinement import Unreadable
from twinset.documents.formats.archive import Archive
from twinset.documents.formats.markup import walk


@dataclass(frozen=True)
class Relation:
    """One part named by another: by which id, as what (`header`, `slide`, ...), and where in the archive."""

    id: str
    kind: str
    target: str


@dataclass
class Relations:
    """Collects the relations of a part; those that point out of the archive are left out."""

    folder: str
    found: list[Relation] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "package:Relationship" and attributes.get("TargetMode", "").lower() != "external":
            target = attributes.get("Target", "").replace("\\", "/")
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(self.folder, target))
            self.found.append(Relation(attributes.get("Id", ""), attributes.get("Type", "").rpartition("/")[2], path))

    def end(self, tag: str) -> None: ...
    def data(self, text: str) -> None: ...


def relations(archive: Archive, part: str) -> list[Relation]:
    """What `part` names, in the order of the file; `part` is "" for the package itself."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    collected = Relations(folder)
    if path in archive:
        walk(archive.blocks(path), collected, path)
    return [relation for relation in collected.found if relation.target in archive]


def main_part(archive: Archive, usual: str) -> str:
    """The part that holds the document itself."""
    named = [relation.target for relation in relations(archive, "") if relation.kind == "officeDocument"]
    found = next((name for name in (*named, usual) if name in archive), None)
    if found is None:
        raise Unreadable(f"is damaged: it has no part {usual}")
    return found
