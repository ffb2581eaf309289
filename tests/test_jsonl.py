"""JSON lines: what Python's own parser reads line by line, whatever the size of the blocks; a bad line is named by its number."""

import gzip
import json

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specimens import SPECIMENS

from twinset.documents.jsonl import PEEK, JsonLines
from twinset.errors import BadInput

SIZES = [1, 2, 3, 16, 100, 1 << 20]
EARLY = [b'{"text": "early", "id": 0}'] * PEEK  # lines that are looked at before any block is read
ALLOWED = "allowed: one JSON object in each line$"


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"gz": gzip.compress, "zst": zstd}


@pytest.fixture
def written(tmp_path):
    """Writes a file of lines and gives its path."""

    def write(lines, name="a.jsonl"):
        path = tmp_path / name
        path.write_bytes(lines if isinstance(lines, bytes) else b"\n".join(lines))
        return path

    return write


def rows(path, size, columns=("text", "id")):
    """The rows as Python values, texts as bytes: they need not be UTF-8."""
    result = []
    for batch in JsonLines(path).batches(list(columns), size):
        text = batch.column(0).cast(pa.binary()).to_pylist()
        result += zip(text, *(batch.column(i).to_pylist() for i in range(1, len(columns))), strict=True)
    return result


def expected(data):
    """Line by line, by Python's own parser."""
    found = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    return [(None if (text := each.get("text")) is None else text.encode(), each.get("id")) for each in found]


TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.just("long " * 60)
REST = st.dictionaries(st.sampled_from(["a", "other", "Text"]), st.none() | st.booleans() | st.floats(allow_nan=False) | st.lists(st.integers(), max_size=2), max_size=2)
KINDS = {"text": TEXT, "id": st.integers(-(2**63), 2**63 - 1)}
ROW = st.builds(lambda text, id, rest: {**text, **id, **rest}, *(st.fixed_dictionaries({}, optional={name: kind}) for name, kind in KINDS.items()), REST)
BLANK = st.sampled_from([b"", b"  ", b"\t", b"\r"])
LINE = st.builds(lambda row, ascii, end: json.dumps(row, ensure_ascii=ascii).encode() + end, ROW, st.booleans(), st.sampled_from([b"", b" ", b"\r"])) | BLANK


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, max_size=12), st.sampled_from([b"", b"\n", b"\n\n"]))
def test_rows_equal_what_python_reads_whatever_the_size_of_the_blocks(written, lines, end):
    """Missing keys are nulls, blank lines are nothing, keys that are not wanted may hold anything."""
    data = b"\n".join([b'{"id": 1, "text": null}', *lines]) + end
    path = written(data)
    for size in SIZES:
        assert rows(path, size) == expected(data)


@pytest.mark.parametrize("size", SIZES)
def test_a_line_may_be_longer_than_a_block(written, size):
    lines = [json.dumps({"text": "x" * length, "id": length}).encode() for length in (0, 3000, 1, 5000, 99)]
    assert rows(written(lines), size) == expected(b"\n".join(lines))


def test_the_schema_is_what_the_first_lines_hold(written):
    path = written([b'{"id": 5, "x": {"y": 1}}', b"", b'{"text": "a", "id": "later", "f": 1.5}', b""])
    kinds = {"id": pa.int64(), "x": pa.string(), "text": pa.string(), "f": pa.string()}
    assert {field.name: field.type for field in JsonLines(path).schema} == kinds
    assert JsonLines(written([b"", b" "])).schema.names == []
    assert JsonLines(written(b"")).schema.names == []


@pytest.mark.parametrize("size", SIZES)
def test_escaped_lone_surrogates_become_replacement_characters(written, size):
    """Arrow refuses them. Pairs are characters, and other lines of the block stay as they are."""
    lines = [rb'{"text": "a\ud800b", "id": 1}', b"", rb'{"text": "\ud83d\ude00 \ude00\ud83d"}', '{"text": "ok 中", "id": 2}'.encode()]
    assert rows(written(lines), size) == [("a\ufffdb".encode(), 1), ("😀 \ufffd\ufffd".encode(), None), ("ok 中".encode(), 2)]


