"""A pool of confined workers: whatever happens in a reader is one line about its file, and the neighbours are read."""

import os
import re
import signal
import time
from collections import Counter
from pathlib import Path

import made_documents as made
import pytest

from twinset.documents import extracting
from twinset.documents.extracting import Limits, Worker, extract
from twinset.documents.folders import documents
from twinset.errors import BadOption

EXAMPLES = Path(__file__).parents[1] / "examples"
SOON = Limits(seconds=3)
# What a reader does, and what is said of its file. None: nothing, it could be read all the same.
DEEDS = {
    "crash": r"crashed its reader \(SIGSEGV\)",
    "leave": r"crashed its reader \(code 0\)",
    "sleep": "took more than 3 s to read",
    "spin": "took more than 3 s to read",
    "grow": "needs more than 1 GB of memory",
    "recur": r"its reader failed \(RecursionError",
    "fail": r"its reader failed \(ZeroDivisionError: integer division or modulo by zero\)",
    "write": "made its reader try to write a file: refused",
    "connect": r"made its reader try to do what a reader may not \(socket",
    "resolve": r"made its reader try to do what a reader may not \(socket",
    "start": r"made its reader try to do what a reader may not \(subprocess.Popen\): refused",
    "fork": r"made its reader try to do what a reader may not \(os.fork\): refused",
    "remove": r"made its reader try to do what a reader may not \(os.remove\): refused",
}


@pytest.fixture
def misbehaving(monkeypatch, tmp_path):
    """Files whose names are deeds, read by workers that do them."""
    monkeypatch.setattr(extracting, "WORKER", "misbehaving_reader")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    monkeypatch.setenv("TARGET", str(tmp_path / "target"))
    return lambda *names: [made.file(tmp_path, f"{name}.txt", b"x") for name in names]


def outcomes(files, **options):
    return [(done.file.name, done.text, done.problem) for done in extract(files, **options)]


def test_the_examples_are_read_in_order():
    files = documents([EXAMPLES / "proposals"])
    found = list(extract(files))
    assert [done.file for done in found] == files
    assert all(done.problem is None and len(done.text) > 600 for done in found)
    assert all(done.seconds >= 0 for done in found)


def test_any_number_of_workers_gives_the_same():
    files = documents([EXAMPLES])
    assert outcomes(files, workers=1) == outcomes(files, workers=3) == outcomes(files)


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_reader_does_costs_one_line_and_no_neighbour(misbehaving, deed):
    (_, text, problem), *others = outcomes(misbehaving(deed, "before", "after"), workers=1, limits=SOON)
    assert text == ""
    assert "\n" not in problem
    assert re.search(DEEDS[deed], problem), problem
    assert others == [("before.txt", "before", None), ("after.txt", "after", None)]


def test_many_misdeeds_at_once(misbehaving):
    names = [name for deed in ("crash", "fail", "write", "leave") for name in (deed, f"good {deed}")]
    found = outcomes(misbehaving(*names), workers=2, limits=SOON)
    assert [text for _, text, problem in found if problem is None] == [name for name in names if name.startswith("good")]


def test_what_a_library_prints_goes_nowhere(misbehaving):
    assert [problem for _, _, problem in outcomes(misbehaving("print", "after"), workers=1)] == [None, None]


def test_the_kernel_refuses_to_write_what_python_does_not_see(misbehaving, tmp_path):
    (_, text, problem), *_ = outcomes(misbehaving("overrun"), workers=1)
    assert (text, problem) == ("overrun: -1", None)
    assert (tmp_path / "target").stat().st_size == 0


def test_a_worker_lost_between_files_is_replaced(tmp_path):
    worker = Worker(Limits())
    first, second = (made.file(tmp_path, name, name.encode()) for name in ("a.txt", "b.txt"))
    assert worker.ask(first)[1] == "a.txt"
    os.kill(worker._process.pid, signal.SIGKILL)
    assert worker.ask(second)[1] == "b.txt"
    worker.stop()


def test_workers_start_late_and_end_with_the_generator(tmp_path):
    files = [made.file(tmp_path, f"{i}.txt", b"text") for i in range(40)]
    reading = extract(files, workers=2)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = set(children.read_text().split()) if children.exists() else set()
    assert next(reading).text == "text"
    reading.close()
    deadline = time.monotonic() + 60
    while children.exists() and set(children.read_text().split()) - before:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_progress_counts_every_file(tmp_path):
    calls = []
    files = [made.file(tmp_path, f"{i}.txt", b"text") for i in range(5)]
    assert len(list(extract(files, progress=lambda *call: calls.append(call)))) == 5
    assert calls == [(i, 5) for i in range(1, 6)]


def test_no_files_start_no_workers():
    assert list(extract([])) == []


@pytest.mark.parametrize(("options", "message"), [({"workers": 0}, "workers is 0; allowed: 1 or more"), ({"limits": Limits(seconds=0)}, "limits are .*; allowed: above 0")])
def test_bad_options_are_refused_at_once(options, message):
    with pytest.raises(BadOption, match=message):
        extract([], **options)


def test_too_little_memory_to_start_is_the_users_to_change(tmp_path):
    with pytest.raises(BadOption, match=r"memory is 1 MB, and with it a reader does not start"):
        list(extract([made.file(tmp_path, "a.txt", b"x")], limits=Limits(memory=1 << 20)))


@pytest.mark.parametrize(
    "name", ["sand-filters-2025.docx", "bark-beetles.txt", "dialect-recordings-zh.txt", "night-trains.pdf", "paddy-methane-2025-zh.docx", "account-books.docx"]
)
def test_the_examples_hold_what_was_written(name):
    """Every word of the texts that tools/make_proposals.py set, once each, whatever the format."""
    source = EXAMPLES.parent / "tools/proposals" / f"{name.partition('.')[0]}.txt"
    wanted = [word for line in source.read_text(encoding="utf-8").splitlines() if not line.startswith("## ") for word in re.findall(r"\w+", line)]
    (found,) = extract(documents([EXAMPLES / "proposals" / name]))
    assert not Counter(wanted) - Counter(re.findall(r"\w+", found.text))


@pytest.mark.skipif(not Path("/proc/self/ns/net").exists(), reason="only Linux has network namespaces")
def test_a_worker_is_on_no_network(tmp_path):
    worker = Worker(Limits())
    worker.ask(made.file(tmp_path, "a.txt", b"x"))
    theirs = os.readlink(f"/proc/{worker._process.pid}/ns/net")
    devices = Path(f"/proc/{worker._process.pid}/net/dev").read_text().splitlines()[2:]
    worker.close()
    if theirs == os.readlink("/proc/self/ns/net"):
        pytest.skip("this kernel lets no process leave the network: only the audit hook stands")
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]
