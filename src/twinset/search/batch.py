"""Batches of fingerprints against a store on disk: the store is read in chunks of the batch's size, and the batch then sorted and added to it (Sood and Loguinov, section 5.4)."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twinset.errors import BadInput, BadOption, IncompatibleSketches
from twinset.estimate.flips import Flips
from twinset.kernels import hamming
from twinset.kernels.hamming import OPEN, Runs
from twinset.parallel import spread
from twinset.search.blocks import Blocks
from twinset.search.candidates import Candidates, Progress, Rows, counted
from twinset.search.probes import Probes, as_words, cost_table, subset_count
from twinset.search.runs import NONE_GONE, Buffer, Pair, Words, chunks, sort_runs, stored_rows, with_slack
from twinset.search.volatile import check_projections, checked_header
from twinset.sketch.fingerprints import Fingerprints

SORTED = 32  # a file is in order of the first so many bits: as many as a header can have, and one
NAMES = "fingerprint.json"

Work = Callable[[int, int], None]


@dataclass(frozen=True)
class Chunk:
    """Part of a file: fingerprints in order, words uint64 (n, words), and the numbers they were given when added."""

    words: Words
    numbers: Rows


class Store:
    """Fingerprints in a folder, one sorted file for each batch, numbered from 0 as they come. A batch is added whole or not at all."""

    def __init__(self, folder: str | Path, fingerprint: str) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise BadInput(f"{folder} is a file; allowed: a folder, or a name that is not taken")
        self.folder.mkdir(parents=True, exist_ok=True)
        names = self.folder / NAMES
        if not names.exists():
            _replace(names, lambda file: file.write(json.dumps({"fingerprint": fingerprint}).encode()))
        self.fingerprint = _fingerprint(names)
        if self.fingerprint != fingerprint:
            raise IncompatibleSketches(f"{folder} holds fingerprints {self.fingerprint}; allowed: equal ones, not {fingerprint}")

    def __len__(self) -> int:
        return sum(int(path.stem.split("-")[1]) for path in self._files())

    def append(self, batch: Fingerprints) -> None:
        """Sort a batch and add it. Documents without features get a number, and are not stored."""
        self.check(batch)
        first, rows = len(self), stored_rows(batch)
        runs = sort_runs(batch.words[rows], rows, SORTED, tabled=False)
        columns = np.concatenate([runs.heads[None, : len(rows)], runs.tails.T, runs.rows.astype(np.uint64)[None] + np.uint64(first)])
        _replace(self.folder / f"{len(self._files()):06}-{len(batch)}.npy", lambda file: np.save(file, columns))

    def chunks(self, size: int) -> Iterator[Chunk]:
        """All that is stored, at most `size` fingerprints at a time, read when asked for."""
        for path in self._files():
            columns = np.load(path, mmap_mode="r")
            for first in range(0, columns.shape[1], size):
                part = np.array(columns[:, first : first + size])
                yield Chunk(np.ascontiguousarray(part[:-1].T), part[-1].astype(np.int64))

    def check(self, batch: Fingerprints) -> None:
        if batch.fingerprint != self.fingerprint:
            raise IncompatibleSketches(f"the batch has fingerprints {batch.fingerprint}; allowed: those of the store, {self.fingerprint}")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*-[0-9]*.npy"))


def volatile_batch(
    store: Store,
    batch: Fingerprints,
    distance: int = 3,
    *,
    flips: Flips,
    probes: int,
    header_bits: int | None = None,
    first: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The pairs (row of the batch, number in the store) that `volatile` finds.

    With `first`, a row that has found a match is not looked up in later chunks, and when all have one nothing more is read.
    """
    store.check(batch)
    rows = np.flatnonzero(~batch.empty)
    bits = checked_header(batch.bits, distance, header_bits, len(rows))
    if batch.projections is None or probes < 0:
        raise BadInput("the batch has no projections; allowed: SimHash.sketch(..., keep=True)") if probes >= 0 else BadOption(f"probes is {probes}; allowed: 0 or more")
    check_projections(batch, bits)
    chances = Probes(bits, distance, cost_table(flips))
    lists = _lists(chances, batch, rows, min(probes, subset_count(bits, distance)), threads)
    found, pieces = np.zeros(len(batch), np.uint8), list[Pair]()
    done, asked = counted(progress, len(store)), np.arange(len(rows))
    for chunk in store.chunks(max(len(rows), 1)):
        if not len(asked):
            break
        for left, right in _look_up(_tabulated(chunk, bits), distance, batch.words, rows[asked], lists, asked, found, first, threads):
            pieces.append((left, chunk.numbers[right]))
        asked = asked[found[rows[asked]] == 0] if first else asked
        done(len(chunk.numbers))
    return Candidates.gather(pieces, ordered=True)


