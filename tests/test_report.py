"""The report: what its file holds and cannot hold; and in a real browser, what a reader can do with it."""

import base64
import hashlib
import json
import os
import re
import shutil
import time

import numpy as np
import pytest

from twinset.config import Config
from twinset.documents.shingles import shingle
from twinset.errors import BadInput
from twinset.estimate.certificate import Certificate
from twinset.passages import align, locate, passages, template
from twinset.report import html, summary
from twinset.report.html import DocumentEntry, PairEntry, ReportData, code, write_report

pytestmark = pytest.mark.compiled

EVIL = '</script><script>window.ran = 1</script><img src=x onerror="window.ran = 2"> \' " & &lt;b&gt; <!-- \u2028 \u2029 ]]> \\u003c \x00 end'
FORM = "State the aims of the project and its costs in plain words."
WORDS3 = Config(shingle="words:3")


def pair(left, right, resemblance, **more):
    return PairEntry(left, right, resemblance, resemblance, resemblance, **{"containment_left": resemblance, "containment_right": resemblance, **more})


def data_of(texts, pairs, **options):
    documents = tuple(DocumentEntry(name, text, len(text)) for name, text in texts.items())
    return ReportData(documents, tuple(pairs), 0.5, **options)


def written(path, data):
    write_report(path, data)
    return path.read_text(encoding="utf-8")


def block(page, name):
    return json.loads(re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)[1])


# The file


def test_the_file_asks_for_nothing_and_runs_only_its_own_script(tmp_path):
    page = written(tmp_path / "r.html", data_of({EVIL: EVIL, "b": EVIL}, [pair(0, 1, 1, group=1)], title=EVIL, facts=((EVIL, EVIL),), why=EVIL, date=EVIL))
    assert not re.search(r"\b(src|href|action|srcset|data)\s*=\s*\"?(?!#)\w", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).replace("&lt;img src=x", ""))
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|WebSocket|sendBeacon|\beval\(", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; ")
    for tag in ("style", "script"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert f"sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}" in policy
    assert not re.search(r' (style|on\w+)="', page)


def test_every_text_is_in_the_file_once_and_unchanged(tmp_path):
    page = written(tmp_path / "r.html", data_of({"a": EVIL, "b": "two\ud800", "unpaired": "not shown"}, [pair(0, 1, 0.5), pair(0, 1, 0.6)]))
    assert block(page, "text-0")["text"] == EVIL
    assert block(page, "text-1")["text"] == "two\ufffd"
    assert page.count("window.ran = 1") == 1
    assert "not shown" not in page
    assert "unpaired" not in page


def test_places_are_counted_as_browsers_count():
    text = "🚀 one two three 𠀀 four five six"
    other = "one two three. 🙂🙂 four five six"
    found = passages(text, other, WORDS3, gap=0)
    data = data_of({"a": text, "b": other}, [pair(0, 1, 0.5, passages=tuple(found))])
    listed = html._listed(data)["passages"]
    runs = [[int(place) for place in line.split()[1:]] for line in listed[0].split(";")]
    units = [one.encode("utf-16-le") for one in (text, other)]
    for passage, (a, b, c, d) in zip(found, runs, strict=True):
        assert units[0][2 * a : 2 * b].decode("utf-16-le") == text[slice(*passage.left)]
        assert units[1][2 * c : 2 * d].decode("utf-16-le") == other[slice(*passage.right)]


def test_the_file_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(BadInput, match="is a directory"):
        write_report(tmp_path, data_of({}, []))
    with pytest.raises(BadInput, match="cannot be written"):
        write_report(tmp_path / "none" / "r.html", data_of({}, []))
    with pytest.raises(IndexError):
        write_report(tmp_path / "r.html", data_of({"a": "a"}, [pair(0, 1, 1)]))
    assert list(tmp_path.iterdir()) == []


def test_names_can_be_replaced_by_codes(tmp_path):
    texts = {f"folder/Miller {i}.pdf": f"text {i}" for i in range(5)}
    documents = tuple(DocumentEntry(name, text, 3, note=f"Miller {i}.pdf was read as Latin-1") for i, (name, text) in enumerate(texts.items()))
    data = ReportData((*documents, DocumentEntry("Smith.doc", problem="Smith.doc is encrypted")), (pair(4, 1, 0.7, containment_left=0.9),), 0.5, anonymise=True)
    page = written(tmp_path / "r.html", data)
    assert "Miller" not in page
    assert "Smith" not in page
    listed = block(page, "data")
    (left,), (right,) = listed["left"], listed["right"]
    assert [listed["documents"][str(d)][0] for d in (left, right)] == [code("folder/Miller 4.pdf"), code("folder/Miller 1.pdf")]
    assert [block(page, f"text-{d}")["text"] for d in (left, right)] == ["text 4", "text 1"]
    assert f"{code('Smith.doc')} is encrypted" in page
    assert code("Smith.doc") == "JKY9M-DXJR1"  # the same in every run and version
    assert len({code(str(i)) for i in range(10_000)}) == 10_000


# Its words


def certificate(**values):
    return Certificate(**{"threshold": 0.5, "detection": 0.993, "found": 40, "missed": 1.6, "missed_low": 0, "missed_high": 5, "level": 0.95, **values})


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (certificate(), "About 2 pairs may have been missed (0 to 5, with 95\u00a0% confidence)."),
        (certificate(missed=1.2, missed_low=1, missed_high=1234), "About 1 pair may have been missed (1 to 1\u202f234, with 95\u00a0% confidence)."),
        (certificate(detection=1.0, missed=0, missed_high=0), "No such pair was missed."),
    ],
)
def test_the_certificate_in_plain_words(found, words):
    assert words in summary.overview(data_of({"a": "a"}, [], certificate=found))


