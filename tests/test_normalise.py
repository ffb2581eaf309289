"""The normalising kernel equals its definition in Python strings, byte for byte, and stays inside the room that `capacity` states."""

import subprocess
import sys
from pathlib import Path
from unicodedata import category, combining, name, normalize, unidata_version

import numpy as np
import pytest
import reference_text as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from specimens import KNOWN, SPECIMENS, TOUCHY

from twinset.config import UNICODE
from twinset.documents.unicode import tables
from twinset.kernels.blocks import PLAIN
from twinset.kernels.normalise import CHARS, SOLID, WORDS, capacity, normalise
from twinset.kernels.unicode import SINGLE, record_of

MODES = {WORDS: reference.words, CHARS: reference.chars, SOLID: reference.solid}
EVERY = [(case, mode) for case in (False, True) for mode in MODES]
CANARY = 0xA5
NO_SPANS = np.empty((2, 0), np.int64)


def normal_form(data, case, mode, *, before=b"", after=b"", slack=64):
    """(normal form, malformed sequences) by the kernel, for `data` inside a larger buffer; fails if a byte beyond the room is written."""
    text, start, stop = np.frombuffer(before + data + after, np.uint8), len(before), len(before) + len(data)
    room, columns = capacity(text, start, stop, tables(case))
    buffer = np.full(room + slack + 256, CANARY, np.uint8)
    length, malformed = normalise(text, start, stop, tables(case), mode, np.empty((2, columns), np.uint32), buffer[: room + slack], NO_SPANS)
    assert length <= room
    assert (buffer[room + slack :] == CANARY).all()
    return buffer[:length].tobytes(), malformed


def check(data, *, modes=EVERY, **around):
    for case, mode in modes:
        expected = reference.normalised(data, case, MODES[mode])
        assert normal_form(data, case, mode, **around) == expected, (data, case, mode, around)


@pytest.mark.parametrize("kind", SPECIMENS)
def test_specimens(kind):
    check(SPECIMENS[kind])


@pytest.mark.parametrize("kind", SPECIMENS)
def test_only_the_document_counts(kind):
    """Neighbours in the buffer, which may complete a sequence or join a mark, change nothing; nor does the least room allowed."""
    data = SPECIMENS[kind]
    check(data, before=b"\xe2\x82", after="\u0301\u0301x".encode())
    check(data, before="e中".encode(), after=b"\x82\xac" + bytes(100), slack=0)


def batches(codes, pattern):
    return (pattern.join(["", *codes[first : first + 4096], ""]).encode() for first in range(0, len(codes), 4096))


def test_every_code_point():
    """All that this Python knows, which must be no newer than our table."""
    assert tuple(map(int, unidata_version.split("."))) <= tuple(map(int, UNICODE.split(".")))
    for data in batches(KNOWN, "y x"):
        check(data, modes=[(False, WORDS), (True, CHARS)])


@pytest.mark.parametrize("pattern", [" ", "中", " e\u0327", ".\u0301 가", "aB"])
def test_every_code_point_that_is_not_one_of_thousands_alike(pattern):
    """Between blanks and ideographs, after a letter, a mark and a syllable."""
    codes = [c for i, c in enumerate(KNOWN) if i % 64 == 0 or not (category(c) == "Co" or name(c, "").startswith(("CJK UNIFIED", "HANGUL SYLLABLE", "TANGUT", "EGYPTIAN")))]
    for data in batches(codes, pattern):
        check(data, modes=[(False, CHARS), (True, WORDS), (False, SOLID)])


def test_every_pair_of_bytes_and_every_beginning():
    """Malformed sequences are cut as Python's decoder cuts them, at the end of a text too."""
    for lead in range(0x80, 0x100):
        check(b"".join(bytes([lead, second, 0x61]) for second in range(256)), modes=[(True, CHARS)])
        for rest in (b"", b"\x80", b"\x9f\xbf", b"\xa0\x80", b"\x90\x80\x80", b"\x8f\xbf\xbf", b"\xbf\xbf\xbf\xbf"):
            check(bytes([lead]) + rest, modes=[(False, WORDS), (True, CHARS)], after=b"\x80\x80\x80")


letters = st.sampled_from(KNOWN)
touchy = st.sampled_from(TOUCHY)
anything = st.lists(st.one_of(st.sampled_from("aB1 -é中한กא"), touchy, letters), max_size=40).map("".join)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(anything)
def test_random_texts(text):
    check(text.encode())


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(st.one_of(anything.map(str.encode), st.binary(max_size=6)), max_size=6).map(b"".join), st.integers(0, 64))
def test_random_bytes(data, slack):
    check(data, slack=slack, after=b"\xbf" * slack)


@pytest.mark.parametrize("length", [*range(60, 70), 127, 128, 129, 191, 192, 1000])
def test_blocks_of_64_bytes_leave_no_seam(length):
    """ASCII goes 64 bytes at a time: whatever stands at the edge of a block, before it and after it."""
    for tail in ("", "é", " ", "  ", "\u0301", "中", "\u0301\u0301 ", "Z\u0327\u0301", "ﬁ", "\xad"):
        check(("aB c" * 300)[:length].encode() + tail.encode() + b"Q r  S\tt" * 9)
        check((" " * length + tail + " " * length + "x").encode())


BORDERS = [chr(code + step) for ends in PLAIN for code in ends for step in (-1, 0, 1)]


@pytest.mark.parametrize("case", [False, True])
def test_plain_singles_become_themselves(case):
    """What the fast path takes for granted: by the table, each is a token of its own, never touches its predecessor, and is nothing but itself."""
    for first, last in PLAIN:
        assert {record_of(tables(case), code) for code in range(first, last + 1)} == {SINGLE}