@pytest.mark.parametrize("escape", [b"", rb"\ud800"], ids=["fast", "slow"])
@pytest.mark.parametrize("name", [name for name in SPECIMENS if name not in ("blanks", "NUL", "controls", "every byte", "UTF-16")])
def test_malformed_bytes_stay_for_the_kernels_to_count(written, name, escape):
    """Neither reader replaces or drops one, also in a block with a line that only the slow one reads."""
    lines = [b'{"text": "%s"}' % SPECIMENS[name].replace(b'"', b""), b'{"text": "%s"}' % escape]
    path = written(lines)
    for size in (1, 1 << 20):
        assert rows(path, size, ["text"]) == [(SPECIMENS[name].replace(b'"', b""),), ("\ufffd".encode() if escape else b"",)]


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", ["a.jsonl", "A.NDJSON"])
def test_packed_files_hold_the_same_rows(written, name, ending):
    """Also of several members one after another, and under a name in capitals."""
    data = b"".join(b'{"text": "text %d", "id": %d}\n' % (i, i) for i in range(300))
    packed = PACKERS[ending](data[:1000]) + PACKERS[ending](data[1000:])
    for path in (written(packed, f"{name}.{ending}"), written(packed, f"{name}.{ending.upper()}")):
        for size in (10, 1 << 20):
            assert rows(path, size) == expected(data)


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[: len(data) // 2], lambda data: b"{}\n" + data], ids=["last byte", "half", "not packed"])
def test_damaged_packed_files_are_refused(written, ending, damage):
    path = written(damage(PACKERS[ending](b"".join(b'{"text": "text %d"}\n' % i for i in range(3000)))), f"a.jsonl.{ending}")
    with pytest.raises(BadInput, match=f"^{path} cannot be read .*; allowed: a complete file of JSON lines$"):
        rows(path, 100, ["text"])


@pytest.mark.parametrize("ending", ["", *PACKERS])
def test_the_position_rises_to_the_size_of_the_file(written, ending):
    data = b"".join(b'{"text": "text %d"}\n' % (i * i) for i in range(2000))
    path = written(PACKERS[ending](data), f"a.jsonl.{ending}") if ending else written(data)
    reader = JsonLines(path)
    seen = [reader.position for _ in reader.batches(["text"], 1000)]
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert reader.position == reader.size == path.stat().st_size


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (b'{"text": 5}', "'text' is 5; allowed: a string, as in the lines before"),
        (b'{"text": ["a"]}', "'text' is [\"a\"]; allowed: a string, as in the lines before"),
        (b'{"text": true}', "'text' is true; allowed: a string, as in the lines before"),
        (b'{"id": "x"}', "'id' is \"x\"; allowed: a whole number of 64 bits, as in the lines before"),
        (b'{"id": 1.5}', "'id' is 1.5; allowed: a whole number of 64 bits, as in the lines before"),
        (b'{"id": false}', "'id' is false; allowed: a whole number of 64 bits, as in the lines before"),
        (b'{"id": 9223372036854775808}', "'id' is 9223372036854775808; allowed: a whole number of 64 bits, as in the lines before"),
    ],
    ids=str,
)
@pytest.mark.parametrize("before", [2, PEEK + 50])
def test_a_wrong_type_is_named_by_its_line(written, before, line, seen):
    """Blank lines count; the size of the blocks does not."""
    path = written([*EARLY[:1], *[b"", b'{"id": 3, "text": "a"}'] * (before // 2), line, b'{"text": "a"}'])
    for size in SIZES:
        with pytest.raises(BadInput) as caught:
            rows(path, size)
        assert str(caught.value) == f"{path} line {before + 2}: {seen}"


def test_a_long_wrong_value_is_shown_in_part(written):
    with pytest.raises(BadInput, match="line 1: 'text' is .{60}; allowed: a string"):
        rows(written([b'{"text": ["%s"]}' % (b"x" * 10_000)]), 100, ["text"])


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (b'{"text": "a', r"is not JSON \(.*\)"),
        (b'{"text": "a",}', r"is not JSON \(.*\)"),
        (b"{'text': 'a'}", r"is not JSON \(.*\)"),
        (b'{"text": "a\0b"}', r"is not JSON \(.*\)"),
        (b'{"text": "a"} rest', r"is not JSON \(.*\)"),
        (b"\0\0\0", r"is not JSON \(.*\)"),
        (b"\xff\xfe{", r"is not JSON \(.*\)"),
        (b'["a"]', "is a JSON list"),
        (b"5", "is a JSON int"),
        (b'"text"', "is a JSON str"),
    ],
    ids=str,
)
@pytest.mark.parametrize("before", [0, PEEK])
def test_a_line_that_is_no_object_is_named(written, before, line, seen):
    path = written([*EARLY[:before], line])
    for size in SIZES:
        with pytest.raises(BadInput, match=f"^{path} line {before + 1} {seen}; {ALLOWED}"):
            rows(path, size)


def test_a_line_nested_too_deeply_is_refused(written):
    with pytest.raises(BadInput, match=f"line 1 is nested too deeply; {ALLOWED}"):
        rows(written(b'{"text": "a", "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"), 100)
