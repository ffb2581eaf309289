"""Web pages: the text a reader sees, a line for each block. Scripts, styles, forms' choices and hidden elements are left out."""

import re
from typing import BinaryIO

from selectolax.lexbor import LexborHTMLParser, LexborNode

from twinset.documents.confinement import Limits, Text, Unreadable, size_text
from twinset.documents.encodings import decode

CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I)
PEEK = 4096  # bytes in which a page declares its encoding
UNSEEN = frozenset(("script", "style", "template", "noscript", "head", "iframe", "object", "svg", "canvas", "audio", "video", "select", "datalist", "rt", "rp", "-comment"))
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
        "br",
    ]
)
CELLS = frozenset(("td", "th"))
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
SPACES = re.compile(r"[ \t\r\n\f]+")
REPEATED = re.compile(" {2,}")
LINE_ENDS = re.compile(r" ?\n[ \n]*")


def read(file: BinaryIO, limits: Limits) -> Text:
    data = file.read(limits.text + 1)
    if len(data) > limits.text:
        raise Unreadable(f"holds more than {size_text(limits.text)} of text and tags")
    return Text(visible(data))


def visible(data: bytes) -> str:
    """The visible text of a page. Blocks are on lines of their own; cells of a row are kept apart."""
    declared = CHARSET.search(data[:PEEK])
    page = LexborHTMLParser(decode(data, declared[1].decode("ascii") if declared else None).text)
    out: list[str] = []
    node = page.root
    while node is not None:  # in document order without recursion: pages nest as deep as their authors like
        tag = node.tag or ""
        if tag == "-text":
            out.append(SPACES.sub(" ", node.text_content or ""))
        elif not _unseen(node, tag):
            out.append(_boundary(tag))
            if node.child is not None:
                node = node.child
                continue
        while node is not None and node.next is None:
            node = node.parent
            out.append(_boundary(node.tag or "") if node is not None else "")
        node = node.next if node is not None else None
    return LINE_ENDS.sub("\n", REPEATED.sub(" ", "".join(out))).strip()


def _unseen(node: LexborNode, tag: str) -> bool:
    if tag in UNSEEN:
        return True
    attributes = node.attributes
    return "hidden" in attributes or bool(HIDDEN.search(attributes.get("style") or ""))


def _boundary(tag: str) -> str:
    return "\n" if tag in BLOCKS else " " if tag in CELLS else ""
