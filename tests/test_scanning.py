"""`scan` finds what a plain comparison of all pairs finds, in any mixture of files and tables; what cannot be read costs one line, and no name leaks."""

import json
import random
import sys
from pathlib import Path

import made_documents as made
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import reference_scanning as reference

from twinset import cli
from twinset.config import Config
from twinset.documents.folders import survey
from twinset.errors import BadInput, BadOption, MissingColumn
from twinset.pipeline.scanning import scan
from twinset.report import scans

pytestmark = pytest.mark.compiled

CONFIG = Config(shingle="words:3")
EXAMPLES = Path(__file__).parents[1] / "examples"
WORDS = [f"{first}{last}" for first in ("bar", "lo", "men", "sti", "ra", "ku") for last in ("ton", "vel", "ning", "dam", "rig", "pos", "lek")]
SHAPE = ["left", "right", "resemblance", "low", "high", "exact", "containment_left", "containment_right"]


def prose(words, seed):
    random_ = random.Random(seed)
    return " ".join(random_.choice(WORDS) + str(random_.randrange(40)) for _ in range(words))


def texts(seed=1, count=24):
    """Documents of very different lengths, made of pieces that some of them share."""
    random_ = random.Random(seed)
    pieces = [prose(random_.choice([5, 12, 40]), 100 * seed + i) for i in range(12)]
    return {f"{chr(97 + d)}.txt": " ".join(random_.sample(pieces, random_.randint(1, 6))) for d in range(count)}


def write(folder, named):
    folder.mkdir(exist_ok=True)
    for name, text in named.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def listed(found):
    rows = found.table().to_pylist()
    assert all(row["exact"] and row["low"] == row["resemblance"] == row["high"] for row in rows)
    return [tuple(row[name] for name in ("left", "right", "resemblance", "containment_left", "containment_right")) for row in rows]


