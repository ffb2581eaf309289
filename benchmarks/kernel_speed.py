"""Each kernel against what the hardware can do at most, measured in the same run on one thread.

    pip install -e . && python benchmarks/kernel_speed.py

The limit is a pure loop of the instructions a kernel lives on (peaks.py), or a copy of the same bytes. Kernel and limit take turns, and the best time of each counts.
Every answer is checked against NumPy or Python before its time is believed. Bars: 60 % of the limit for minima of 256 lanes or more, and for comparing packed sketches.
"""

import csv
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import peaks

from twinset.documents.columns import column
from twinset.documents.shingles import SLACK
from twinset.documents.unicode import tables
from twinset.kernels import agreement, minhash, normalise, overlap, packing, shingles
from twinset.layout import parse
from twinset.sketch.minhash import MinHash
from twinset.sketch.seeds import splitmix64
from twinset.sketch.sketches import TILE, parts_of

RESULTS = Path(__file__).parent / "results" / "kernel_speed.csv"
ROUNDS = 30
TURN = 0.02  # seconds that one turn lasts at least
ELEMENTS = 1000  # shingles of a document
QUERIES = 64  # sketches that a call compares with a tile
ENGLISH = "The stage must be rebuilt on stone footings, above the line of the spring flood; a small boat with an electric motor must be bought. " * 500
CHINESE = "我校位于海拔一千六百米的山坡上，全校共有学生一百二十三人，其中住校生八十七人。每年十一月至次年四月为旱季。" * 500

Work = Callable[[], Any]


@dataclass(frozen=True)
class Race:
    """A kernel and its limit: `amount` units of work for each call of `run`, `most` for each call of `limit`."""

    kernel: str
    what: str
    unit: str
    run: Work
    amount: float
    limit_name: str
    limit: Work
    most: float
    right: Callable[[], bool]
    bar: float | None = None


def minima(lanes: int, bits: int) -> Race:
    """Minima of a document of 1000 shingles."""
    values, offsets = splitmix64(1, ELEMENTS), np.array([0, ELEMENTS])
    words = splitmix64(2, lanes)
    kind, kernel = (np.uint32, minhash.minima32) if bits == 32 else (np.uint64, minhash.minima64)
    shift = np.uint64(64 - bits)
    multipliers = (words >> shift).astype(kind) | kind(1)
    out, limit_rounds = np.empty((1, lanes), kind), 20_000

    def right() -> bool:
        return bool((out[0] == ((values >> shift).astype(kind)[:, None] * multipliers).min(axis=0)).all())

    return Race(
        f"minima{bits}", f"k = {lanes}", "lanes", lambda: kernel(values, offsets, 0, 1, multipliers, out), ELEMENTS * lanes,
        f"multiply-min, {bits} bits", lambda: peaks.multiply_min(limit_rounds, multipliers[0]), limit_rounds * peaks.CHAINS * 512 // bits, right,
        0.6 if lanes >= 256 else None,
    )  # fmt: skip


