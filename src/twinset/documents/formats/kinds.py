"""What a file is by its content, whatever its name says."""

import mmap
import re
from typing import BinaryIO

from twinset.documents.confinement import Limits, Unreadable
from twinset.documents.formats.archive import Archive

PEEK = 4096
NAMES = {
    **{
        "text": "plain text",
        "html": "a web page",
        "pdf": "a PDF document",
        "docx": "a Word document (.docx)",
        "doc": "an older Word document (.doc)",
        "odt": "an OpenDocument text",
    },
    **{"rtf": "Rich Text", "pptx": "a presentation (.pptx)", "epub": "an electronic book (.epub)"},
}
EXPECTED = {".txt": "text", ".md": "text", ".tex": "text", ".htm": "html"}  # other suffixes are the kind's own name
OLDEST = (b"\xdb\xa5\x2d\x00", b"PO^Q`")  # Word 2, Word for DOS
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What stands at the beginning of files that hold no text for us.
OTHERS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"%!PS", "a PostScript document"),
    (b"\x31\xbe\x00\x00", "a Write document"),
    (b"MIME-Version:", "a web archive (.mht)"),
    (b"\x00\x01\x00\x00Standard", "an Access database"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
)
STREAMS = (  # names in an OLE file, in UTF-16
    ("EncryptedPackage", ""),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "an older presentation (.ppt)"),
    ("Workbook", "an older spreadsheet (.xls)"),
    ("Book", "an older spreadsheet (.xls)"),
    ("__properties_version1.0", "an Outlook message (.msg)"),
)
MIMETYPES = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.text-template": "odt",
    b"application/epub+zip": "epub",
}
FOLDERS = (("word/", "docx"), ("ppt/", "pptx"), ("meta-inf/container.xml", "epub"))
OTHER_FOLDERS = (
    ("xl/", "a spreadsheet (.xlsx)"),
    ("index/document.iwa", "a Pages document"),
    ("fixeddocseq.fdseq", "an XPS document"),
    ("fixeddocumentsequence.fdseq", "an XPS document"),
)
PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.I | re.S)
XML = re.compile(rb"\s*<\?xml|\s*<\w+[^>]*\sxmlns", re.I)


def kind(file: BinaryIO, suffix: str, limits: Limits) -> tuple[str, str | None]:
    """The kind of the document, and a note when its name claims another. Raises Unreadable for what is no document."""
    head = file.read(PEEK)
    file.seek(0)
    expected = EXPECTED.get(suffix, suffix.removeprefix("."))
    found = _by_content(file, head, limits) or _text(head, expected)
    return found, f"is {NAMES[found]}, not what {suffix} says" if expected in NAMES and found != expected else None


def _by_content(file: BinaryIO, head: bytes, limits: Limits) -> str | None:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if head.startswith((b"PK\3\4", b"PK\5\6", b"PK00PK")):
        return _archive(Archive(file, limits))
    if head.startswith(OLE):
        return _streams(file)
    if head.startswith(OLDEST):
        return "doc"
    for start, name in OTHERS:
        if head.startswith(start):
            raise Unreadable(f"is {name}, not a document")
    return None


def _archive(archive: Archive) -> str:
    mimetype = archive.read("mimetype").strip() if "mimetype" in archive else b""
    if mimetype in MIMETYPES:
        return MIMETYPES[mimetype]
    if mimetype.startswith(b"application/vnd.oasis"):
        raise Unreadable(f"is an OpenDocument file of another kind ({mimetype[:80].decode('ascii', 'replace')})")
    for start, found in FOLDERS:
        if any(name.startswith(start) for name in archive.parts):
            return found
    for start, name in OTHER_FOLDERS:
        if any(part.startswith(start) for part in archive.parts):
            raise Unreadable(f"is {name}, not a text document")
    raise Unreadable(f"is a zip archive of {len(archive.parts)} files, not a document; archives are not opened")


def _streams(file: BinaryIO) -> str:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for stream, found in STREAMS:
            if content.find(f"{stream}\0".encode("utf-16-le")) >= 0:
                if not found:
                    raise Unreadable("is encrypted: opening it needs a password")
                if found not in NAMES:
                    raise Unreadable(f"is {found}, not a text document")
                return found
    raise Unreadable("is truncated or damaged: an OLE file without a document in it")


def _text(head: bytes, expected: str) -> str:
    """Text of some sort. A page is told by its first tags; other XML is no document for us."""
    if PAGE.match(head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")) or expected == "html":
        return "html"
    if expected != "text" and XML.match(head):
        raise Unreadable("is XML of another kind")
    return "text"
