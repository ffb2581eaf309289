"""The command line: what it prints is what the library returns, and whatever is wrong is one line, exit code 2, and no half-written file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import twinset
from twinset import cli

ROOT = Path(__file__).parents[1]
LETTER, REVISED = str(ROOT / "examples/letter.txt"), str(ROOT / "examples/letter-revised.txt")
TEXTS = ["one two three four five six", "", "国家自然科学基金", "one two three four five seven"]
COMMAND = [sys.executable, "-c", "from twinset.cli import main; main()"]

pytestmark = pytest.mark.compiled


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """A function from arguments to (exit code, stdout, lines of stderr), in a folder with some files."""
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["twinset", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capsys.readouterr()
        return left.value.code, out, messages(err)

    return command


def messages(errors):
    """The lines of stderr, but for the one that a first run writes."""
    return [line for line in errors.splitlines() if "compiling" not in line]


def write_inputs(folder):
    table = pa.table({"text": TEXTS, "id": ["a", "b", "c", "d"]})
    pq.write_table(table, folder / "good.parquet")
    whole = (folder / "good.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.parquet").write_bytes(b"")
    pq.write_table(pa.table({"number": [1, 2]}), folder / "textless.parquet")
    pq.write_table(pa.table({"text": [1, 2]}), folder / "numbers.parquet")
    (folder / "broken.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (folder / "list.jsonl").write_text("[1, 2]\n")
    (folder / "malformed.jsonl").write_bytes(b'{"text": "a \xff b c d e"}\n')
    (folder / "short.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00\x00")
    (folder / "table.ods").write_text("text\na\n")
    (folder / "malformed.txt").write_bytes(b"one \xff two")
    (folder / "nothing.txt").write_bytes(b"")
    (folder / "page.html").write_text("<p>one two three four five six</p>")


def test_compare_prints_what_the_library_returns(run):
    code, out, lines = run("compare", LETTER, REVISED)
    assert (code, lines) == (0, [])
    assert json.loads(out) == twinset.compare(Path(LETTER).read_text(encoding="utf-8"), Path(REVISED).read_text(encoding="utf-8")).to_dict()


def test_sketch_writes_what_the_library_makes(run):
    code, out, lines = run("sketch", "good.parquet", "--out", "out.parquet", "--bits", "8", "--shingle", "words:2")
    done, sketches = json.loads(out), twinset.load("out.parquet")
    assert (code, lines, done["documents"], done["empty"], done["malformed"]) == (0, [], 4, 1, 0)
    assert (sketches.words == twinset.MinHash(bits="8", shingle="words:2").sketch(TEXTS).words).all()


def test_plan_prints_what_the_library_returns(run):
    code, out, lines = run("plan", "--threshold", "0.8", "--bytes", "128")
    assert (code, lines) == (0, [])
    assert json.loads(out)["best"]["bits"] == twinset.plan(threshold=0.8, bytes=128).best.bits


def test_malformed_utf8_is_counted(run):
    assert json.loads(run("sketch", "malformed.jsonl", "--out", "out.arrow")[1])["malformed"] == 1


BITS = ["0", "1/3x", "1.5=1:0.7+2:0.7", "", "65", "-1", "1/0", "nan", "1.0000001"]
WRONG = [
    *(("compare", LETTER, REVISED, "--bits", bits) for bits in BITS),
    ("compare", LETTER, REVISED, "--samples", "7"),
    ("compare", LETTER, REVISED, "--samples", "0"),
    ("compare", LETTER, REVISED, "--samples", "many"),
    ("compare", LETTER, REVISED, "--shingle", "lines:3"),
    ("compare", LETTER, REVISED, "--seed", "18446744073709551616"),
    ("compare", LETTER, REVISED, "--sizes", "3"),
    ("compare", LETTER, REVISED, "--level", "nan"),
    ("compare", LETTER, REVISED, "--nonsense"),
    ("compare", LETTER, "."),
    ("compare", LETTER, "nowhere.txt"),
    ("compare", "malformed.txt", LETTER, "--strict"),
    ("compare", LETTER),
    ("compare", "-", "-"),
    *(("sketch", name, "--out", "out.parquet") for name in ("cut.parquet", "empty.parquet", "textless.parquet", "numbers.parquet")),
    *(("sketch", name, "--out", "out.parquet") for name in ("broken.jsonl", "list.jsonl", "short.jsonl.gz", "table.ods", "nowhere.parquet", ".")),
    ("sketch", "malformed.jsonl", "--out", "out.parquet", "--strict"),
    ("sketch", "good.parquet", "--out", "out.parquet", "--text-column", "nothing"),
    ("sketch", "good.parquet", "--out", "out.parquet", "--id-column", "nothing"),
    ("sketch", "good.parquet", "--out", "out.parquet", "--threads", "0"),
    ("sketch", "good.parquet", "--out", "out.txt"),
    ("sketch", "good.parquet", "--out", "nowhere/out.parquet"),
    ("sketch", "good.parquet", "--out", "."),
    ("sketch", "good.parquet", "--out", "good.parquet"),
    ("sketch", "good.parquet"),
    ("plan", "--threshold", "1.5", "--bytes", "128"),
    ("plan", "--threshold", "0.8"),
    ("plan", "--threshold", "0.8", "--bytes", "128", "--error", "0.02"),
    ("plan", "--threshold", "0.8", "--bytes", "0"),
    ("plan", "--threshold", "0.8", "--error", "1e-9"),
    ("plan", "--threshold", "0.8", "--precision", "0.95"),
    ("plan", "--threshold", "0.8", "--bytes", "128", "--plot", "plot.txt"),
    *(("scan", LETTER, REVISED, "--threshold", value) for value in ("0", "1.1", "nan", "many")),
    *(("scan", LETTER, REVISED, "--by", "resemblance", "--threshold", value) for value in ("0", "2")),
    ("scan",),
    ("scan", "nowhere"),
    ("scan", "table.ods", "empty.parquet"),
    *(("scan", name) for name in ("cut.parquet", "textless.parquet", "numbers.parquet", "broken.jsonl", "short.jsonl.gz")),
    ("scan", LETTER, "--by", "length"),
    ("scan", LETTER, "--max-share", "0"),
    ("scan", LETTER, "--ignore", "nowhere.txt"),
    ("scan", LETTER, "--ignore", "nothing.txt"),
    ("scan", LETTER, "--old", "nowhere"),
    ("scan", LETTER, "--ignore", LETTER),
    ("scan", LETTER, "--report", "report.pdf"),
    ("scan", LETTER, "--report", "nowhere/report.html"),
    ("scan", LETTER, "page.html", "--report", "page.html"),
    ("scan", LETTER, "--pairs", "pairs.txt"),
    ("scan", LETTER, "--pairs", "nowhere/pairs.csv"),
    ("scan", "good.parquet", "--pairs", "good.parquet"),
    ("scan", "good.parquet", "--text-column", "nothing"),
    ("scan", "good.parquet", "--id-column", "nothing"),
    ("scan", LETTER, "--limit", "-1"),
    ("scan", LETTER, "--threads", "0"),
    ("scan", LETTER, "--shingle", "lines:3"),
    *(("dedup", "good.parquet", "-o", "out.parquet", "--threshold", value) for value in ("0", "1.1", "nan")),
    *(("dedup", "good.parquet", "-o", "out.parquet", "--recall", value) for value in ("0", "1.5")),
    *(("dedup", "good.parquet", "-o", "out.parquet", "--memory", value) for value in ("x", "-1GB", "0")),
    ("dedup", "good.parquet", "-o", "out.parquet", "--keep", "best"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--keep", "newest"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--keep", "highest", "--by", "nothing"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--against", "nowhere.parquet"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--removed", "gone.txt"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--text-column", "nothing"),
    ("dedup", "good.parquet", "-o", "out.parquet", "--threads", "0"),
    ("dedup", "good.parquet", "-o", "out.jsonl"),
    ("dedup", "good.parquet", "-o", "good.parquet"),
    ("dedup", "good.parquet", "-o", "nowhere/out.parquet"),
    *(("dedup", name, "-o", "out.parquet") for name in ("cut.parquet", "empty.parquet", "textless.parquet", "numbers.parquet", "nowhere.parquet", "*.nothing")),
    ("dedup", "broken.jsonl", "-o", "out.jsonl"),
    ("dedup", "good.parquet"),
    ("dedup",),
    ("nothing",),
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_mistake_is_one_line_and_leaves_no_file(run, tmp_path, arguments):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, lines = run(*arguments)
    assert (code, out, len(lines)) == (2, "", 1), lines
    assert lines[0].startswith("twinset: ")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_missing_column_names_those_there_are(run):
    assert "it has number;" in run("sketch", "textless.parquet", "--out", "out.parquet")[2][0]


def test_a_bug_shows_its_traceback(monkeypatch):
    def broken(**options):
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_a_closed_pipe_is_success():
    done = subprocess.run(f"{sys.executable} -u -c 'from twinset.cli import main; main()' compare {LETTER} {REVISED} | true; exit ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert (done.returncode, messages(done.stderr)) == (0, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("option", ["-u", "-I"], ids=["unbuffered", "buffered"])
def test_a_full_disk_is_one_line(option):
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND[0], option, *COMMAND[1:], "compare", LETTER, REVISED], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, len(messages(done.stderr))) == (2, 1)
    assert "allowed: a disk with room" in done.stderr


def test_a_first_run_says_that_it_compiles_and_a_second_does_not(tmp_path):
    """On an idle machine the second takes less than a second of the 1.5 allowed; here its processor time is looked at, since a busy machine says nothing of the wall clock."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first = subprocess.run([*COMMAND, "compare", LETTER, REVISED], env=environment, capture_output=True, text=True, check=True)
    assert first.stderr == "twinset: compiling for this machine, once; it takes some seconds\n"
    before = os.times()
    second = subprocess.run([*COMMAND, "compare", LETTER, REVISED], env=environment, capture_output=True, text=True, check=True)
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 3
    assert (second.stderr, second.stdout) == ("", first.stdout)
