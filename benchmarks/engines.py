"""The engines that text_speed.py times: how each is called by its best documented path, what it is given, and what a token is to it.

An engine is made for one kind of input and has `run(given)`, which is timed, and `estimate(result, left, right)`, the resemblance of rows of what `run` returned.
Roads not taken: rensa's `_rho` methods read about 15 tokens of a document and so do not sketch it; Python's `hash` of a tuple of words instead of a joined
shingle saves the peers up to a tenth of their time, but differs from process to process unless PYTHONHASHSEED is set.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SAMPLES = 128
SEED = 42
CHUNK = 16  # documents tokenised before an engine that wants a list gets them: fastest of 1, 4, 16, 64, 100 and all

ASIAN = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
LETTERS = re.compile(f"[{ASIAN}]|[^\\W_{ASIAN}]+")
PUNCTUATION = re.compile(r"[\x00-\x20!-/:-@\[-`{-~]+")


def white_space(text: str) -> list[str]:
    """Lower case, split at white space: the fastest tokens Python can make."""
    return text.lower().split()


def ascii_punctuation(text: str) -> list[str]:
    """Lower case, split at ASCII punctuation and white space: what gaoya's Rust does."""
    return [word for word in PUNCTUATION.split(text.lower()) if word]


def letters_and_digits(text: str) -> list[str]:
    """NFKC, case folded, runs of letters and digits, Han and the like one by one: what twinset's kernel does."""
    return LETTERS.findall(unicodedata.normalize("NFKC", text).casefold())


def shingles(text: str) -> list[str]:
    """Every run of five white-space tokens, joined."""
    words = white_space(text)
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))) or [" ".join(words)]


