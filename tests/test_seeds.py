"""Parameters from a seed equal the splitmix64 of plain Python."""

import numpy as np
import pytest
import reference_families as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.sketch.seeds import splitmix64

pytestmark = pytest.mark.filterwarnings("error")  # sums wrap modulo 2^64 on purpose, and silently
SEEDS = [0, 1, 42, 2**63, 2**64 - 1]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.one_of(st.sampled_from(SEEDS), st.integers(0, 2**64 - 1)), st.integers(0, 40))
def test_words_equal_the_definition(seed, count):
    found = splitmix64(seed, count)
    assert found.dtype == np.uint64
    assert found.tolist() == reference.splitmix64(seed, count)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_long_sequence_equals_the_definition_and_begins_with_every_shorter_one(seed):
    words = splitmix64(seed, 5000)
    assert words.tolist() == reference.splitmix64(seed, 5000)
    for count in (0, 1, 17, 4999):
        assert np.array_equal(words[:count], splitmix64(seed, count))


def test_no_word_repeats():
    """States are distinct and the scramble is a permutation of 64-bit words."""
    assert len(np.unique(splitmix64(42, 100_000))) == 100_000


def test_the_next_state_continues_the_sequence():
    """Seeds that lie a step apart share all but one word: what needs independent words takes them from one sequence, never from seeds near each other."""
    gamma = 0x9E3779B97F4A7C15
    assert splitmix64((42 + gamma) % 2**64, 20).tolist() == splitmix64(42, 21)[1:].tolist()
