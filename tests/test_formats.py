"""Each format's reader finds the text a person sees, in order, once; encodings are told apart."""

import io

import made_documents as made
import pytest
from made_documents import paragraph

from twinset.documents.confinement import Limits, Unreadable, size_text
from twinset.documents.encodings import decode
from twinset.documents.formats import book, html, opendocument, pdf, plain, rtf, slides, word
from twinset.documents.formats.pdf import Line, Page, join

CHINESE = "本项目拟在三个县设置大田试验，连续观测两年，弄清排水的时间和次数对两种温室气体与产量的综合影响。"
TRADITIONAL = "本計畫擬在三個縣設置大田試驗，連續觀測兩年，瞭解排水的時間與次數對溫室氣體的影響。"
JAPANESE = "これは日本語の文章です。水田からのメタンの排出を減らすことが研究の目的である。"
KOREAN = "이것은 한국어로 쓴 글이다. 연구의 목적은 논에서 나오는 메탄을 줄이는 것이다."
FRENCH = "Le café où j’ai déjeuné à Noël était fermé ; les élèves étudiaient la théorie."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Vědci zkoumali řeku a její přítoky, aby zjistili příčiny znečištění."
RUSSIAN = "Исследование качества питьевой воды в горных деревнях показало, что фильтры работают зимой."
ENCODED = [
    *((CHINESE, code) for code in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030")),
    *((TRADITIONAL, code) for code in ("utf-8", "big5", "gb18030")),
    *((JAPANESE, code) for code in ("utf-8", "shift_jis", "euc_jp", "iso2022_jp")),
    *((KOREAN, code) for code in ("utf-8", "euc_kr")),
    *((FRENCH, code) for code in ("utf-8", "utf-16-le", "cp1252")),
    *((f"An {accented} among plain English words.", "cp1252") for accented in ("André", "Büro", "mañana", "José García", "5 × 3")),
    *((CZECH, "cp1250"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r"), ("plain ASCII", "ascii"), ("café", "latin-1"), ("", "ascii")),
]


def read(format, content):
    return format.read(io.BytesIO(content), Limits())


def text(format, content):
    return read(format, content).text


def words(format, content):
    return " ".join(text(format, content).split())


def test_sizes_are_written_for_people():
    assert [size_text(n) for n in (0, 999, 1536, 64 << 20, 3 << 29, 2 << 30)] == ["0 bytes", "999 bytes", "1.5 kB", "64 MB", "1.5 GB", "2 GB"]


@pytest.mark.parametrize(("written", "encoding"), ENCODED, ids=lambda value: value[:3])
def test_encodings_are_told_apart(written, encoding):
    assert decode(written.encode(encoding)).text == written


def test_a_few_malformed_bytes_do_not_change_the_encoding():
    found = decode((CHINESE * 20).encode() + b"\xff")
    assert found == (CHINESE * 20 + "\ufffd", "utf-8", 1)
    assert read(plain, (CHINESE * 20).encode() + b"\xff").note == "1 malformed characters (read as utf-8)"


def test_a_truncated_last_character_is_no_other_encoding():
    assert decode((CHINESE * 2).encode()[:-1]).encoding == "utf-8"


def test_plain_text_is_left_as_it_is():
    assert text(plain, b"# A title\n\n\\section{x} $y$\n") == "# A title\n\n\\section{x} $y$\n"


def test_binary_data_is_no_text():
    with pytest.raises(Unreadable, match="binary data of no known format"):
        read(plain, bytes(range(256)) * 8)


def test_html_gives_what_is_seen():
    page = """<!doctype html><html><head><title>No</title><style>p{}</style></head><body><!-- no --><h1>Ti<b>t</b>le</h1><p>one
    two<br>three<span hidden>no</span><i style="display: none">no</i></p><table><tr><td>a</td><td>b</td></tr></table><script>no()</script>
    <ul><li>x &amp; y<li>z</ul><template>no</template></body></html>"""
    assert text(html, page.encode()) == "Title\none two\nthree\na b\nx & y\nz"


@pytest.mark.parametrize("declaration", ['<meta charset="gb2312">', '<meta http-equiv="Content-Type" content="text/html; charset=gb2312">'])
def test_html_declares_its_encoding(declaration):
    assert CHINESE in text(html, f"<html><head>{declaration}</head><body><p>{CHINESE}</p></body></html>".encode("gb18030"))


def test_html_that_declares_a_wrong_encoding_is_still_read():
    assert CHINESE in text(html, f'<html><head><meta charset="utf-8"></head><body>{CHINESE}</body></html>'.encode("gb18030"))
    assert FRENCH in text(html, f'<html><head><meta charset="no-such-thing"></head><body>{FRENCH}</body></html>'.encode())


def test_docx_has_headers_body_tables_and_notes_but_no_comments():
    table = f"<w:tbl><w:tr><w:tc>{paragraph('cell one')}</w:tc><w:tc>{paragraph('cell two')}</w:tc></w:tr></w:tbl>"
    parts = {name: paragraph(f"the {name}") for name in ("header", "footer", "footnotes", "endnotes", "comments")}
    assert words(word, made.docx(paragraph("first") + table + paragraph("last"), **parts)) == "the header first cell one cell two last the footnotes the endnotes the footer"


def test_docx_runs_tabs_and_breaks():
    body = '<w:p><w:r><w:t>wo</w:t></w:r><w:r><w:t xml:space="preserve">rd </w:t><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t><w:noBreakHyphen/><w:t>z</w:t></w:r></w:p>'
    assert text(word, made.docx(body)) == "word \tx\ny-z\n"


def test_docx_text_box_once_and_after_its_paragraph():
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    body = f"<w:p><w:r><w:t>be</w:t></w:r><w:r>{both}</w:r><w:r><w:t>fore</w:t></w:r></w:p>" + paragraph("after")
    assert words(word, made.docx(body)) == "before in the box after"


def test_docx_fallback_when_the_first_choice_has_no_text():
    body = f"<w:p><mc:AlternateContent><mc:Choice/><mc:Fallback><w:txbxContent>{paragraph('old box')}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:p>"
    assert words(word, made.docx(body)) == "old box"


def test_docx_deleted_moved_and_field_code_are_left_out():
    gone = "<w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r>"
    assert words(word, made.docx(f"<w:p>{gone}<w:ins><w:r><w:t>yes</w:t></w:r></w:ins></w:p>")) == "yes"


def test_docx_with_a_damaged_footnote_part_keeps_its_body():
    found = read(word, made.docx(paragraph("body"), footnotes="<w:p>"))
    assert found.text.strip() == "body"
    assert found.note.startswith("without part word/footnotes.xml, which is damaged")


def test_pptx_in_the_order_shown():
    assert words(slides, made.pptx("one", "two", "three")) == "one two three"


def test_odt_paragraphs_notes_and_boxes():
    body = (
        "<text:h>Ti<text:span>tle</text:span></text:h><text:p>be<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body></text:note>"
        "fore<text:s text:c='2'/>x<text:tab/>y</text:p>"
        "<text:tracked-changes><text:p>no</text:p></text:tracked-changes><text:p>a<office:annotation><text:p>no</text:p></office:annotation>b</text:p>"
    )
    assert words(opendocument, made.odt(body)) == "Title before x y note ab"


def test_epub_chapters_in_order():
    assert words(book, made.epub("one", "two &amp; a half", "three")) == "one two & a half three"


RTF = [
    (rb"{\rtf1\ansi Hello {\b bold} world\par next\tab x}", "Hello bold world\nnext\tx"),
    (rb"{\rtf1\ansi{\fonttbl{\f0 Times;}{\f1\fcharset134 SimSun;}}{\*\generator no;}{\info{\title no}}a\f1 \'c4\'e3\'ba\'c3\f0 \'e9}", "a你好é"),
    (rb"{\rtf1\ansi\ansicpg932 \'93\'fa\'96\'7b \'83A}", "日本 ア"),
    (rb"{\rtf1\ansi\uc1 \u20320?\u22909?\u-10179?\u-8704?}", "你好😀"),
    (rb"{\rtf1\ansi\uc2 \u20320\'c4\'e3 x}", "你 x"),
    (rb"{\rtf1 a{\pict 00ff}b{\*\unknown no}c\{\}\\d\~e\_f}", "abc{}\\d\xa0e-f"),
    (rb"{\rtf1 {\field{\*\fldinst HYPERLINK}{\fldrslt link}} {\shp{\*\shpinst{\sp{\sn no}{\sv no}}{\shptxt box}}}}", "link box"),
    (rb"{\rtf1 a\bin5 \}}}}b}", "ab"),
]


@pytest.mark.parametrize(("source", "expected"), RTF)
def test_rtf(source, expected):
    assert read(rtf, source).text == expected


def test_rtf_cut_short_says_so():
    assert read(rtf, rb"{\rtf1 {\b half a") == ("half a", "ends in the middle: truncated")


def on_disk(tmp_path, *pages, **options):
    return made.file(tmp_path, "a.pdf", made.pdf(*pages, **options)).path.open("rb")


def test_pdf_lines_in_order(tmp_path):
    assert pdf.read(on_disk(tmp_path, [(600, "first line"), (580, "second line")], [(600, "next page")]), Limits()).text == "first line\nsecond line\n\nnext page"


def test_pdf_drops_running_headers_and_page_numbers(tmp_path):
    pages = [[(810, "The fund"), (500, f"body {name}"), (30, f"Page {i} of 3")] for i, name in enumerate(("one", "two", "three"), 1)]
    assert pdf.read(on_disk(tmp_path, *pages), Limits()).text == "body one\n\nbody two\n\nbody three"


def test_pdf_of_running_lines_only_keeps_them(tmp_path):
    assert pdf.read(on_disk(tmp_path, [(810, "The fund")], [(810, "The fund")]), Limits()).text == "The fund\n\nThe fund"


def test_pdf_words_split_at_line_ends_are_joined():
    lines = ["a split-", "ting of well\ufffeknown words, and well-known once", "more, 1990-", "2000 and the end\xad", "ing"]
    assert join([Page([Line(line, "") for line in lines], False, False)]) == "a splitting of well-known words, and well-known once\nmore, 1990-\n2000 and the ending"


def test_pdf_page_without_text_is_counted(tmp_path):
    found = pdf.read(on_disk(tmp_path, [(500, "body")], [], [], image=True), Limits())
    assert found == ("body", "2 of 3 pages have no text: scanned")


def test_pdf_of_images_only_is_named(tmp_path):
    with pytest.raises(Unreadable, match="has no text: scanned, 2 of 2 pages are images; needs text recognition"):
        pdf.read(on_disk(tmp_path, [], [], image=True), Limits())


def test_pdf_of_blank_pages_is_named(tmp_path):
    with pytest.raises(Unreadable, match="has no text on its 1 pages"):
        pdf.read(on_disk(tmp_path, []), Limits())
