"""The chooser takes what is cheapest, says why, and obeys."""

import pytest

from twinset.errors import BadOption
from twinset.layout import parse
from twinset.search.choosing import SEARCHES, choose, choose_sketched


@pytest.mark.parametrize(
    ("documents", "shingles", "threshold", "memory", "expected"),
    [
        (1000, 300_000, 0.8, None, "exact"),
        (10_000_000, 3_000_000_000, 0.8, None, "bands"),
        (10_000_000, 3_000_000_000, 0.05, None, "scan"),  # bands of one sample would bring every stranger along
        (100_000, 30_000_000, 0.8, 1 << 20, "bands"),
        (2000, 600_000, 0.8, 1 << 10, "bands"),
    ],
)
def test_the_cheapest_that_fits(documents, shingles, threshold, memory, expected):
    found = choose("auto", documents, shingles, threshold, 0.99, memory)
    assert found.search == expected
    assert found.why.startswith(f"{expected}: for {documents:,} distinct documents")


@pytest.mark.parametrize("search", SEARCHES)
def test_what_is_asked_for_is_taken(search):
    assert choose(search, 10, 10, 0.8, 0.99).search == search


def test_an_unknown_search_is_refused():
    with pytest.raises(BadOption, match="'lsh'; allowed: auto, exact, scan"):
        choose("lsh", 10, 10, 0.8, 0.99)


def test_a_recall_of_one_takes_the_exact_join_or_none():
    assert choose("auto", 10_000_000, 3_000_000_000, 0.8, 1.0).search == "exact"
    with pytest.raises(BadOption, match="recall is 1"):
        choose("auto", 10_000_000, 3_000_000_000, 0.8, 1.0, 1 << 20)


@pytest.mark.parametrize(("sketches", "threshold", "expected"), [(100, 0.8, "scan"), (10_000_000, 0.8, "bands"), (1_000_000, 0.01, "scan")])
def test_sketches_are_scanned_or_banded(sketches, threshold, expected):
    found = choose_sketched("auto", sketches, parse("8", 128), threshold, 0.99)
    assert (found.search, found.bits, found.samples) == (expected, "8", 128)
    assert found.why.startswith(f"{expected}: for {sketches:,} distinct sketches")
    assert ("no banding finds as much" in found.why) == (threshold < 0.02)


def test_a_search_that_sketches_do_not_serve_is_refused():
    with pytest.raises(BadOption, match="allowed for sketches: scan, bands or auto"):
        choose_sketched("exact", 10, parse("8", 128), 0.8, 0.99)