def test_the_summary_in_plain_words():
    data = data_of({"a": "a", "b": "b", "c": ""}, [pair(0, 1, 0.943)])
    assert "3 documents were read and compared. In 1 pair the two documents resemble each other by 50\u00a0% or more; the highest resemblance is 94\u00a0%." in summary.overview(
        data
    )
    assert "In no pair do the two documents resemble each other by 50\u00a0% or more." in summary.overview(data_of({"a": "a"}, []))
    assert "In 1 pair 50\u00a0% or more of one document is found in the other; the highest share is 99\u00a0%." in summary.overview(
        data_of({"a": "a", "b": "b"}, [pair(0, 1, 0.2, containment_right=0.99)], by="containment")
    )
    assert "1 document has no letter or digit to compare" in summary.problems(data)


@pytest.mark.parametrize(("value", "words"), [(0, "0\u00a0%"), (1, "100\u00a0%"), (0.9999, "&gt;99\u00a0%"), (0.0001, "&lt;1\u00a0%"), (0.5, "50\u00a0%"), (0.994, "99\u00a0%")])
def test_only_all_is_called_all(value, words):
    assert summary.share(value) == words


@pytest.mark.parametrize(("groups", "size", "matrices", "said"), [(30, 2, 1, ""), (40, 3, 24, "16 other groups"), (2, 70, 2, "the 60 that share most are shown"), (0, 0, 0, "")])
def test_groups_are_one_matrix_or_several(tmp_path, groups, size, matrices, said):
    pairs = [pair(size * g + i, size * g + i + 1, 0.8, group=g + 1) for g in range(groups) for i in range(size - 1)]
    page = written(tmp_path / "r.html", data_of({f"d{i}": "x" for i in range(groups * size)}, pairs))
    assert page.count('<svg class="matrix"') == matrices
    assert said in page


