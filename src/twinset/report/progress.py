"""Progress of a long run: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int, int], None]]:
    """A function (documents done, bytes read, bytes in all) that moves a bar on stderr with rate and time left."""
    if not sys.stderr.isatty():
        yield lambda documents, read, size: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[documents]:,} documents, {task.fields[rate]:,.0f}/s"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=None, documents=0, rate=0.0)

        def move(documents: int, read: int, size: int) -> None:
            rate = documents / max(progress.tasks[0].elapsed or 0, 1e-3)
            progress.update(task, completed=read, total=size, documents=documents, rate=rate)

        yield move


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A function (stage, units done, units in all) that moves a bar for each stage on stderr, with time left."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    columns = TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def move(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage)
            progress.update(tasks[stage], completed=done, total=total)

        yield move
