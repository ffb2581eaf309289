"""The chooser takes what is cheapest, says why, and obeys."""

import pytest

from twinset.errors import BadOption
from twinset.search.choosing import SEARCHES, choose


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
