"""Row ranges shared out to threads. Kernels release the interpreter lock, so threads are all it takes."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, local
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from twinset.errors import BadOption

Range = tuple[int, int]
Item = TypeVar("Item")

_at_work = local()  # of each thread of `spread`: the exceptions that have stopped it


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise BadOption(f"threads is {threads}; allowed: 1 or more")
    return threads


def ranges(offsets: NDArray[np.int64], weight: int, most: int) -> list[Range]:
    """Cut rows into consecutive ranges of about `weight` units of `offsets` each, of at least one row and at most `most`."""
    result, first, rows = [], 0, len(offsets) - 1
    while first < rows:
        last = int(np.searchsorted(offsets, offsets[first] + weight, side="right")) - 1
        last = min(max(last, first + 1), first + most, rows)
        result.append((first, last))
        first = last
    return result


class Stopped(BaseException):
    """Another thread of the same `spread` has failed, or the caller was interrupted: what this one has done is of no use."""


def go_on() -> None:
    """Raise Stopped in a thread of a `spread` that has been stopped. Work that takes long calls this now and then."""
    if getattr(_at_work, "failed", None):
        raise Stopped


def spread(todo: Iterable[Range], prepare: Callable[[], Callable[[int, int], None]], threads: int | None) -> None:
    """Call work(first, last) for every range; each thread makes its own `work`, with its own scratch space, by one call of `prepare`.

    The result must not depend on which thread does which range. The first exception stops the others after the range they are at, or where
    they next call `go_on`.
    """
    pending, lock = iter(todo), Lock()
    failed: list[BaseException] = []

    def take() -> Range | None:
        with lock:
            return None if failed else next(pending, None)

    def loop() -> None:
        _at_work.failed = failed
        try:
            work = prepare()
            while (span := take()) is not None:
                work(*span)
        except Stopped:
            return
        except BaseException as error:
            failed.append(error)
            raise

    def alone() -> None:
        """Within this thread, which may itself belong to a spread that can be stopped."""
        work = prepare()
        for span in pending:
            work(*span)

    count = thread_count(threads)
    if count == 1:
        return alone()
    with ThreadPoolExecutor(count) as pool:
        running = [pool.submit(loop) for _ in range(count)]
        try:
            for future in running:
                future.result()
        except BaseException as error:
            failed.append(error)
            raise


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, each made by another thread while its predecessor is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