def blocks_batch(
    store: Store, batch: Fingerprints, distance: int = 3, *, blocks: int = 4, header: int = 1, table: bool = True, threads: int | None = None, progress: Progress | None = None
) -> Candidates:
    """The pairs (row of the batch, number in the store) that `blocks` finds: copies of the batch are sorted, and what is stored is looked up in them. All pairs come."""
    store.check(batch)
    search = Blocks(batch, distance, blocks=blocks, header=header, table=table)
    done, pieces = counted(progress, len(store)), []
    for chunk in store.chunks(max(len(batch), 1)):
        found = search.query(Fingerprints(chunk.words, batch.config, frequencies=batch.frequencies), threads=threads)
        pieces.append((found.right, chunk.numbers[found.left]))
        done(len(chunk.numbers))
    return Candidates.gather(pieces, ordered=True)


def _lists(chances: Probes, batch: Fingerprints, rows: Rows, count: int, threads: int | None) -> NDArray[np.uint32]:
    """The header bits to flip, for each of the rows: made once, and used for every chunk."""
    assert batch.projections is not None
    out, weights = np.empty((len(rows), count + 1), np.uint32), as_words(batch.projections)

    def prepare() -> Work:
        lister = chances.lister(weights, count)

        def work(first: int, last: int) -> None:
            out[first:last] = lister(rows[first:last])

        return work

    spread(chunks(len(rows)), prepare, threads)
    return out


def _tabulated(chunk: Chunk, bits: int) -> Runs:
    """A chunk is in order as it is stored: only the table is made."""
    table = np.empty((1 << bits) + 1, np.uint32)
    heads = with_slack(chunk.words[:, 0])
    hamming.tabulate(heads, len(chunk.numbers), bits, table)
    return Runs(heads, np.ascontiguousarray(chunk.words[:, 1:]), np.arange(len(chunk.numbers), dtype=np.uint32), table, bits)


def _look_up(runs: Runs, distance: int, words: Words, rows: Rows, lists: NDArray[np.uint32], asked: Rows, found: NDArray[np.uint8], first: bool, threads: int | None) -> list[Pair]:
    """Pairs (row, place in the chunk)."""
    pieces = list[Pair]()
    rules = (first, OPEN, np.empty((0, words.shape[1]), np.uint64), NONE_GONE)

    def prepare() -> Work:
        buffer, differing = Buffer(), np.empty(words.shape[1], np.uint64)

        def work(begin: int, end: int) -> None:
            numbers, flips = rows[begin:end], lists[asked[begin:end]]
            owner, each, queries = np.repeat(np.arange(end - begin, dtype=np.uint32), flips.shape[1]), flips.reshape(-1), words[numbers]
            rest = runs, np.uint64(distance), rules, found, differing
            pieces.extend(buffer.pieces(lambda i, left, right: hamming.look_up(queries, numbers, owner, each, i, len(each), *rest, left, right), len(each), runs.rows))

        return work

    spread(chunks(len(rows)), prepare, threads)
    return pieces


def _fingerprint(names: Path) -> str:
    """What a store says its fingerprints are."""
    try:
        return str(json.loads(names.read_bytes())["fingerprint"])
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{names} is not understood; allowed: the folder of a store, or an empty one") from None


def _replace(path: Path, write: Callable[..., object]) -> None:
    """Write a file that appears whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