def agree(bits: str, samples: int) -> Race:
    """Sketches against a tile of 512 others, which lies in the second-level cache."""
    parts = parts_of(MinHash(bits=bits, samples=samples).config)
    words = splitmix64(3, (TILE + QUERIES) * parse(bits, samples).words).reshape(TILE + QUERIES, -1)
    tile, counts = np.empty((TILE // agreement.WIDE, words.shape[1], agreement.WIDE), np.uint64), np.empty((len(parts), agreement.TOGETHER * agreement.WIDE), np.int32)
    agreement.transpose(words, 0, TILE, tile)
    out, flat = np.empty((QUERIES, TILE, len(parts)), np.int32), tile.reshape(-1)

    def right() -> bool:
        left, right_rows = (each.reshape(-1) for each in np.meshgrid(TILE + np.arange(QUERIES), np.arange(TILE), indexing="ij"))
        pairs = np.empty((len(left), len(parts)), np.int32)
        agreement.agree_pairs(words, left, words, right_rows, parts, pairs)
        expected = samples - np.bitwise_count(words[left] ^ words[right_rows]).sum(axis=1) if bits == "1" else pairs.sum(axis=1)
        return bool((out.reshape(pairs.shape) == pairs).all() and (pairs.sum(axis=1) == expected).all())

    return Race(
        "agree_rows", f"{bits} bits × {samples}", "words", lambda: agreement.agree_rows(words, TILE, TILE + QUERIES, tile, TILE, parts, counts, out, 0), QUERIES * tile.size,
        "XOR and count", lambda: peaks.popcount(flat, words[0, 0], QUERIES), QUERIES * len(flat), right, 0.6,
    )  # fmt: skip


def agree_pairs() -> Race:
    """Random pairs among 2000 sketches."""
    parts = parts_of(MinHash(bits="1", samples=1024).config)
    words = splitmix64(4, 2000 * 16).reshape(2000, 16)
    left, right_rows = np.random.default_rng(1).integers(0, 2000, (2, 4096))
    out, flat = np.empty((4096, 1), np.int32), splitmix64(5, 32_000)

    def right() -> bool:
        return bool((out[:, 0] == 1024 - np.bitwise_count(words[left] ^ words[right_rows]).sum(axis=1)).all())

    return Race(
        "agree_pairs", "1 bits × 1024, random rows", "words", lambda: agreement.agree_pairs(words, left, words, right_rows, parts, out), 4096 * 16,
        "XOR and count", lambda: peaks.popcount(flat, flat[0], 4), 4 * len(flat), right,
    )  # fmt: skip


def copying(kernel: str, what: str, run: Work, size: int, right: Callable[[], bool]) -> Race:
    """A kernel whose limit is to copy its `size` bytes."""
    source, target = np.zeros(size, np.uint8), np.ones(size, np.uint8)
    return Race(kernel, what, "bytes", run, size, "copy", lambda: np.copyto(target, source), size, right)


def normalising(what: str, text: str) -> Race:
    data, known = column([text]), tables(False)
    room, columns = shingles.scratch_room(*data, 0, 1, known)
    codes, out, nothing = np.empty((2, columns), np.uint32), np.empty(room + SLACK, np.uint8), np.empty((2, 0), np.int64)
    length = [0]

    def run() -> None:
        length[0] = normalise.normalise(data.text, 0, data.offsets[1], known, normalise.WORDS, codes, out, nothing)[0]

    def right() -> bool:
        tokens = bytes(out[: length[0]]).decode().split()
        return (
            "".join(tokens) == "".join(character for character in text.lower() if character.isalnum() or character in ",;.")
            if text is ENGLISH
            else set("，。").isdisjoint("".join(tokens))
        )

    return copying("normalise", what, run, int(data.offsets[1]), right)


def word_hashing() -> Race:
    text = np.frombuffer(ENGLISH.lower().encode() + bytes(SLACK), np.uint8)
    length, hashes = len(text) - SLACK, np.empty(len(text), np.uint64)
    count = [0]

    def run() -> None:
        count[0] = shingles.word_hashes(text, length, hashes)

    return copying("word_hashes", "English", run, length, lambda: count[0] == len(ENGLISH.replace(",", "").replace(";", "").split()))


def sorting() -> Race:
    values = splitmix64(6, ELEMENTS)
    out, counts = np.empty(ELEMENTS, np.uint64), np.empty(shingles.count_room(ELEMENTS), np.int32)
    return copying("sort_distinct", "1000 hashes", lambda: shingles.sort_distinct(values, ELEMENTS, counts, out), values.nbytes, lambda: bool((out == np.sort(values)).all()))


def packing_samples(bits: str, samples: int) -> Race:
    config = MinHash(bits=bits, samples=samples).config
    rows, lanes = 64, config.layout.lanes
    found = (splitmix64(7, rows * lanes) >> np.uint64(32)).astype(np.uint32).reshape(rows, lanes)
    words, parts = np.empty((rows, config.layout.words), np.uint64), parts_of(config)

    def right() -> bool:
        samples = np.empty((rows, config.layout.samples), np.uint64)
        packing.unpack(words, np.arange(rows), parts, samples)
        stored = found if config.layout.lanes == config.layout.samples else np.bitwise_xor.reduce(found.reshape(rows, -1, 2), axis=2)
        return bool((samples == stored & np.uint32(2 ** int(parts[0, 1]) - 1)).all())

    return copying("pack", f"{bits} bits × {samples}", lambda: packing.pack(found, rows, parts, words), found.nbytes, right)


def finishing() -> Race:
    lanes = 1024
    minima, salts = (splitmix64(8, 64 * lanes) >> np.uint64(32)).astype(np.uint32).reshape(64, lanes), splitmix64(9, lanes).astype(np.uint32)
    before = minima.copy()

    def right() -> bool:
        again = before.copy()
        minhash.finish32(again, 64, 0, lanes, salts)
        z = before ^ salts
        z = (z ^ z >> 16) * np.uint32(0x85EBCA6B)
        z = (z ^ z >> 13) * np.uint32(0xC2B2AE35)
        return bool((again == z ^ z >> 16).all())

    return copying("finish32", "k = 1024", lambda: minhash.finish32(minima, 64, 0, lanes, salts), minima.nbytes, right)


def merging() -> Race:
    values, offsets = np.concatenate([np.sort(splitmix64(s, ELEMENTS)) for s in range(2)]), np.array([0, ELEMENTS, 2 * ELEMENTS])
    left, right_rows, out = np.array([0]), np.array([1]), np.empty(1, np.int64)
    run = lambda: overlap.intersections(values, offsets, left, right_rows, 0, 1, out)  # noqa: E731
    return copying("intersections", "1000 with 1000", run, values.nbytes, lambda: out[0] == len(np.intersect1d(values[:ELEMENTS], values[ELEMENTS:])))


def races() -> list[Race]:
    return [
        *(minima(lanes, 32) for lanes in (128, 256, 512, 1024, 4096)),
        *(minima(lanes, 64) for lanes in (128, 256)),
        *(agree(bits, 1024) for bits in ("1", "1.5", "1/2", "2", "4", "8")),
        agree_pairs(),
        packing_samples("1", 1024), packing_samples("8", 128), packing_samples("1/2", 1024), finishing(),
        normalising("English", ENGLISH), normalising("Chinese", CHINESE), word_hashing(), sorting(), merging(),
    ]  # fmt: skip


def fastest(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def measure(race: Race) -> dict[str, Any]:
    """Both rates in units a second."""
    times = {}
    for name, work in (("run", race.run), ("limit", race.limit)):
        work()
        times[name] = (work, max(1, int(TURN / max(fastest(work, 3), 1e-7))), [])
    for _ in range(ROUNDS):
        for work, repeats, found in times.values():
            found.append(fastest(work, repeats))
    rate, limit = race.amount / min(times["run"][2]), race.most / min(times["limit"][2])
    return {
        "kernel": race.kernel, "what": race.what, "unit": race.unit, "rate": f"{rate:.4g}", "limit": race.limit_name, "limit_rate": f"{limit:.4g}",
        "share": f"{rate / limit:.3f}", "bar": race.bar or "", "right": race.right(),
    }  # fmt: skip


def main() -> int:
    rows = []
    print(f"{'kernel':14} {'what':26} {'G/s':>8}  {'unit':6} {'limit':22} {'G/s':>8} {'share':>7}  bar")
    for race in races():
        row = measure(race)
        rows.append(row)
        verdict = "WRONG ANSWER" if not row["right"] else "" if not race.bar else "met" if float(row["share"]) >= race.bar else "MISSED"
        rates = [float(row[name]) / 1e9 for name in ("rate", "limit_rate")]
        print(
            f"{race.kernel:14} {race.what:26} {rates[0]:8.2f}  {race.unit:6} {race.limit_name:22} {rates[1]:8.2f} {float(row['share']):7.1%}  {race.bar or '':3} {verdict}",
            flush=True,
        )
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