def names(found):
    return [pair[:2] for pair in listed(found)]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """A function from arguments to (exit code, stdout, lines of stderr)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["twinset", "scan", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capsys.readouterr()
        return left.value.code, out, [line for line in err.splitlines() if "compiling" not in line]

    return command


@pytest.mark.parametrize("by", ["containment", "resemblance"])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 2 / 3, 1.0])
def test_ranked_pairs_as_plain_python_finds_them(tmp_path, by, threshold):
    named = texts()
    expected = reference.scan(list(named), reference.shingle_sets(list(named.values()), CONFIG), threshold, by)
    found = scan([write(tmp_path / "in", named)], by=by, threshold=threshold, config=CONFIG)
    assert listed(found) == expected
    assert len(expected) > 3 or (by, threshold) == ("resemblance", 1.0)
    assert found.certificate.detection == 1.0
    assert found.certificate.missed_high == 0


def test_the_same_texts_in_any_mixture_of_files_and_tables(tmp_path):
    named = texts()
    every = list(named.values())
    folder = write(tmp_path / "in", dict(list(named.items())[:5]))
    (folder / "word.docx").write_bytes(made.docx(made.paragraph(every[5])))
    pq.write_table(pa.table({"document": every[6:12], "id": [f"p{i}" for i in range(6)]}), tmp_path / "some.parquet")
    pc.write_csv(pa.table({"text": every[12:18]}), tmp_path / "more.csv")
    (tmp_path / "rest.jsonl").write_text("".join(json.dumps({"body": text, "id": i}) + "\n" for i, text in enumerate(every[18:])))
    found = scan([folder, *(tmp_path / name for name in ("some.parquet", "more.csv", "rest.jsonl"))], config=CONFIG)
    called = {document.text.strip(): document.name for document in found.documents}
    assert {"word.docx", "some.parquet#p0", "more.csv#5", "rest.jsonl#3"} <= set(called.values())
    order = [document.text.strip() for document in found.documents]
    assert sorted(order) == sorted(every)
    assert listed(found) == reference.scan([called[text] for text in order], reference.shingle_sets(order, CONFIG), 0.3)


def test_columns_of_tables_are_chosen_by_name(tmp_path):
    pq.write_table(pa.table({"abstract": [prose(50, 1)] * 2, "number": ["x", "y"]}), tmp_path / "a.parquet")
    assert names(scan([tmp_path / "a.parquet"], text_column="abstract", id_column="number")) == [("a.parquet#x", "a.parquet#y")]
    with pytest.raises(MissingColumn, match="abstract"):
        scan([tmp_path / "a.parquet"])


def test_tables_of_one_name_are_told_apart(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name, {"t.jsonl": json.dumps({"text": prose(30, 1)})})
    assert names(scan([tmp_path / "one/t.jsonl", tmp_path / "two/t.jsonl", tmp_path / "two/t.jsonl"])) == [("one/t.jsonl#0", "two/t.jsonl#0")]


def test_a_section_pasted_into_a_long_document_is_found_by_containment(tmp_path):
    section, long = prose(60, 1), prose(2000, 2).split()
    folder = write(tmp_path / "in", {"long.txt": " ".join([*long[:900], section, *long[900:]]), "short.txt": section, "other.txt": prose(500, 3)})
    [pair] = listed(scan([folder]))
    assert pair[:2] == ("long.txt", "short.txt")
    assert pair[4] == 1.0
    assert pair[2] < 0.03
    assert names(scan([folder], by="resemblance")) == []


def test_what_documents_share_with_a_template_does_not_count(tmp_path):
    call = prose(200, 1)
    named = {f"{i}.txt": f"{call} {prose(50, 10 + i % 3)}" for i in range(4)}
    folder, extra = write(tmp_path / "in", named), write(tmp_path / "more", {"call.txt": call, "more.txt": call})
    assert len(scan([folder])) == 6
    found = scan([folder], ignore=[extra / "call.txt"])
    assert names(found) == [("0.txt", "3.txt")]
    sets, [template] = reference.shingle_sets(list(named.values()), Config()), reference.shingle_sets([call], Config())
    assert set(found.ignored.tolist()) == template
    assert found.sizes.tolist() == [len(one - template) for one in sets]
    assert [text[start:end] for start, end in found.template(0) for text in [named["0.txt"]]] == [call]
    assert names(scan([folder, extra], ignore=[extra / "call.txt"])) == [("0.txt", "3.txt")]
    whole = scan([folder, extra], ignore=[extra / "call.txt"])
    assert [document.name for document in whole.documents] == [*named, "more.txt"]  # the template itself is no document
    assert [document.name for document in whole.empty] == ["more.txt"]


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 1.0])
def test_shingles_in_too_many_documents_are_left_out(tmp_path, share):
    named = texts(count=20) | {"empty.txt": "...", "other.txt": ""}
    sets = reference.shingle_sets(list(named.values()), CONFIG)
    often = reference.frequent(sets, share)
    found = scan([write(tmp_path / "in", named)], max_share=share, threshold=0.2, config=CONFIG)
    assert set(found.ignored.tolist()) == often
    kept = {name: one - often for name, one in zip(named, sets, strict=True)}
    order = [document.name for document in found.documents]
    assert listed(found) == reference.scan(order, [kept[name] for name in order], 0.2)


@pytest.mark.parametrize("by", ["containment", "resemblance"])
def test_new_documents_meet_old_ones_and_each_other(tmp_path, by):
    named = texts()
    old, new = write(tmp_path / "old", dict(list(named.items())[:14])), write(tmp_path / "new", dict(list(named.items())[14:]))
    found = scan([new], old=[old], by=by, config=CONFIG)
    sets = reference.shingle_sets(list(named.values()), CONFIG)
    assert listed(found) == reference.scan(list(named), sets, 0.3, by, border=14)
    assert [document.old for document in found.documents] == [True] * 14 + [False] * 10
    assert any(pair[0] in named and list(named).index(pair[0]) < 14 for pair in names(found))


def test_a_file_that_is_new_and_old_is_new_and_equal_names_are_told_apart(tmp_path):
    write(tmp_path, {})
    new, old = write(tmp_path / "2026", {"a.txt": prose(60, 1)}), write(tmp_path / "2025", {"a.txt": prose(60, 1), "b.txt": prose(60, 1)})
    assert names(scan([new], old=[tmp_path])) == [("2025/a.txt", "a.txt"), ("2025/b.txt", "a.txt")]
    assert sorted(map(set, names(scan([new], old=[old])))) == sorted([{"2025/a.txt", "2026/a.txt"}, {"b.txt", "2026/a.txt"}])
    assert [document.old for document in scan([new], old=[tmp_path]).documents] == [True, True, False]


def broken(folder):
    return write(
        folder,
        {
            "broken.docx": made.docx(made.paragraph("never seen"))[:200],
            "empty.txt": "",
            "locked.docx": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504),
            "scanned.pdf": made.pdf([], image=True),
            "table.xlsx": "not looked at",
        },
    )


def test_what_cannot_be_read_is_listed_and_its_neighbours_are_compared(tmp_path):
    folder = write(broken(tmp_path / "in"), {"one.txt": prose(50, 1), "two.txt": prose(50, 1), "dots.txt": "... !"})
    found = scan([folder])
    assert names(found) == [("one.txt", "two.txt")]
    assert {document.name: document.problem.split(":")[0].split(" (")[0] for document in found.problems} == {
        "broken.docx": "is truncated or damaged",
        "empty.txt": "is empty",
        "locked.docx": found.documents[[document.name for document in found.documents].index("locked.docx")].problem.split(":")[0].split(" (")[0],
        "scanned.pdf": "has no text",
    }
    assert [document.name for document in found.empty] == ["dots.txt"]
    assert found.skipped == {".xlsx": 1}


def test_all_files_broken_is_no_pair(tmp_path, run):
    code, out, lines = run(broken(tmp_path / "in"), "--report", "report.html")
    said = json.loads(out)
    assert (code, lines, said["pairs"], len(said["problems"]), said["documents"]) == (0, [], [], 4, 4)
    assert "4 files could not be read" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("given", [{}, {"data.xlsx": "x", ".hidden.txt": "x"}], ids=["nothing", "other kinds"])
def test_no_document_at_all(tmp_path, given):
    with pytest.raises(BadInput, match="holds no document"):
        scan([write(tmp_path / "in", given)])
    with pytest.raises(BadInput, match="holds no document"):
        scan([])


@pytest.mark.parametrize("name", ["broken.docx", "empty.txt"])
def test_a_template_that_cannot_be_read_is_refused_before_the_documents_are(tmp_path, name):
    folder, stages = write(tmp_path / "in", {"a.txt": prose(9, 1)}), set()
    with pytest.raises(BadInput, match=f"template {name}"):
        scan([folder], ignore=[broken(tmp_path / "bad") / name], progress=lambda stage, done, total: stages.add(stage))
    assert stages == {"templates"}


BAD = [
    {"threshold": 0},
    {"threshold": 1.1},
    {"threshold": float("nan")},
    {"threshold": 0, "by": "resemblance"},
    {"by": "size"},
    {"max_share": 0},
    {"max_share": 1.5},
    {"threads": 0},
]


@pytest.mark.parametrize("options", BAD, ids=str)
def test_options_out_of_range_are_refused_before_any_reading(tmp_path, options):
    def read(*told):
        raise AssertionError

    with pytest.raises(BadOption, match=next(iter(options)) if "threads" not in options else "workers|threads"):
        scan([write(tmp_path / "in", {"a.txt": "a b c", "b.txt": "a b c"})], progress=read, **options)


def test_chinese(tmp_path):
    one, two = (EXAMPLES / "proposal-zh.txt").read_text(), (EXAMPLES / "proposals/dialect-recordings-zh.txt").read_text("gb18030")
    folder = write(tmp_path / "in", {"一.txt": one.encode("gb18030"), "二.txt": f"{two}{one[100:300]}{two}", "三.txt": prose(100, 1)})
    found = scan([folder], threshold=150 / len(one))
    assert [set(pair) for pair in names(found)] == [{"一.txt", "二.txt"}]
    [passage] = found.passages(0)
    row = [document.name for document in found.documents].index("一.txt")
    span = passage.left if found.hits.pairs.left[0] == row else passage.right
    assert found.documents[row].text[slice(*span)] == one[100:300]


def test_threads_change_nothing(tmp_path):
    folder = write(tmp_path / "in", texts())
    assert scan([folder], threads=1).table().equals(scan([folder], threads=3).table())


def secret(folder):
    """Files whose names must not be told, problems and notes among them."""
    named = {
        "Smith-proposal.txt": prose(80, 1),
        "Jones-proposal.txt": prose(80, 1),
        "Garcia-form.docx": made.pdf([(700, prose(9, 4))]),
        "Okafor.txt": "",
        "Tanaka.docx": b"PK\x03\x04",
    }
    write(folder, named)
    return "Smith", "Jones", "Garcia", "Okafor", "Tanaka"


@pytest.mark.parametrize("old", [False, True])
def test_codes_hide_every_name(tmp_path, run, old):
    people = secret(tmp_path / "in")
    write(tmp_path / "old", {"Weber.txt": prose(80, 1)})
    code, out, lines = run("in", *(("--old", "old") if old else ()), "--anonymise", "--report", "r.html", "--pairs", "p.jsonl", "--json")
    assert (code, lines) == (0, [])
    for told in (out, (tmp_path / "r.html").read_text(), (tmp_path / "p.jsonl").read_text()):
        assert [name for name in (*people, "Weber") if name in told] == []
    assert len(json.loads(out)["pairs"]) == (3 if old else 1)
    assert len(json.loads(out)["notes"]) == 1
    shown = scans.anonymised(scan([tmp_path / "in"]))
    assert not any(name in str(shown.documents[d]).replace(shown.documents[d].text, "") for d in range(len(shown.documents)) for name in people)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_pairs_are_written_in_the_pairs_shape(tmp_path, run, ending):
    folder = write(tmp_path / "in", texts())
    code, out, lines = run(folder, "--pairs", f"p{ending}", "--shingle", "words:3")
    path = tmp_path / f"p{ending}"
    if ending == ".jsonl":
        table = pa.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()])
    else:
        table = pq.read_table(path) if ending == ".parquet" else pc.read_csv(path)
    expected = scan([folder], config=CONFIG).table()
    assert (code, lines, table.column_names) == (0, [], SHAPE)
    assert table.to_pylist() == expected.to_pylist() == json.loads(out)["pairs"]


def test_no_pair_is_a_list_without_rows(tmp_path, run):
    folder = write(tmp_path / "in", {"a.txt": prose(50, 1), "b.txt": prose(50, 2)})
    for ending in (".parquet", ".csv", ".jsonl"):
        assert run(folder, "--pairs", f"p{ending}", "--fail-on-duplicates")[0] == 0
    assert pq.read_table(tmp_path / "p.parquet").column_names == pc.read_csv(tmp_path / "p.csv").column_names == SHAPE
    assert (tmp_path / "p.jsonl").read_text() == ""


def test_fields_for_machines(tmp_path, run):
    folder = write(tmp_path / "in", {"a.txt": prose(50, 1), "b.txt": prose(50, 1), "c.txt": "", "d.bin": ""})
    code, out, _ = run(folder, "--ignore", write(tmp_path / "t", {"call.txt": prose(20, 5)}) / "call.txt", "--threshold", "0.5", "--json")
    said = json.loads(out)
    assert code == 0
    assert (said["documents"], said["by"], said["threshold"], said["ignored_shingles"]) == (3, "containment", 0.5, 16)
    assert (said["problems"][0]["name"], said["notes"], said["empty"], said["skipped"]) == ("c.txt", [], [], {".bin": 1})
    assert (said["certificate"]["missed_high"], said["certificate"]["found"]) == (0, 1)
    assert list(said["pairs"][0]) == SHAPE


def test_found_pairs_can_be_a_failure(tmp_path, run):
    folder = write(tmp_path / "in", {"a.txt": prose(50, 1), "b.txt": prose(50, 1)})
    assert run(folder)[0] == 0
    assert run(folder, "--fail-on-duplicates", "--report", "r.html")[0] == 1
    assert (tmp_path / "r.html").exists()


def test_the_terminal_shows_as_many_as_asked(tmp_path, run, monkeypatch):
    monkeypatch.setattr(cli, "_wants_json", lambda asked: asked)
    folder = write(tmp_path / "in", {f"{i}.txt": prose(50, 1) for i in range(4)} | {f"e{i}.txt": "" for i in range(3)})
    shown = run(folder, "--limit", "2")[1]
    assert ("6 pairs of 4 documents with containment 0.3 or more; the first 2 are shown" in shown, shown.count("100 %"), shown.count("is empty")) == (True, 6, 2)
    assert "not read: 1 more" in shown
    shown = run(folder, "--limit", "0")[1]
    assert (shown.count("100 %"), shown.count("is empty"), "more" in shown.replace("or more", "")) == (18, 3, False)


@pytest.mark.parametrize("stage", ["reading", "comparing", "aligning"])
def test_an_interruption_leaves_nothing_half_written(tmp_path, run, monkeypatch, stage):
    folder = write(tmp_path / "in", texts())
    (tmp_path / "r.html").write_text("before")

    class Interrupted:
        def __enter__(self):
            return self

        def __exit__(self, *reason):
            return False

        def __call__(self, at, done, total):
            if at == stage:
                raise KeyboardInterrupt

    monkeypatch.setattr("twinset.report.progress.stages", Interrupted)
    code, out, lines = run(folder, "--report", "r.html")
    assert (code, out, lines) == (130, "", ["twinset: interrupted; nothing was left half-written"])
    assert (tmp_path / "r.html").read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"in", "r.html"}


def test_a_report_in_the_folder_that_it_is_about_is_no_document_of_the_next_run(tmp_path, run):
    folder = write(tmp_path / "in", {"a.txt": prose(50, 1), "b.txt": prose(50, 1)})
    first, second = (json.loads(run(folder, "--report", folder / "report.html")[1]) for _ in range(2))
    assert first == second
    assert len(survey([folder]).files) == 3
