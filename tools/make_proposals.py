"""Write examples/proposals/: a dozen short proposals for a first `twinset scan`, from the texts in tools/proposals/.

    python tools/make_proposals.py          (needs python-docx, reportlab and Debian's fonts-wqy-microhei, which twinset itself does not)

A text has one `# title`, one `@ line` about the applicant and `## sections`. The English ones are set into the form of examples/call.txt, with its instructions left in, as
applicants do. Revised proposals are the same text with the replacements below. The same input gives the same bytes.
"""

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "tools/proposals"
TARGET = ROOT / "examples/proposals"
CALL = ROOT / "examples/call.txt"
FUND = "Northlight Fund for Applied Research"
CHINESE_FONT = Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")  # Apache-2.0
LONG_AGO = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)

Edits = tuple[tuple[str, str], ...]
RESUBMITTED: Edits = (
    ("Slow sand filters for mountain villages without electricity", "Drinking water for mountain villages: slow sand filters without electricity"),
    (
        "In summer the herds graze above the intake, and every third sample that we took last year",
        "In summer herds graze above the intake, and two in five samples that we took in 2025",
    ),
    ("We will build three filters in", "We will build four filters in"),
    (
        "after an adaptation of six weeks.",
        "after six weeks. The committee of last year asked for a second laboratory run before any field work; we have made it since, and it gave 95 percent.",
    ),
    ("Each of the three sites receives", "Each of the four sites receives"),
    ("Once a week a trained villager fills four sterile bottles", "Twice a month a trained villager fills four sterile bottles"),
    ("operation and weekly sampling (31 200 euros,", "operation and sampling (27 800 euros,"),
    ("(9 400 euros)", "(11 900 euros)"),
)
RETITLED: Edits = (
    ("Hearing bark beetles before the needles turn brown", "云杉小蠹虫害的声学早期预警"),
    ("Dr Jonas Feld, Institute of Forest Protection, University of Harlow Green", "Dr J. Feld, Forest Acoustics GmbH, Harlow Green"),
)
REVISED_ZH: Edits = (
    ("间歇灌溉对南方双季稻田甲烷排放的影响研究", "双季稻区节水灌溉减排技术研究"),
    ("本项目拟在三个县设置大田试验，连续观测两年，弄清", "本项目拟在四个县设置大田试验，连续观测三年，弄清"),
    ("我们在二〇二三年的预备试验中发现，把第一次排水提前到插秧后第九天，晚稻季甲烷减少了百分之四十二，产量没有明显变化；但试验只有一块田、一个季节，不足以说明问题。",
     "我们近两年的预备试验表明，把第一次排水提前到插秧后第九天，晚稻季甲烷减少了百分之三十八，产量没有明显变化；但试验田块少，不足以说明问题。"),
    ("试验设在三个县的九块农户田中", "试验设在四个县的十二块农户田中"),
    ("每周两次，排水前后加密到每天一次，", "每周两次，排水前后每天一次，"),
    ("每个村选二十户农民，记录每次开关水口所用的时间，并在季末访谈他们的意见。", "每个村选二十五户农民，记录每次开关水口所用的时间，季末访谈他们的意见，并比较有无补贴时的差别。"),
    ("经费四十一万元", "经费五十六万元"),
)  # fmt: skip


class Proposal(NamedTuple):
    """A file to write: its name, the text it is made from, and what is replaced in it."""

    file: str
    source: str
    edits: Edits = ()


PROPOSALS = (
    Proposal("account-books.docx", "account-books"),
    Proposal("bark-beetles.txt", "bark-beetles"),
    Proposal("beetle-warning.docx", "bark-beetles", RETITLED),
    Proposal("dialect-recordings-zh.txt", "dialect-recordings-zh"),
    Proposal("icy-pavements.docx", "icy-pavements"),
    Proposal("night-trains.pdf", "night-trains"),
    Proposal("paddy-methane-2025-zh.docx", "paddy-methane-2025-zh"),
    Proposal("paddy-methane-2026-zh.pdf", "paddy-methane-2025-zh", REVISED_ZH),
    Proposal("sand-filters-2025.docx", "sand-filters-2025"),
    Proposal("sand-filters-2026.pdf", "sand-filters-2025", RESUBMITTED),
    Proposal("school-spectrometer.txt", "school-spectrometer"),
    Proposal("winter-cycling.pdf", "winter-cycling"),
)


class Block(NamedTuple):
    """One paragraph; `kind` is title, person, heading, form (words of the call) or body."""

    kind: str
    text: str


