"""Files made to harm, and files merely broken: each ends as one line that names the reason, and a good neighbour is read."""

import io
import re
import struct
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import made_documents as made
import pytest
from made_documents import W, paragraph

from twinset.documents.extracting import Limits, extract
from twinset.documents.folders import File
from twinset.documents.formats import legacy

CORPUS = Path(__file__).parents[2] / "shared/data/docx_pdf"
GOOD = "the good neighbour"
BODY = paragraph("hello")
LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
SECRET = "root:"


def document_xml(content, prologue=""):
    """A Word document of which we write the main part ourselves."""
    return made.packed({"word/document.xml": f"{prologue}<w:document {W}><w:body>{content}</w:body></w:document>"})


def ole(*streams):
    """The least that looks like an OLE file with these streams."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + b"".join(f"{name}\0".encode("utf-16-le").ljust(128, b"\0") for name in streams)


def flagged(content):
    """A zip archive whose entries claim to be encrypted."""
    return content.replace(b"PK\x03\x04\x14\x00\x00\x00", b"PK\x03\x04\x14\x00\x01\x00").replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")


def lying(content):
    """A zip archive whose directory claims that each part is one byte long."""
    out, at = bytearray(content), 0
    while (at := out.find(b"PK\x01\x02", at)) >= 0:
        out[at + 24 : at + 28] = struct.pack("<I", 1)
        at += 4
    return bytes(out)


FILES = {
    "empty.docx": (b"", r"is empty \(0 bytes\)"),
    "bomb.docx": (document_xml(BODY + " " * (40 << 20)), "is a zip bomb: part word/document.xml unpacks to more than 300 times its size"),
    "liar.docx": (lying(document_xml(BODY * 1000)), "is truncated or damaged: part word/document.xml"),
    "nested.docx": (made.packed({"inner.zip": made.packed({"inner.zip": bytes(1 << 20)})}), "is a zip archive of 1 files, not a document; archives are not opened"),
    "laughs.docx": (document_xml("&l9;", f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>'), "declares a document type in word/document.xml"),
    "external.docx": (document_xml("&e;", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'), "declares a document type in word/document.xml"),
    "external.odt": (
        made.packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'}),
        "declares a document type in content.xml",
    ),
    "deep.docx": (document_xml("<w:p>" * 100_000), "is nested more than 1000 elements deep in word/document.xml"),
    "deep.rtf": (rb"{\rtf1 " + b"{" * 100_000, "is nested more than 1000 groups deep"),
    "not-xml.docx": (document_xml("<w:p>"), "is damaged: word/document.xml is not XML"),
    "no-part.docx": (made.packed({"word/other.xml": "<x/>"}), "is damaged: it has no part word/document.xml"),
    "cut.docx": (made.docx(BODY)[:-200], "is truncated or damaged"),
    "half.epub": (made.epub("one")[:300], "is truncated or damaged"),
    "locked.docx": (ole("Root Entry", "EncryptionInfo", "EncryptedPackage"), "is encrypted: opening it needs a password"),
    "locked-parts.docx": (flagged(made.docx(BODY)), "is encrypted: opening it needs a password"),
    "locked.odt": (made.odt("<text:p>x</text:p>", "<manifest:encryption-data/>"), "is encrypted: opening it needs a password"),
    "locked.epub": (made.packed({"mimetype": "application/epub+zip", "META-INF/rights.xml": "<x/>"}), "is protected against copying"),
    "locked.pdf": (
        made.pdf([(500, "x")], trailer=f"/ID[<00><00>]/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O<{'11' * 32}>/U<{'22' * 32}>>>"),
        "is encrypted: opening it needs a password",
    ),
    "cut.pdf": (b"%PDF-1.7\n1 0 obj <</Type", "is damaged: PDFium finds no document in it"),
    "sheet.docx": (made.packed({"xl/workbook.xml": "<x/>"}), r"is a spreadsheet \(.xlsx\), not a text document"),
    "sheet.doc": (ole("Workbook"), r"is an older spreadsheet \(.xls\)"),
    "mail.doc": (ole("__properties_version1.0"), "is an Outlook message"),
    "ole.doc": (ole("Root Entry"), "is truncated or damaged: an OLE file without a document in it"),
    "image.pdf": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG image, not a document"),
    "program.txt": (b"\x7fELF" + bytes(100), "is a program, not a document"),
    "noise.txt": (bytes(range(256)) * 40, "is binary data of no known format"),
    "zeros.txt": (bytes(5000), "is binary data of no known format|has no text"),
    "blank.docx": (made.docx("<w:p/>"), "has no text"),
    "blank.txt": (b" \n\n", "has no text"),
    "other.docx": (b'<?xml version="1.0"?><workbook/>', "is XML of another kind"),
}
MISLABELLED = {
    "really-a.docx": (made.pdf([(500, "portable")]), "portable", "is a PDF document, not what .docx says"),
    "really-b.pdf": (made.docx(BODY), "hello\n", r"is a Word document (.docx), not what .pdf says"),
    "really-c.doc": (b"<html><body><p>page", "page", "is a web page, not what .doc says"),
    "really-d.doc": (rb"{\rtf1 rich}", "rich", "is Rich Text, not what .doc says"),
    "really-e.docx": (b"only words", "only words", "is plain text, not what .docx says"),
    "really-f.txt": (made.odt("<text:p>open</text:p>"), "open\n", "is an OpenDocument text, not what .txt says"),
    "really-g.pdf": (made.epub("book"), "book", "is an electronic book (.epub), not what .pdf says"),
}


def outcome(files, **options):
    return {done.file.name: done for done in extract(files, **options)}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """All the files read together, with a good one after each."""
    folder = tmp_path_factory.mktemp("hostile")
    contents = {name: content for name, (content, *_) in (FILES | MISLABELLED).items()}
    made_files = [[made.file(folder, name, content), made.file(folder, f"good-{name}.txt", GOOD.encode())] for name, content in contents.items()]
    return outcome([file for pair in made_files for file in pair], workers=2)


@pytest.mark.parametrize("name", FILES)
def test_hostile_and_broken_files_end_as_one_line(read, name):
    done = read[name]
    assert done.text == ""
    assert re.search(FILES[name][1], done.problem), done.problem
    assert "\n" not in done.problem
    assert SECRET not in done.problem
    assert read[f"good-{name}.txt"].text == GOOD


@pytest.mark.parametrize("name", MISLABELLED)
def test_mislabelled_files_are_read_as_what_they_are(read, name):
    _, text, note = MISLABELLED[name]
    assert (read[name].text, read[name].note, read[name].problem) == (text, note, None)


def test_an_external_entity_in_a_page_is_not_fetched(tmp_path):
    page = '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY e SYSTEM "file:///etc/passwd">]><html><body><p>a &e; b</p></body></html>'
    assert SECRET not in outcome([made.file(tmp_path, "a.html", page.encode())])["a.html"].text


@pytest.mark.parametrize("name", ["huge.pdf", "huge.txt", "huge.docx"])
def test_two_gigabytes_are_refused_unread(tmp_path, name):
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(2 << 30)
    done = outcome([File(tmp_path / name, name, 2 << 30)])[name]
    assert done.problem == "is 2 GB large; at most 512 MB are read"
    assert done.seconds < 1


def test_a_file_that_grew_since_it_was_found_is_refused_too(tmp_path):
    with (tmp_path / "grown.txt").open("wb") as stream:
        stream.truncate(2 << 30)
    assert outcome([File(tmp_path / "grown.txt", "grown.txt", 10)])["grown.txt"].problem == "is 2 GB large; at most 512 MB are read"


def test_a_file_that_is_gone_is_named(tmp_path):
    assert re.match("cannot be read .*No such file", outcome([File(tmp_path / "gone.txt", "gone.txt", 10)])["gone.txt"].problem)


def test_output_is_limited(tmp_path):
    small = Limits(text=1 << 20)
    files = [made.file(tmp_path, "long.docx", made.docx("".join(paragraph(f"{i} " * 20) for i in range(100_000)))), made.file(tmp_path, "long.txt", b"words " * (1 << 20))]
    files += [made.file(tmp_path, "wide.txt", ("字" * (1 << 19)).encode("utf-16")), made.file(tmp_path, "long.html", b"<p>words" * (1 << 18))]
    for name, done in outcome(files, limits=small).items():
        assert re.match("holds more than 1 MB of text|unpacks to more than 4 MB", done.problem), (name, done.problem)


def test_pages_nested_without_end_take_their_time_limit_and_no_more(tmp_path):
    files = [made.file(tmp_path, "deep.html", b"<div>" * 1_000_000 + b"x"), made.file(tmp_path, "good.txt", GOOD.encode())]
    found = outcome(files, workers=1, limits=Limits(seconds=3))
    assert re.match("took more than 3 s|needs more than|crashed its reader", found["deep.html"].problem)
    assert found["good.txt"].text == GOOD


def test_a_pdf_nested_without_end_is_read_for_what_stands_before(tmp_path):
    assert outcome([made.file(tmp_path, "deep.pdf", made.pdf([(500, "x")], trailer="/X " + "[" * 500_000))])["deep.pdf"].text == "x"


def test_old_word_documents_without_a_converter_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(legacy.shutil, "which", lambda name: None)
    found = outcome([made.file(tmp_path, "old.doc", ole("WordDocument"))])["old.doc"]
    assert found.problem == "is an older Word document (.doc): install antiword or LibreOffice to read it, or save it as .docx"


def program(tmp_path, monkeypatch, lines):
    """A stand-in for antiword."""
    path = tmp_path / "antiword"
    path.write_text("#!/bin/sh\n" + lines)
    path.chmod(0o700)
    monkeypatch.setattr(legacy.shutil, "which", lambda name: str(path) if name == "antiword" else None)
    return outcome([made.file(tmp_path, "old.doc", ole("WordDocument"))], limits=Limits(seconds=3, text=1 << 20))["old.doc"]


def test_old_word_documents_are_converted(tmp_path, monkeypatch):
    assert program(tmp_path, monkeypatch, "echo converted").text == "converted\n"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("echo no such luck >&2; exit 1", "is an older Word document that cannot be converted (antiword says: no such luck)"),
        ("echo Encrypted documents are not supported >&2; exit 1", "is encrypted: opening it needs a password"),
        ("sleep 600", "is an older Word document that cannot be converted (antiword took more than 3 s)"),
        ("kill -SEGV $$", "is an older Word document that cannot be converted (antiword crashed (SIGSEGV))"),
        ("exit 0", "has no text"),
        ("yes", "is an older Word document that cannot be converted (antiword wrote more than 1 MB)"),
    ],
)
def test_a_converter_that_fails_is_one_line(tmp_path, monkeypatch, lines, problem):
    done = program(tmp_path, monkeypatch, lines)
    assert (done.text, done.problem) == ("", problem)


@pytest.mark.slow
@pytest.mark.parametrize("archive", ["poi.tar.xz", "pdfjs.tar.xz"])
def test_a_corpus_of_broken_documents(tmp_path, archive):
    """Every file ends as text or as one line; no reader fails by a bug, a crash or its time limit."""
    if not (CORPUS / archive).exists():
        pytest.skip(f"needs {CORPUS / archive}")
    with tarfile.open(CORPUS / archive) as packed:
        packed.extractall(tmp_path, filter="data")
    files = [File(path, path.name, path.stat().st_size) for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    done = list(extract(files))
    assert [one.file for one in done] == files
    assert all(one.problem is None or (one.text == "" and "\n" not in one.problem) for one in done)
    reasons = Counter(re.sub(r"\d+", "#", one.problem)[:40] for one in done if one.problem)
    assert not [reason for reason in reasons if re.search("crashed|reader failed|took more", reason)], reasons


def test_archives_count_what_they_really_unpack():
    from twinset.documents.confinement import Unreadable
    from twinset.documents.formats.archive import Archive

    parts = {f"{i}.xml": b"<x>" + bytes(range(256)) * 4096 for i in range(8)}
    archive = Archive(io.BytesIO(made.packed(parts, zipfile.ZIP_STORED)), Limits(text=1 << 20))
    with pytest.raises(Unreadable, match="unpacks to more than 4 MB"):
        [archive.read(name) for name in parts]
