"""XML of office documents, read as a stream: constant memory, no entities, no document type, nothing fetched."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol
from xml.parsers import expat

from twinset.documents.confinement import Limits, Unreadable, size_text

DEEPEST = 1000  # elements within one another; Word itself stops far below
# Short prefixes for namespaces, found by a piece of their names: the transitional and the strict kind of Office then read alike.
PREFIXES = (
    ("wordprocessingml", "w"),
    ("/math", "m"),
    ("drawingml", "a"),
    ("presentationml", "p"),
    ("markup-compatibility", "mc"),
    ("xmlns:text", "text"),
    ("xmlns:office", "office"),
    ("xmlns:style", "style"),
    ("xmlns:draw", "draw"),
    ("xmlns:manifest", "manifest"),
    ("package/2006/relationships", "package"),
    ("relationships", "r"),
    ("/opf", "opf"),
    ("xmlns:container", "container"),
)


class Handler(Protocol):
    """What is told of the elements, in their order. Names are `prefix:name`."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def data(self, text: str) -> None: ...


@cache
def short(name: str) -> str:
    """`prefix:name` of an expanded name, or the bare name when its namespace is none of ours."""
    space, _, local = name.rpartition(" ")
    return next((f"{prefix}:{local}" for piece, prefix in PREFIXES if piece in space), local)


def walk(blocks: Iterable[bytes], handler: Handler, part: str) -> None:
    """Feed the XML in `blocks` to `handler`; refuse document types (and so every entity), deep nesting and what is not XML."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise Unreadable(f"is nested more than {DEEPEST} elements deep in {part}")
        handler.start(short(name), attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(short(name))

    def doctype(*_: object) -> None:
        raise Unreadable(f"declares a document type in {part}, as entity bombs do; office documents have none")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, handler.data
    parser.StartDoctypeDeclHandler = doctype
    try:
        for block in blocks:
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable(f"is damaged: {part} is not XML ({error})") from None


@dataclass(frozen=True)
class Rules:
    """Which elements of a format hold text, and what stands between them."""

    texts: frozenset[str]  # their characters are text
    breaks: Mapping[str, str]  # written where they begin
    paragraphs: frozenset[str]  # end a line; what was put aside follows it
    cells: frozenset[str] = frozenset()  # end with a tab
    skipped: frozenset[str] = frozenset()  # with all that is in them
    asides: frozenset[str] = frozenset()  # boxes and notes within a paragraph: their text follows it


@dataclass
class Flow:
    """Collects the text of one part by the rules. Of alternatives for different readers the first that holds text is taken, once."""

    rules: Rules
    limits: Limits
    buffers: list[list[str]] = field(default_factory=lambda: [[]])
    aside: list[str] = field(default_factory=list)
    choices: list[int] = field(default_factory=list)  # `written` where each alternative began
    written: int = 0
    inside: int = 0
    skipping: int = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        rules = self.rules
        if self.skipping or tag in rules.skipped or self._is_second_choice(tag):
            self.skipping += 1
        elif tag == "mc:AlternateContent":
            self.choices.append(self.written)
        elif tag in rules.asides:
            self.buffers.append([])
        elif tag in rules.breaks:
            self.write(rules.breaks[tag])
        if tag in rules.texts and not self.skipping:
            self.inside += 1

    def end(self, tag: str) -> None:
        rules = self.rules
        if self.skipping:
            self.skipping -= 1
            return
        if tag in rules.texts:
            self.inside -= 1
        if tag in rules.paragraphs:
            self.write("\n")
            self._place_asides()
        elif tag in rules.cells:
            self.write("\t")
        elif tag in rules.asides:
            self.aside.append("".join(self.buffers.pop()))
        elif tag == "mc:AlternateContent":
            self.choices.pop()

    def data(self, text: str) -> None:
        if self.inside and not self.skipping:
            self.write(text)

    def write(self, text: str) -> None:
        self.buffers[-1].append(text)
        self.written += len(text.strip())
        if self.written > self.limits.text:
            raise Unreadable(f"holds more than {size_text(self.limits.text)} of text")

    def text(self) -> str:
        """All that was collected."""
        self._place_asides()
        return "".join(self.buffers[0])

    def _is_second_choice(self, tag: str) -> bool:
        return tag in ("mc:Choice", "mc:Fallback") and bool(self.choices) and self.written > self.choices[-1]

    def _place_asides(self) -> None:
        if len(self.buffers) == 1 and self.aside:
            self.buffers[0] += self.aside
            self.aside = []