def byte_shingles(text: str) -> list[bytes]:
    """`shingles` as bytes, joined as bytes."""
    words = text.lower().encode().split()
    return list(map(b" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))) or [b" ".join(words)]


@dataclass(frozen=True)
class Engine:
    """One row of a table. `make(kind)` imports the package and returns (run, estimate); `gives` says what `run` gets, for each kind it takes part in."""

    package: str
    make: Callable[[str], tuple[Callable[[Any], Any], Callable[..., Any]]]
    gives: dict[str, str]
    tokens: Callable[[str], list[str]] = white_space
    threads: int = 1
    binary: bool = False  # wants shingles as bytes
    one_bit: bool = False


def twinset(bits: str, threads: int = 1) -> Callable[[str], Any]:
    def make(kind: str) -> Any:
        import twinset

        sketcher = twinset.MinHash(bits=bits, samples=SAMPLES, shingle="words:5", seed=SEED)
        sketch = sketcher.sketch if kind in ("text", "chinese") else sketcher.sketch_sets
        return lambda given: sketch(given, threads=threads), lambda sketches, left, right: sketches.resemblance(left, right).value

    return make


def twinset_inner(bits: str) -> Callable[[str], Any]:
    def make(kind: str) -> Any:
        from twinset import MinHash
        from twinset.documents.shingles import Shingles

        sketcher = MinHash(bits=bits, samples=SAMPLES, seed=SEED)
        return lambda given: sketcher.sketch_shingles(Shingles(*given), threads=1), lambda sketches, left, right: sketches.resemblance(left, right).value

    return make


def datasketch(kind: str) -> Any:
    from zlib import crc32

    from datasketch import MinHash

    options = {"num_perm": SAMPLES, "seed": SEED, "hashfunc": crc32}  # twice as fast as the default, SHA-1
    run = {"text": lambda given: list(MinHash.generator(map(byte_shingles, given), **options)), "strings": lambda given: MinHash.bulk(given, **options)}
    return run[kind], lambda rows, left, right: [rows[i].jaccard(rows[j]) for i, j in zip(left, right, strict=True)]


def rensa(kind: str) -> Any:
    from rensa import RMinHash

    options = {"num_perm": SAMPLES, "seed": SEED}
    run = {
        "text": lambda given: RMinHash.digest_matrix_from_token_sets(map(shingles, given), **options),
        "strings": lambda given: RMinHash.digest_matrix_from_token_byte_sets(given, **options),
        "hashes": lambda given: RMinHash.digest_matrix_from_flat_token_hashes(given[0], given[1].astype(np.uint64), **options),
    }
    return run[kind], lambda matrix, left, right: equal_share(np.array(matrix.to_rows()), left, right)


def fastsketch(kind: str) -> Any:
    from FastSketchLSH import FastSimilaritySketch

    sketcher = FastSimilaritySketch(size=SAMPLES, seed=SEED)

    def texts(given: Any) -> Any:
        return np.concatenate([sketcher.batch(list(map(shingles, given[i : i + CHUNK])), num_threads=1) for i in range(0, len(given), CHUNK)])

    run = {
        "text": texts,
        "strings": lambda given: sketcher.batch(given, num_threads=1),
        "hashes": lambda given: sketcher.batch_csr(given[0], given[1].astype(np.uint64), prehashed=True, num_threads=1),
    }
    return run[kind], equal_share


def pari(kind: str) -> Any:
    from pari import MinHash

    options = {"num_perm": SAMPLES, "seed": SEED, "threads": 1}
    run = {"text": lambda given: MinHash.from_batch(map(byte_shingles, given), **options), "strings": lambda given: MinHash.from_batch(given, **options)}
    return run[kind], lambda rows, left, right: [rows[i].jaccard(rows[j]) for i, j in zip(left, right, strict=True)]


def gaoya(kind: str) -> Any:
    """Signatures come only inside an index, so one band of 128: the cheapest index. RAYON_NUM_THREADS=1 is set by text_speed.py."""
    from gaoya.minhash import MinHashStringIndex

    def fill(given: Any, rows: Any, bands: int) -> Any:
        analyzer = "word" if kind == "text" else list
        index = MinHashStringIndex(32, 0.0, bands, SAMPLES // bands, None, analyzer, True, (5, 5), "vec")
        index.par_bulk_insert_docs(rows, given)
        return index

    def estimate(result: Any, left: Any, right: Any) -> Any:
        given = result[0]
        index = fill([given[j] for j in right], list(map(int, right)), SAMPLES)
        found = index.par_bulk_query([given[i] for i in left], return_similarity=True)
        return [dict(near).get(j, 0.0) for near, j in zip(found, right, strict=True)]

    return lambda given: (given, fill(given, list(range(len(given))), 1)), estimate


def equal_share(rows: Any, left: Any, right: Any) -> Any:
    return (rows[left] == rows[right]).mean(axis=1)


RAW = "list of str"
ARRAYS = "arrays of 64-bit hashes and offsets"
OWN = dict.fromkeys(("text", "chinese"), RAW) | {"strings": "lists of str", "hashes": ARRAYS}
STRINGS = {"text": f"{RAW}; Python shingles as str", "strings": "lists of str"}
BYTES = {"text": f"{RAW}; Python shingles as bytes", "strings": "lists of bytes"}
ENGINES = {
    "twinset": Engine("twinset", twinset("64"), OWN, letters_and_digits),
    "twinset 1 bit": Engine("twinset", twinset("1"), OWN, letters_and_digits, one_bit=True),
    "twinset Arrow": Engine("twinset", twinset("64"), dict.fromkeys(("text", "chinese"), "Arrow large_string") | {"strings": "Arrow list<string>"}, letters_and_digits),
    "twinset 32 bits": Engine("twinset", twinset("32"), OWN, letters_and_digits),
    "twinset 2 threads": Engine("twinset", twinset("64", 2), OWN, letters_and_digits, threads=2),
    "twinset inner loop": Engine("twinset", twinset_inner("64"), {"hashes": ARRAYS + ", sorted and distinct"}, letters_and_digits),
    "twinset inner loop, 32 bits": Engine("twinset", twinset_inner("32"), {"hashes": ARRAYS + ", sorted and distinct"}, letters_and_digits),
    "rensa": Engine("rensa", rensa, {"text": STRINGS["text"], "strings": "lists of bytes", "hashes": ARRAYS}, binary=True),
    "FastSketchLSH": Engine("FastSketchLSH", fastsketch, STRINGS | {"hashes": ARRAYS}),
    "gaoya": Engine("gaoya", gaoya, {"text": RAW + "; tokenised in Rust", "strings": "lists of str"}, ascii_punctuation),
    "pari": Engine("pari-similarity", pari, BYTES, binary=True),
    "datasketch": Engine("datasketch", datasketch, BYTES, binary=True),
}