@pytest.mark.parametrize("before", ["", "a", " ", "，", "中", "中。", "é", "ก", "e\u0301", "\u0301", "\xad"])
def test_the_ends_of_a_run_of_plain_singles(before):
    """Runs of every length about a block's sixteen, then whatever stands at the borders of the ranges, or joins the last of the run."""
    for length in (0, 1, 2, 15, 16, 17, 31, 32, 33, 50):
        text = before + ("中かガ한㐀" * 10)[:length]
        for tail in ("", "a", " ", "1", "，", "。", "、", "\u3000", "\n", "é", "中", "ｶﾞ", "\u3099", "\u0301", "\u11a8", "\u0327\u0301", "ก", "\xad中", "𠀀", "，中"):
            check((text + tail + "国x").encode(), modes=[(False, WORDS), (True, CHARS)])


@pytest.mark.parametrize("pattern", ["", "中", "a", "，", "\u3099"])
def test_the_borders_of_the_plain_ranges(pattern):
    check(pattern.join(["", *BORDERS * 3, ""]).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("size", range(42, 66))
def test_a_run_that_ends_with_its_document(size):
    """Whatever follows in the buffer, whether the last code point is whole or cut, and whether there is room for a block or not."""
    data = ("、" + "中文한글" * 8).encode()[:size]
    for slack in (0, 64):
        check(data, after="字字字字字字字字字字字字字字字字字字字字字字".encode(), slack=slack)
        check(data, slack=slack)


def test_broken_ideographs_in_a_run():
    """Any byte of a run may be wrong: lead, second and third."""
    run = "国家自然科学基金项目申请书二十三年".encode()
    for i in range(len(run)):
        for wrong in (0x20, 0x41, 0x80, 0xBF, 0xC3, 0xE3, 0xE4, 0xEA, 0xED, 0xFF):
            check(run[:i] + bytes([wrong]) + run[i + 1 :] + run, modes=[(False, WORDS), (False, SOLID)])


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0327", "\u0327\u0301", "".join(c for c in TOUCHY if combining(c))])
@pytest.mark.parametrize("base", ["", "e", " ", "中", "가", "."])
def test_thousands_of_marks(base, marks):
    text = base + (marks * 5000)[:5000] + "z"
    check(text.encode(), modes=[(False, WORDS), (False, CHARS)])
    check((base + "".join(sorted(marks * 3)) + base).encode())


def test_jamo_compose_in_long_chains():
    check(("\u1112\u1161\u11ab" * 2000 + "\u1161" * 3000 + "\u11a8" * 50).encode(), modes=[(False, WORDS), (True, SOLID)])


@pytest.mark.parametrize("text", ["\ufdfa" * 100, "中" * 100, "\u1f82" * 100, "\xdf" * 100, "ΰ" * 100, "\u3300" * 100, "\x80" * 100, "\u0390\u0345" * 50, "\u0958" * 64])
def test_the_texts_that_grow_most_fit_their_room(text):
    check(text.encode(), slack=0)
    check(text.encode()[:-1], slack=0)


def test_capacity_is_not_wasteful():
    """ASCII needs a byte a byte, an ideograph five: what docs/text.md says about memory."""
    assert capacity(np.full(1000, 0x61, np.uint8), 0, 1000, tables(False))[0] == 1000
    assert capacity(np.frombuffer("中".encode() * 1000, np.uint8), 0, 3000, tables(False))[0] == 5000


@pytest.mark.parametrize("case", [False, True])
def test_normal_form_of_a_normal_form_is_itself(case):
    """Not in SOLID, where a mark may come to stand after a letter that white space kept from it."""
    for mode in (WORDS, CHARS):
        for kind, data in SPECIMENS.items():
            once, _ = normal_form(data, case, mode)
            assert normal_form(once, case, mode) == (once, 0), kind


def test_equivalent_spellings_have_one_normal_form():
    for kind, data in SPECIMENS.items():
        text = data.decode("utf-8", "replace").replace("\u0345", "")  # the one mark whose folding is no mark
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert normal_form(normalize(form, text).encode(), False, CHARS) == normal_form(text.encode(), False, CHARS), kind


def test_spans_are_written_or_not_without_any_difference():
    for data in SPECIMENS.values():
        text = np.frombuffer(data, np.uint8)
        room, columns = capacity(text, 0, len(data), tables(False))
        for mode in MODES:
            out, spans = np.zeros(room + 64, np.uint8), np.full((2, room + 64), -1, np.int64)
            length, malformed = normalise(text, 0, len(data), tables(False), mode, np.empty((2, columns), np.uint32), out, spans)
            assert (out[:length].tobytes(), malformed) == normal_form(data, False, mode)
            assert (spans[0, :length] >= 0).all()
            assert (spans[0, :length] < spans[1, :length]).all()
            assert (spans[1, :length] <= len(data)).all()
            assert (np.diff(spans[:, :length]) >= 0).all()


def test_the_table_is_what_the_tool_makes(tmp_path):
    """Runs when this Python has the Unicode version of the table, and writes the very same bytes."""
    if unidata_version != UNICODE:
        pytest.skip(f"this Python knows Unicode {unidata_version}, the table is of {UNICODE}")
    root = Path(__file__).parents[1]
    script = "import runpy, sys; from pathlib import Path; import tools.unicode_tables as tool; " \
             f"tool.write({{'folded': tool.build(False, pairs := tool.pairs()), 'cased': tool.build(True, pairs)}}, Path({str(tmp_path / 'made.npz')!r}))"  # fmt: skip
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root, env={"PYTHONPATH": f"{root / 'src'}:{root}"}, timeout=300)
    assert (tmp_path / "made.npz").read_bytes() == (root / "src/twinset/kernels/unicode.npz").read_bytes()
