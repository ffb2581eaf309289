"""A large corpus with known habits, made of real sentences: documents of their own, and edited copies of earlier ones.

    python benchmarks/corpora.py 1000000 million.parquet

A document of its own takes sentences from three award abstracts. Three documents in ten are copies: exact, or with tokens substituted, words put in front or left out, sentences
shuffled, or letters misread as by OCR. The random numbers come from a seed; the file is the same on every machine with the same data.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COPIES = 0.3
BATCH = 20_000
SENTENCE = re.compile(r"(?<=[.!?])\s+")
MISREAD = str.maketrans({"l": "1", "o": "0", "m": "rn", "e": "c", "S": "5"})
KINDS = ("exact", "substituted", "in front", "left out", "shuffled", "misread")


def sentences() -> list[list[str]]:
    """The sentences of each award abstract that has some."""
    texts = [text for year in range(2007, 2013) for text in pq.read_table(DATA / f"nsf_awards/{year}.parquet", columns=["text"])["text"].to_pylist()]
    return [parts for text in dict.fromkeys(texts) if len(parts := SENTENCE.split(text or "")) > 3]


def edited(text: str, kind: str, random: np.random.Generator) -> str:
    """A copy with the kind of edit, of a strength between a word and a seventh of the text."""
    words = text.split(" ")
    count = max(1, int(len(words) * random.random() ** 2 / 7))
    if kind == "substituted":
        for place in random.integers(len(words), size=count):
            words[place] = words[int(random.integers(len(words)))][::-1]
    elif kind == "in front":
        words = words[len(words) // 2 : len(words) // 2 + count] + words
    elif kind == "left out":
        begin = int(random.integers(len(words)))
        del words[begin : begin + count]
    elif kind == "shuffled":
        parts = SENTENCE.split(text)
        return " ".join(parts[i] for i in random.permutation(len(parts)))
    elif kind == "misread":
        for place in random.integers(len(words), size=max(1, count // 3)):
            words[place] = words[place].translate(MISREAD)
    return " ".join(words)


def documents(count: int, seed: int = 1):
    """(text, row it copies or -1, kind), one after another."""
    random, pool, recent = np.random.default_rng(seed), sentences(), []
    for row in range(count):
        if recent and random.random() < COPIES:
            origin, text = recent[int(random.integers(len(recent)))]
            kind = KINDS[int(random.integers(len(KINDS)))]
            yield edited(text, kind, random), origin, kind
            continue
        parts = [sentence for i in random.integers(len(pool), size=3) for sentence in pool[i][:: int(random.integers(2, 4))]]
        text = " ".join(parts[i] for i in random.permutation(len(parts)))
        recent.append((row, text))
        if len(recent) > 200_000:
            recent[int(random.integers(len(recent)))] = recent.pop()
        yield text, -1, "own"


def build(count: int, path: Path, seed: int = 1) -> None:
    """Write the corpus as Parquet: id, text, copies, kind."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("copies", pa.int64()), ("kind", pa.string())])
    made, first = documents(count, seed), 0
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        while first < count:
            rows = [next(made) for _ in range(min(BATCH, count - first))]
            texts, copies, kinds = (list(column) for column in zip(*rows, strict=True))
            out.write_table(pa.table([[f"{seed}-{first + i}" for i in range(len(rows))], texts, copies, kinds], schema=schema))
            first += len(rows)


if __name__ == "__main__":
    build(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
