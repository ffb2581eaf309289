"""One contract for every searcher: a join is a query of itself, threads change nothing, empty rows match nothing, progress is told, and it can be stopped."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from twinset.config import Config, SimConfig
from twinset.documents.shingles import Shingles, shingle
from twinset.errors import TwinsetError
from twinset.search.bands import Bands
from twinset.search.blocks import Blocks
from twinset.search.containment import ContainmentJoin
from twinset.search.exact import ExactJoin
from twinset.search.scan import Scan
from twinset.search.volatile import Volatile
from twinset.sketch.minhash import MinHash
from twinset.sketch.simhash import SimHash

pytestmark = pytest.mark.compiled

THRESHOLD = 0.7
EMPTY = (3, 40, 299)
ROWS = 300


def texts(seed: int, rows: int = ROWS) -> list[str]:
    """Random sentences, of which two thirds repeat an earlier one with a word or two changed, and some are empty."""
    random = np.random.default_rng(seed)
    found: list[str] = []
    for i in range(rows):
        words = [f"w{each}" for each in random.integers(5000, size=int(random.integers(20, 60)))]
        if i > rows // 3:
            words = found[int(random.integers(1, rows // 3))].split() or words
            for _ in range(int(random.integers(3))):
                words[int(random.integers(len(words)))] = f"w{random.integers(5000)}"
        found.append("" if i in EMPTY else " ".join(words))
    return found


def shingled(documents: list[str]) -> Shingles:
    return shingle(documents, Config(shingle="words:1"))


def sketched(documents: list[str]) -> Any:
    return MinHash(bits="8", samples=128, shingle="words:1").sketch(documents)


def fingerprinted(documents: list[str]) -> Any:
    return SimHash(SimConfig(weights="constant", shingle="words:1")).sketch(documents, keep=True)


@dataclass(frozen=True)
class Case:
    """How a searcher is made, from what, whether it finds all that a plain definition of similarity says, and whether join finds what a query of itself does."""

    make: Callable[[Any], Any]
    data: Callable[[list[str]], Any]
    definition: Callable[[Any, Any, int, int], bool] | None = None  # (left data, right data, i, j), for searchers that miss nothing
    symmetric: bool = True


def alike(left: Shingles, right: Shingles, i: int, j: int) -> bool:
    a, b = set(left.row(i).tolist()), set(right.row(j).tolist())
    return bool(a) and bool(b) and len(a & b) / len(a | b) >= THRESHOLD


def holding(left: Shingles, right: Shingles, i: int, j: int) -> bool:
    a, b = set(left.row(i).tolist()), set(right.row(j).tolist())
    return bool(a) and bool(b) and len(a & b) >= THRESHOLD * min(len(a), len(b))


def near(left: Any, right: Any, i: int, j: int) -> bool:
    return not left.empty[i] and not right.empty[j] and int(left.distance(i, j, right)[0]) <= 3


CASES = {
    "exact": Case(lambda data: ExactJoin(data, THRESHOLD), shingled, alike),
    "containment": Case(lambda data: ContainmentJoin(data, THRESHOLD), shingled, holding),
    "scan": Case(lambda data: Scan(data, THRESHOLD), sketched),
    "bands": Case(lambda data: Bands(data, THRESHOLD), sketched),
    "blocks": Case(lambda data: Blocks(data, 3), fingerprinted, near),
    "blocks of two": Case(lambda data: Blocks(data, 3, blocks=5, header=2, table=False), fingerprinted, near),
    "volatile": Case(lambda data: Volatile(data, 3, recall=0.9), fingerprinted, symmetric=False),
    "volatile, complete": Case(lambda data: Volatile(data, 3, probes=41, header_bits=6), fingerprinted, near),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def pairs(found):
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


def test_a_join_is_a_query_of_itself(case):
    data = case.data(texts(1))
    searcher = case.make(data)
    joined, asked = pairs(searcher.join()), pairs(searcher.query(data))
    assert joined == sorted(set(joined))
    assert all(left < right for left, right in joined)
    assert len(joined) > 50
    either = {(min(pair), max(pair)) for pair in asked if pair[0] != pair[1]}
    assert set(joined) == either
    if case.symmetric:
        assert {(right, left) for left, right in asked} == set(asked)


def test_what_misses_nothing_equals_the_definition(case):
    if case.definition is None:
        pytest.skip("finds up to its stated recall: see its own tests")
    data, new = case.data(texts(2, 120)), case.data(texts(2, 120)[::-1][:50] + texts(9, 10))
    searcher = case.make(data)
    assert pairs(searcher.join()) == [(i, j) for i in range(len(data)) for j in range(i + 1, len(data)) if case.definition(data, data, i, j)]
    assert pairs(searcher.query(new)) == [(i, j) for i in range(len(new)) for j in range(len(data)) if case.definition(new, data, i, j)]


def test_threads_change_nothing(case):
    data = case.data(texts(3))
    searcher = case.make(data)
    assert pairs(searcher.join(threads=1)) == pairs(searcher.join(threads=2)) == pairs(case.make(data).join(threads=3))
    assert pairs(searcher.query(data, threads=1)) == pairs(searcher.query(data, threads=2))


def test_empty_rows_match_nothing(case):
    data = case.data(texts(4))
    searcher = case.make(data)
    assert not {row for pair in pairs(searcher.join()) + pairs(searcher.query(data)) for row in pair} & set(EMPTY)


def test_nothing_in_nothing_out(case):
    for documents in ([], [""], ["a b c"], ["", ""]):
        with contextlib.suppress(TwinsetError):  # a calibration or a header may want more data, and says so
            assert pairs(case.make(case.data(documents)).join()) == []


def test_progress_runs_to_its_end_and_can_stop_the_search(case):
    data = case.data(texts(5))
    told: list[tuple[int, int]] = []
    case.make(data).join(progress=lambda done, total: told.append((done, total)))
    assert told
    assert told[-1][0] == told[-1][1] > 0
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            case.make(data).join(threads=threads, progress=stop)


def test_every_searcher_says_what_it_is(case):
    searcher = case.make(case.data(texts(6)))
    assert len(searcher.about) > 20
    assert "\n" not in searcher.about


def test_detection_is_a_probability_that_grows_with_similarity(case):
    searcher = case.make(case.data(texts(7)))
    at = np.linspace(0, 1, 11) if case.data is not fingerprinted else np.arange(65)[::-1]
    found = searcher.detection(at)
    assert found.shape == at.shape
    assert ((found >= 0) & (found <= 1)).all()
    if case.data is not fingerprinted:
        assert (np.diff(found[at >= THRESHOLD]) >= 0).all()
        assert found[-1] > 0.99
