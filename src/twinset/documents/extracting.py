"""Files to texts by confined workers: whatever a file does to its reader, it costs one line about that file, and no neighbour."""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Lock, Thread, Timer
from typing import Any

from twinset.documents.confinement import Limits, Unreadable, size_text
from twinset.documents.folders import File
from twinset.documents.formats.legacy import convert, signal_name
from twinset.documents.reading import READY
from twinset.errors import BadOption
from twinset.parallel import thread_count

AHEAD = 4  # files for each worker that may be read before the caller asks for them
WORKER = "twinset.documents.reading"
USUAL = Limits()
ABORTS = ("SIGABRT", "SIGTRAP", "SIGILL")
START = 120.0  # seconds within which a worker must be ready, on the busiest machine

__all__ = ["Extracted", "Limits", "extract"]


@dataclass(frozen=True)
class Extracted:
    """The text of a file, or the problem in one line (the text is '' then). `note` is a line on what is missing or remarkable."""

    file: File
    text: str
    problem: str | None
    note: str | None
    seconds: float


class Watch:
    """A thread that kills a process which is at one file for too long. One for many files: a thread for each takes as long as reading a small one.

    It sleeps until the file at hand is due. If there is none, what begins meanwhile is not due before it wakes.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.over = seconds, Event()
        self._lock, self._at_work = Lock(), False
        self._due = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, process: "subprocess.Popen[bytes]") -> None:
        if not self._at_work:
            self._at_work = True
            Thread(target=self._run, name="twinset-watch", daemon=True).start()
        with self._lock:
            self._process, self._due = process, time.monotonic() + self.seconds

    def end(self) -> None:
        with self._lock:
            self._process = None

    def _run(self) -> None:
        wait = 0.0
        while not self.over.wait(wait):
            with self._lock:
                wait = self.seconds if self._process is None else self._due - time.monotonic()
                if wait <= 0 and self._process is not None:
                    self._process.kill()
                    self._process, wait = None, self.seconds


class Worker:
    """A confined process that reads one file after another. It starts with the first, and anew after it was lost."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.served = 0
        self.closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watch = Watch(limits.seconds)

    def ask(self, file: File) -> tuple[dict[str, Any], str]:
        """The worker's answer about a file. A worker that has read others may have less memory left: what fails in it is tried in a fresh one."""
        answer, text = self._ask(file)
        if answer["again"] and self.served > 1:
            self.stop()
            answer, text = self._ask(file)
        return answer, text

    def _ask(self, file: File) -> tuple[dict[str, Any], str]:
        process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        self.served += 1
        started = time.monotonic()
        self._watch.begin(process)
        try:
            process.stdin.write(json.dumps([str(file.path.absolute()), file.path.suffix.lower()]).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            return answer, process.stdout.read(answer["bytes"]).decode("utf-8")
        except (OSError, ValueError):  # a broken pipe, or an answer cut off
            return self._lost(process, time.monotonic() - started >= self.limits.seconds), ""
        finally:
            self._watch.end()
            if time.monotonic() - started >= self.limits.seconds:
                self.stop()

    def _lost(self, process: "subprocess.Popen[bytes]", late: bool) -> dict[str, Any]:
        code = process.wait()
        self._process = None
        late = late or signal_name(code) == "SIGXCPU"
        problem = f"took more than {self.limits.seconds:g} s to read" if late else f"crashed its reader ({signal_name(code)}){self._guess(code)}"
        return {"problem": problem, "note": None, "convert": False, "again": not (late or self.closed)}

    def _guess(self, code: int) -> str:
        """Libraries that get no more memory abort."""
        return f": perhaps it needs more than {size_text(self.limits.memory)} of memory" if signal_name(code) in ABORTS else ""

    def _start(self) -> "subprocess.Popen[bytes]":
        limits = [str(value) for value in (self.limits.seconds, self.limits.memory, self.limits.text, self.limits.input)]
        command = [sys.executable, "-P", "-W", "ignore", "-m", WORKER, *limits]  # -P: nothing is imported from the folder we are in
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        timer = Timer(START, process.kill)
        timer.start()
        try:
            assert process.stdout
            assert process.stderr
            if process.stdout.readline() != READY:
                process.kill()
                last = process.stderr.read().decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
                raise BadOption(f"memory is {size_text(self.limits.memory)}, and with it a reader does not start ({last[0]}); allowed: 256 MB or more")
        finally:
            timer.cancel()
        self._process, self.served = process, 0
        return process

    def close(self) -> None:
        """End the process and start no other, also when another thread waits for an answer."""
        self.closed = True
        self.stop()
        self._watch.over.set()

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError, ValueError):
                self._process.communicate()
            self._process = None


def extract(
    files: Sequence[File],
    *,
    workers: int | None = None,
    limits: Limits = USUAL,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Extracted]:
    """The text of each file, in the order of the files. `progress(done, total)` is called after each."""
    if workers is not None and workers < 1:
        raise BadOption(f"workers is {workers}; allowed: 1 or more")
    if limits.seconds <= 0 or min(limits.memory, limits.text, limits.input) < 1:
        raise BadOption(f"limits are {limits}; allowed: above 0")
    return _extract(files, min(thread_count(workers), max(len(files), 1)), limits, progress)


def _extract(files: Sequence[File], count: int, limits: Limits, progress: Callable[[int, int], None] | None) -> Iterator[Extracted]:
    idle: SimpleQueue[Worker] = SimpleQueue()
    team = [Worker(limits) for _ in range(count)]
    for worker in team:
        idle.put(worker)
    todo, running = iter(files), deque[Future[Extracted]]()
    pool = ThreadPoolExecutor(count, "twinset-extract")
    try:
        for done in range(len(files)):
            while len(running) < AHEAD * count and (file := next(todo, None)) is not None:
                running.append(pool.submit(_read, file, idle, limits))
            yield running.popleft().result()
            if progress:
                progress(done + 1, len(files))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in team:
            worker.close()


def _read(file: File, idle: "SimpleQueue[Worker]", limits: Limits) -> Extracted:
    started = time.monotonic()
    if file.size > limits.input:
        return Extracted(file, "", f"is {size_text(file.size)} large; at most {size_text(limits.input)} are read", None, 0.0)
    worker = idle.get()
    try:
        answer, text = worker.ask(file)
    finally:
        idle.put(worker)
    problem, note = answer["problem"], answer["note"]
    if answer["convert"]:
        try:
            text = convert(file.path.absolute(), limits).text
        except Unreadable as error:
            problem = str(error)
    return Extracted(file, text, problem, note, time.monotonic() - started)