def source(name: str) -> str:
    """The text of that name, with `{methods of other}` replaced by that section of the other text."""
    text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    return re.sub(r"\{methods of (.+?)\}", lambda found: re.search(r"## Methods\n(.*?)\n\n## ", source(found[1]), re.S)[1], text)  # type: ignore[index]


def blocks(proposal: Proposal) -> Iterator[Block]:
    """The paragraphs of a proposal, the form around them."""
    text = source(proposal.source)
    for old, new in proposal.edits:
        assert text.count(old) == 1, f"{proposal.file}: {old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    form = (
        {}
        if "-zh" in proposal.file
        else {heading.split()[1].lower(): (heading, words) for heading, words in re.findall(r"^(\d\. .+)\n(.+)$", CALL.read_text(encoding="utf-8"), re.M)}
    )
    kinds = {"# ": "title", "@ ": "person", "##": "heading"}
    for line in filter(None, text.splitlines()):
        kind = kinds.get(line[:2], "body")
        line = line.lstrip("#@ ") if kind != "body" else line
        if kind == "heading" and form:
            heading, words = form.pop(line.lower())
            yield from (Block("heading", heading), Block("form", words))
        else:
            yield Block(kind, line)
    for heading, words in form.values():
        yield from (Block("heading", heading), Block("form", words))


def write_txt(proposal: Proposal) -> None:
    """Plain text; the Chinese one in GB18030, as much older software still writes."""
    lines = [("\n" if block.kind == "heading" else "") + block.text for block in blocks(proposal)]
    (TARGET / proposal.file).write_bytes("\n".join([*lines, ""]).encode("gb18030" if "-zh" in proposal.file else "utf-8"))


def write_docx(proposal: Proposal) -> None:
    """A Word document with the fund's name in the header of each page."""
    from docx import Document
    from docx.shared import Pt

    document = Document()
    document.core_properties.created = document.core_properties.modified = LONG_AGO
    document.core_properties.author = "twinset examples"
    if "-zh" not in proposal.file:
        document.sections[0].header.paragraphs[0].text = FUND
    for block in blocks(proposal):
        if block.kind in ("title", "heading"):
            document.add_heading(block.text, 0 if block.kind == "title" else 2)
            continue
        run = document.add_paragraph().add_run(block.text)
        run.italic, run.font.size = block.kind == "form", Pt(11)
    memory = io.BytesIO()
    document.save(memory)
    with zipfile.ZipFile(memory) as dated, zipfile.ZipFile(TARGET / proposal.file, "w", zipfile.ZIP_DEFLATED) as undated:
        for name in dated.namelist():
            if not name.startswith("docProps/thumbnail"):
                undated.writestr(zipfile.ZipInfo(name), dated.read(name), zipfile.ZIP_DEFLATED)


def write_pdf(proposal: Proposal) -> None:
    """A4 pages with a running header and page numbers. Of the Chinese font, only the characters used are embedded."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    if chinese := "-zh" in proposal.file:
        pdfmetrics.registerFont(TTFont("MicroHei", str(CHINESE_FONT), subfontIndex=0))
    plain = ParagraphStyle("body", fontName="MicroHei" if chinese else "Times-Roman", fontSize=11.5, leading=17, spaceAfter=7, alignment=4, wordWrap="CJK" if chinese else None)
    styles = {
        "body": plain,
        "person": plain,
        "form": ParagraphStyle("form", plain, fontName="Times-Italic"),
        "heading": ParagraphStyle("heading", plain, fontSize=13, spaceBefore=8, keepWithNext=1),
        "title": ParagraphStyle("title", plain, fontSize=18, leading=24, alignment=0),
    }

    def margins(canvas, page) -> None:  # type: ignore[no-untyped-def]
        canvas.setFont(plain.fontName, 9)
        canvas.drawString(70, A4[1] - 45, "应用研究资助项目申请书" if chinese else FUND)
        canvas.drawCentredString(A4[0] / 2, 36, f"第 {page.page} 页" if chinese else f"Page {page.page}")

    story = [Paragraph(block.text, styles[block.kind]) for block in blocks(proposal)]
    file = SimpleDocTemplate(str(TARGET / proposal.file), pagesize=A4, leftMargin=70, rightMargin=70, topMargin=70, bottomMargin=70, invariant=1, title=story[0].getPlainText())
    file.build(story, onFirstPage=margins, onLaterPages=margins)


WRITERS = {".txt": write_txt, ".docx": write_docx, ".pdf": write_pdf}

if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for proposal in PROPOSALS:
        WRITERS[Path(proposal.file).suffix](proposal)
        print(f"{(TARGET / proposal.file).stat().st_size:>7,} bytes  {proposal.file}")
