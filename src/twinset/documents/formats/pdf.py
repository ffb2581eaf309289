"""PDF documents by PDFium: text in reading order, words split at line ends joined, running headers and footers dropped, filled forms included."""

import mmap
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from twinset.documents.confinement import Limits, Text, Unreadable, size_text

MARGIN = 0.12  # share of a page's height, above and below, where headers and footers stand
REPEATED = 3  # a running line is on at least one page in so many, and on two
DIGITS = re.compile(r"\d+")
SPACES = re.compile(r"\s+")
WORD = re.compile(r"\w")
SPLIT = re.compile(r"(\w{1,40})(?:[\ufffe\x02]\s*|\xad\n|-\n(?=[a-zß-ÿ]))(\w{1,40})")  # PDFium marks the hyphen at a line's end with U+FFFE
COMPOUND = re.compile(r"\b\w{1,40}-\w{1,40}")
NO_TEXT = "needs text recognition (OCR) first"


class Line(NamedTuple):
    """A line of a page; `margin` is top, bottom or empty."""

    text: str
    margin: str

    def running(self) -> tuple[str, str]:
        """What the same header or footer has in common on all pages."""
        return self.margin, SPACES.sub(" ", DIGITS.sub("#", self.text)).strip()


class Page(NamedTuple):
    """The lines of a page, and whether it shows images, or anything at all."""

    lines: list[Line]
    images: bool
    blank: bool

    def has_text(self) -> bool:
        return any(WORD.search(line.text) for line in self.lines)


def read(file: BinaryIO, limits: Limits) -> Text:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(file.name)
    except pypdfium2.PdfiumError:
        raise Unreadable(_reason(file)) from None
    pages, broken, size = [], 0, 0
    with document:
        if not len(document):
            raise Unreadable("is damaged: it has no pages")
        document.init_forms()
        for number in range(len(document)):
            try:
                pages.append(_page(document, number))
            except pypdfium2.PdfiumError:
                broken += 1
                continue
            size += sum(len(line.text) for line in pages[-1].lines)
            if size > limits.text:
                raise Unreadable(f"holds more than {size_text(limits.text)} of text")
    return Text(join(pages), _note(pages, broken))


def join(pages: list[Page]) -> str:
    """The text of all pages without running lines and line-end hyphens. A hyphen stays in a word that is written with it elsewhere."""
    found = Counter(running for page in pages for running in {line.running() for line in page.lines if line.margin})
    enough = max(2, len(pages) / REPEATED)
    text = _lay_out([[line.text for line in page.lines if not line.margin or found[line.running()] < enough] for page in pages])
    if not WORD.search(text):  # nothing but running lines: then they are the text
        text = _lay_out([[line.text for line in page.lines] for page in pages])
    compounds = set(COMPOUND.findall(text))

    def whole(split: re.Match[str]) -> str:
        compound = f"{split[1]}-{split[2]}"
        return compound if compound in compounds else split[1] + split[2]

    return SPLIT.sub(whole, text).replace("\ufffe", "-").replace("\x02", "-").replace("\x00", "")


def _lay_out(pages: list[list[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in pages if lines)


def _page(document: Any, number: int) -> Page:
    import pypdfium2.raw as raw

    page = document[number]
    if raw.FPDFPage_GetAnnotCount(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
        page.close()
        page = document[number]  # with what is filled into its form
    try:
        text = page.get_textpage()
        lines = list(_lines(page, text))
        images = not lines and any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4))
        return Page(lines, images, not raw.FPDFPage_CountObjects(page))
    finally:
        page.close()


def _lines(page: Any, text: Any) -> Iterator[Line]:
    _, bottom, _, top = page.get_mediabox()
    content = text.get_text_range()
    aligned = text.count_chars() == len(content) and top > bottom
    start = 0
    for line in content.split("\r\n"):
        if line.strip():
            height = (text.get_charbox(start)[1] - bottom) / (top - bottom) if aligned else 0.5
            yield Line(line, "top" if height > 1 - MARGIN else "bottom" if height < MARGIN else "")
        start += len(line) + 2


def _note(pages: list[Page], broken: int) -> str | None:
    """What is missing, or Unreadable when everything is."""
    total = len(pages) + broken
    silent = [page for page in pages if not page.has_text() and not page.blank]
    scanned = sum(page.images for page in silent)
    if not any(page.has_text() for page in pages):
        if broken:
            raise Unreadable(f"is damaged: {broken} of {total} pages cannot be read, and the others have no text")
        raise Unreadable(f"has no text: scanned, {scanned} of {total} pages are images; {NO_TEXT}" if scanned else f"has no text on its {total} pages")
    notes = [f"{broken} of {total} pages cannot be read"] if broken else []
    if silent:
        notes.append(f"{len(silent)} of {total} pages have no text" + (": scanned" if scanned else ""))
    return "; ".join(notes) or None


def _reason(file: BinaryIO) -> str:
    """Why PDFium cannot open a file. Its own code does not tell a wrong password from damage reliably (that of the file before may show through), so the file is asked."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return "is encrypted: opening it needs a password" if content.find(b"/Encrypt") >= 0 else "is damaged: PDFium finds no document in it"
