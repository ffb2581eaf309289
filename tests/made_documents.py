"""Small documents of each format, built from nothing, for tests to read and to spoil."""

import io
import zipfile
from pathlib import Path

from twinset.documents.folders import File

# Namespaces as the formats write them, without the scheme, which no part of twinset looks at.
W = 'xmlns:w="schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="schemas.openxmlformats.org/markup-compatibility/2006"'
P = (
    'xmlns:p="schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
URN = "urn:oasis:names:tc:opendocument:xmlns"
ODF = f'xmlns:office="{URN}:office:1.0" xmlns:text="{URN}:text:1.0" xmlns:draw="{URN}:drawing:1.0"'
RELATIONS = 'xmlns="schemas.openxmlformats.org/package/2006/relationships"'


def packed(parts, method=zipfile.ZIP_DEFLATED):
    """A zip archive of parts by name."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return memory.getvalue()


def relations(*found):
    """A part of relations, from (id, kind, target)."""
    named = "".join(f'<Relationship Id="{id}" Type="x/{kind}" Target="{target}"/>' for id, kind, target in found)
    return f"<Relationships {RELATIONS}>{named}</Relationships>"


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body, **parts):
    """A Word document; `header`, `footer`, `footnotes`, `endnotes`, `comments` are the contents of those parts."""
    named = {f"word/{name}.xml": f"<w:{name} {W}>{content}</w:{name}>" for name, content in parts.items()}
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": relations(*((f"r{name}", name, f"{name}.xml") for name in parts)),
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            **named,
        }
    )


def pptx(*slides):
    """Slides in this order, stored under names in the opposite order."""
    names = [f"slides/slide{len(slides) - i}.xml" for i in range(len(slides))]
    shown = "".join(f'<p:sldId id="{256 + i}" r:id="r{i}"/>' for i in range(len(slides)))
    return packed(
        {
            "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<p:presentation {P}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(*((f"r{i}", "slide", name) for i, name in enumerate(names))),
            **{f"ppt/{name}": f"<p:sld {P}><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>" for name, text in zip(names, slides, strict=True)},
        }
    )


def odt(body, manifest="<manifest/>"):
    content = f"<office:document-content {ODF}><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest, "content.xml": content})


def epub(*chapters):
    items = "".join(f'<item id="c{i}" href="c%20{i}.xhtml" media-type="application/xhtml+xml"/>' for i in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{i}"/>' for i in range(len(chapters)))
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/list.opf"/></rootfiles></container>',
            "OEBPS/list.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/c {i}.xhtml": f"<html><body><p>{text}</p></body></html>" for i, text in enumerate(chapters)},
        }
    )


def pdf(*pages, trailer="", image=False):
    """Pages of (height, text) lines in Helvetica on A4; `image` draws a grey square on each page."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{5 + 2 * i} 0 R' for i in range(len(pages)))}]>>"]
    objects += ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    objects += ["<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>stream\n\x80\nendstream"]
    for i, lines in enumerate(pages):
        drawn = "".join(f"BT /F 11 Tf 72 {height} Td ({text}) Tj ET\n" for height, text in lines) + ("q 300 0 0 300 90 90 cm /I Do Q" if image else "")
        objects += [f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {6 + 2 * i} 0 R/Resources<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>>>"]
        objects += [f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream"]
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{place:010} 00000 n \n" for place in places)
    return f"{out}{table}trailer<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{len(out)}\n%%EOF".encode("latin-1")


def file(folder, name, content):
    """Write a file and say what `folders.documents` would of it."""
    path = Path(folder, name)
    path.write_bytes(content)
    return File(path, name, len(content))