# In a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium with an empty profile and no network."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        message = "NO BROWSER: the report is not tested. Install chromium and chromium-driver"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    webdriver = pytest.importorskip("selenium.webdriver", reason="NO BROWSER: the report is not tested. Install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    quiet = ["no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-quic", "host-resolver-rules=MAP * ~NOTFOUND"]
    for flag in ("headless=new", "no-sandbox", "disable-gpu", *quiet, "window-size=1400,900", f"user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Writes a report and opens it; afterwards, nothing may have gone wrong in it."""

    def show(data):
        write_report(tmp_path / "r.html", data)
        browser.get((tmp_path / "r.html").as_uri())
        return browser

    browser.get_log("browser")
    yield show
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []
    browser.get("about:blank")


def js(browser, code, *arguments):
    return browser.execute_script(f"return {code}", *arguments)


def press(browser, *keys):
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def until(browser, code, *arguments):
    end = time.monotonic() + 5
    while not js(browser, code, *arguments):
        assert time.monotonic() < end, code
        time.sleep(0.02)


def names(browser):
    """The rows in the document, from the top: the names of their pairs."""
    return js(browser, "[...document.querySelectorAll('#rows [role=row]')].map(row => [...row.querySelectorAll('.name')].map(name => name.textContent).join(' '))")


def active(browser):
    return js(browser, "document.querySelector('[aria-selected=true] .name').textContent")


KEYS = {"down": "\ue015", "enter": "\ue007", "escape": "\ue00c", "end": "\ue010", "home": "\ue011"}


@pytest.fixture
def five():
    """Five pairs that every column sorts differently."""
    texts = {f"{letter} 10" if letter == "a" else letter: f"text {letter}" for letter in ["a", "a 9", "c", "D", "e", "申请"]}
    rows = [(0, 1, 0.7, 0.7, 0.8, 12, 2), (2, 3, 0.9, 0.95, 0.9, 40, 1), (1, 4, 0.3, 0.99, 0.31, 33, 2), (4, 5, 0.5, 0.5, 0.6, 5, None), (3, 5, 0.1, 0.1, 0.2, 7, None)]
    found = passages("x " * 50, "x " * 50, WORDS3)[0]
    entries = [
        pair(i, j, r, containment_left=a, containment_right=b, group=group, passages=(html.Passage(found.left, found.right, 1, longest, found.runs),))
        for i, j, r, a, b, longest, group in rows
    ]
    return data_of(texts, entries)


def test_every_column_sorts_both_ways(opened, five):
    browser = opened(five)
    assert names(browser) == ["c D", "a 10 a 9", "e 申请", "a 9 e", "D 申请"]
    expected = {
        "resemblance": ["D 申请", "a 9 e", "e 申请", "a 10 a 9", "c D"],
        "containment": ["a 9 e", "c D", "a 10 a 9", "e 申请", "D 申请"],
        "longest": ["c D", "a 9 e", "a 10 a 9", "D 申请", "e 申请"],
        "names": ["a 9 e", "a 10 a 9", "c D", "D 申请", "e 申请"],
        "group": ["c D", "a 10 a 9", "a 9 e", "e 申请", "D 申请"],
    }
    for column, order in expected.items():
        js(browser, "document.querySelector(`[data-sort=${arguments[0]}]`).click()", column)
        assert names(browser) == order, column
        js(browser, "document.querySelector(`[data-sort=${arguments[0]}]`).click()", column)
        back = names(browser)
        assert back == (order[::-1] if column != "group" else ["e 申请", "D 申请", "a 10 a 9", "a 9 e", "c D"]), column
        assert js(browser, "document.querySelectorAll('[role=columnheader]:not([aria-sort=none])').length") == 1


def test_filters_by_name_group_and_shares(opened, five):
    browser = opened(five)
    slide = "(() => { const slider = document.getElementById(arguments[0]); slider.value = arguments[1]; slider.dispatchEvent(new Event('input', { bubbles: true })); })()"
    press(browser, "/")
    press(browser, "申")
    assert sorted(names(browser)) == ["D 申请", "e 申请"]
    assert js(browser, "document.getElementById('count').textContent") == "2 of 5 pairs"
    press(browser, KEYS["escape"])
    assert len(names(browser)) == 5
    press(browser, "/")
    press(browser, "Group 2")
    assert sorted(names(browser)) == ["a 10 a 9", "a 9 e"]
    press(browser, KEYS["escape"])
    js(browser, slide, "least-resemblance", 50)
    assert sorted(names(browser)) == ["a 10 a 9", "c D", "e 申请"]
    js(browser, slide, "least-containment", 90)
    assert names(browser) == ["c D"]
    js(browser, slide, "least-resemblance", 100)
    assert names(browser) == []
    assert js(browser, "!document.getElementById('none').hidden")


def test_the_keyboard_does_everything(opened, five):
    browser = opened(five)
    js(browser, "document.getElementById('grid').focus()")
    press(browser, "j", KEYS["down"], "k")
    assert js(browser, "document.querySelector('[aria-selected=true]').dataset.place") == "1"
    assert js(browser, "document.getElementById('grid').getAttribute('aria-activedescendant') === document.querySelector('[aria-selected=true]').id")
    press(browser, KEYS["end"])
    assert active(browser) == "D"
    press(browser, KEYS["home"], "j", KEYS["enter"])
    until(browser, "!document.getElementById('pair').hidden")
    assert js(browser, "document.getElementById('left-name').textContent") == "a 10"
    press(browser, "]")
    until(browser, "document.getElementById('left-name').textContent === 'e'")
    press(browser, "n")
    assert js(browser, "document.getElementById('where').textContent") == "Passage 1 of 1"
    press(browser, KEYS["escape"])
    until(browser, "!document.getElementById('overview').hidden")
    assert js(browser, "document.activeElement.id") == "grid"
    assert active(browser) == "e"


def test_strangers_texts_are_shown_and_never_run(opened):
    browser = opened(
        data_of({EVIL: EVIL, "</title><script>window.ran = 3</script>": f"{EVIL} {EVIL}"}, [pair(0, 1, 0.9, passages=tuple(passages(EVIL, EVIL, WORDS3)), group=1)], title=EVIL)
    )
    assert js(browser, "document.querySelector('h1').textContent") == EVIL.replace("\x00", "")
    js(browser, "document.querySelector('.matrix a').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    until(browser, "!document.getElementById('pair').hidden")
    assert js(browser, "document.getElementById('left').textContent") == EVIL
    assert js(browser, "document.getElementById('right').textContent") == f"{EVIL} {EVIL}"
    assert js(browser, "window.ran") is None
    assert js(browser, "document.images.length + document.querySelectorAll('main script, iframe, object').length") == 0
    blocked = "(() => { const made = document.createElement('script'); made.textContent = 'window.ran = 4'; document.body.append(made); return window.ran; })()"
    assert js(browser, blocked) is None
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


def story(random, n):
    return " ".join(f"w{i}" + (".\n\n" if i % 9 == 0 else "") for i in random.integers(0, 5000, n))


@pytest.fixture
def long_pair():
    random = np.random.default_rng(3)
    first, second, third, own = (story(random, n) for n in (300, 600, 400, 400))
    left, right = f"{FORM}\n{first} {own} 🚀 {second} end {third}", f"{story(random, 900)} {second} {FORM} other {first}"
    ignored = shingle([FORM], WORDS3).values
    located = [locate(text, WORDS3) for text in (left, right)]
    documents = tuple(DocumentEntry(name, text, len(one.hashes), tuple(template(one, ignored))) for name, text, one in zip(("l", "r " * 90), (left, right), located, strict=True))
    return ReportData(documents, (pair(0, 1, 0.4, passages=tuple(align(*located, ignored))),), 0.1)


TOPS = "['left', 'right'].map(side => document.querySelector(`#${side} [data-number='${arguments[0]}']`).getBoundingClientRect().top)"


def test_both_texts_with_their_passages(opened, long_pair):
    browser = opened(long_pair)
    js(browser, "void document.querySelector('#rows [role=row]').click()")
    until(browser, "!document.getElementById('pair').hidden")
    found = long_pair.pairs[0].passages
    assert len(found) >= 2
    for side, document in zip(("left", "right"), long_pair.documents, strict=True):
        assert js(browser, f"document.getElementById('{side}').textContent") == document.text
        marked = js(
            browser,
            f"[...document.querySelectorAll('#{side} .run')].reduce((all, made) => {{ all[made.dataset.k] = (all[made.dataset.k] || '') + made.textContent; return all; }}, {{}})",
        )
        runs = {str(k): "".join(document.text[slice(*(run[side == "right"]))] for run in passage.runs) for k, passage in enumerate(found)}
        assert marked == runs
        assert js(browser, f"document.querySelector('#{side} .template').textContent") == FORM.rstrip(".")
    assert "template text, ignored" in js(browser, "document.getElementById('legend').textContent")


def test_passages_meet_level_and_texts_scroll_together(opened, long_pair):
    browser = opened(long_pair)
    js(browser, "void document.querySelector('#rows [role=row]').click()")
    until(browser, "!document.getElementById('pair').hidden")
    for k in range(len(long_pair.pairs[0].passages)):
        js(browser, f"document.querySelector('#right [data-k=\"{k}\"]').click()")
        left, right = js(browser, TOPS, k + 1)
        assert abs(left - right) <= 1, k
    js(
        browser,
        "void (document.getElementById('left').dispatchEvent(new Event('wheel')), document.getElementById('left').scrollTop = 0, document.getElementById('right').scrollTop = 0)",
    )
    weight = [passage.words for passage in long_pair.pairs[0].passages]
    k = weight.index(max(weight)) + 1
    line = js(browser, "(pane => pane.getBoundingClientRect().top + pane.clientHeight / 4)(document.getElementById('left'))")
    js(browser, "void (document.getElementById('left').scrollTop += arguments[0])", js(browser, TOPS, k)[0] - line)
    until(browser, f"(([left, right]) => Math.abs(left - right) <= 2)({TOPS})", k)
    js(browser, "document.getElementById('together').click()")
    before = js(browser, "document.getElementById('right').scrollTop")
    js(browser, "void (document.getElementById('left').scrollTop += 300)")
    time.sleep(0.2)
    assert js(browser, "document.getElementById('right').scrollTop") == before


def test_thousands_of_pairs_draw_only_what_is_seen(opened):
    texts = {f"document {i}": f"text {i}" for i in range(200)}
    pairs = [pair(i % 199, i % 199 + 1, 1 - i / 10_000) for i in range(5000)]
    browser = opened(data_of(texts, pairs))
    assert 5 < len(names(browser)) < 60
    js(browser, "document.getElementById('grid').focus()")
    press(browser, KEYS["end"])
    until(browser, "document.querySelector('[aria-selected=true]')?.dataset.place === '4999'")
    assert len(names(browser)) < 60
    top, bottom = js(browser, "(rect => [rect.top, rect.bottom - innerHeight])(document.querySelector('[aria-selected=true]').getBoundingClientRect())")
    assert top > 0 > bottom - 1
    js(browser, "void dispatchEvent(new Event('beforeprint'))")
    assert len(names(browser)) == 5000
    js(browser, "void dispatchEvent(new Event('afterprint'))")
    assert len(names(browser)) < 60


def test_a_report_without_pairs(opened):
    browser = opened(data_of({"a": "a"}, []))
    assert "In no pair" in js(browser, "document.querySelector('.lead').textContent")
    assert js(browser, "document.querySelector('.pairs').hidden")


# Its colours


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4) for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_can_be_read_on_its_ground(theme):
    """Contrast of 4.5 or more: level AA of WCAG 2.2, section 1.4.3."""
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", re.findall(r":root \{(.*?)\}", html._part("report.css"), re.DOTALL)[theme]))
    pairs = [(text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "sheet", "faint", "chosen")]
    pairs += [("ink", f"c{i}") for i in range(8)] + [("sheet", f"e{i}") for i in range(8)]
    pairs += [("on-pale", f"h{i}") for i in range(4)] + [("on-deep", f"h{i}") for i in (4, 5)]
    for text, ground in pairs:
        low, high = sorted((luminance(colours[text]), luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)
