"""Sets that are not text: every accepted shape gives the same hashes as the definition, and what has no hash is refused."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import reference_shingles as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.documents.sets import from_sets
from twinset.errors import BadInput

pytestmark = pytest.mark.compiled

NUMBERS = [[3, 1, 3, 2**63], [], [7], [0, 2**64 - 1, 0]]
WORDS = [["b", "a", "b", ""], [], ["中文", "longer than eight bytes"], ["a"]]
ALLOWED = r"allowed: an iterable of sets of int, bytes or str, an Arrow list array, or \(values, offsets\) arrays of whole numbers$"
QUICK = settings(max_examples=100, deadline=None, derandomize=True)


def rows(shingles):
    return [shingles.row(d).tolist() for d in range(len(shingles))]


def hashes_of_numbers(sets):
    return [sorted({reference.mixed(x % 2**64) for x in group}) for group in sets]


def hashes_of_words(sets):
    return [sorted({reference.hash_element(x if isinstance(x, bytes) else x.encode()) for x in group}) for group in sets]


def flat(sets, dtype):
    return np.array([x for group in sets for x in group], dtype), np.cumsum([0, *map(len, sets)])


@QUICK
@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=20), max_size=8))
def test_numbers_equal_their_definition(sets):
    assert rows(from_sets(sets)) == hashes_of_numbers(sets)
    assert rows(from_sets(sets, mixed=False)) == [sorted(set(group)) for group in sets]


@QUICK
@given(st.lists(st.lists(st.binary(max_size=20), max_size=8), max_size=8))
def test_bytes_equal_their_definition(sets):
    assert rows(from_sets(sets)) == hashes_of_words(sets)
    assert rows(from_sets(sets, mixed=False)) == [sorted({reference.hash_element(x) >> 32 for x in group}) for group in sets]


@pytest.mark.parametrize(
    "shape",
    [
        lambda sets: sets,
        lambda sets: iter(sets),
        lambda sets: tuple(map(tuple, sets)),
        lambda sets: [set(group) for group in sets],
        lambda sets: [dict.fromkeys(group) for group in sets],
        lambda sets: [np.array(group, np.uint64) for group in sets],
        lambda sets: [[np.uint64(x) for x in group] for group in sets],
        lambda sets: pa.array(sets, pa.list_(pa.uint64())),
        lambda sets: pa.array(sets, pa.large_list(pa.uint64())),
        lambda sets: pa.array([None, [9], *sets, [8]], pa.list_(pa.uint64()))[2:6],
        lambda sets: pa.chunked_array([sets[:1], sets[1:]], pa.list_(pa.uint64())),
        lambda sets: flat(sets, np.uint64),
        lambda sets: (flat(sets, np.uint64)[0], flat(sets, np.uint64)[1].tolist()),
    ],
    ids=["list", "iterator", "tuple", "sets", "keys", "arrays", "scalars", "Arrow", "large Arrow", "slice", "chunked", "flat", "flat list"],
)
def test_numbers_in_every_shape(shape):
    assert rows(from_sets(shape(NUMBERS))) == hashes_of_numbers(NUMBERS)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()], ids=str)
def test_words_in_every_shape(kind):
    expected = hashes_of_words(WORDS)
    assert rows(from_sets(pa.array(WORDS, pa.list_(kind)))) == expected
    assert rows(from_sets(WORDS)) == expected
    assert rows(from_sets([{x.encode() for x in group} for group in WORDS])) == expected


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_negative_numbers_are_twos_complement(dtype):
    sets = [[-1, 5], [-128]]
    for shape in (sets, flat(sets, dtype), pa.array(sets, pa.list_(pa.from_numpy_dtype(dtype)))):
        assert rows(from_sets(shape)) == hashes_of_numbers(sets)
    assert rows(from_sets([[-1]])) == rows(from_sets([[2**64 - 1]]))


def test_a_number_and_its_digits_are_different_elements():
    assert rows(from_sets([[1]])) != rows(from_sets([["1"]]))


def test_null_sets_are_empty_even_over_leftover_values():
    hidden = pa.ListArray.from_arrays(pa.array([0, 2, 3]), pa.array([1, 2, 3]), mask=pa.array([True, False]))
    assert rows(from_sets(hidden)) == hashes_of_numbers([[], [3]])
    assert rows(from_sets(pa.array([None, [4], None], pa.list_(pa.int8())))) == hashes_of_numbers([[], [4], []])


NOTHING = {"list": [], "Arrow": pa.array([], pa.list_(pa.string())), "chunks": pa.chunked_array([], pa.list_(pa.int64())), "flat": (np.array([], int), [0])}


@pytest.mark.parametrize("nothing", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("mixed", [True, False])
def test_no_sets(nothing, mixed):
    assert len(from_sets(nothing, mixed=mixed)) == 0


def test_large_sets_without_mixing_stay_sorted_and_distinct():
    random = np.random.Generator(np.random.PCG64(3))
    values, offsets = random.integers(0, 300, 4000, dtype=np.uint64), np.array([0, 0, 1500, 1500, 4000])
    found = rows(from_sets((values, offsets), mixed=False))
    assert found == [sorted(set(values[first:last].tolist())) for first, last in pairwise(offsets)]


@pytest.mark.parametrize(
    ("sets", "seen"),
    [
        ("ab", "^sets is a str; "),
        (None, "^sets is a NoneType; "),
        (5, "^sets is a int; "),
        ([b"ab"], "^one of the sets is not a collection; "),
        ([[1], 2], "^one of the sets is not a collection; "),
        ([iter([1])], "^one of the sets is not a collection; "),
        (pa.array(["a"]), "^sets is an Arrow array of string; "),
        (pa.array([[1, 2]], pa.list_(pa.int64(), 2)), r"^sets is an Arrow array of fixed_size_list<item: int64>\[2\]; "),
        ([["a", None]], "^1 of the elements are null; "),
        (pa.array([[None, 1, None]]), "^2 of the elements are null; "),
        ([["a", 1]], "^the elements cannot be read as one kind "),
        ([[1, "a"]], "^the elements cannot be read as one kind "),
        ([[1, True]], "^the elements cannot be read as one kind "),
        ([[2**64]], "^the elements cannot be read as one kind "),
        ([[-1, 2**63]], "^the elements cannot be read as one kind "),
        ([["\ud800"]], "^the elements cannot be read as one kind "),
        ((np.array([1.5]), [0, 1]), r"^the elements have type float64 and shape \(1,\); "),
        ((np.array([[1]]), [0, 1]), r"^the elements have type int64 and shape \(1, 1\); "),
    ],
    ids=str,
)
def test_what_is_no_set_is_refused(sets, seen):
    with pytest.raises(BadInput, match=seen + ".*" + ALLOWED):
        from_sets(sets)


@pytest.mark.parametrize("element", [1.5, True, (1, 2)], ids=str)
def test_elements_of_another_type_are_refused(element):
    with pytest.raises(BadInput, match="has type (double|bool|list<item: int64>); allowed: "):
        from_sets([[element]])


@pytest.mark.parametrize("offsets", [[], [0], [0, 1], [0, 3], [1, 2], [0, 2, 1, 2], [0.0, 2.0], [[0, 2]], [-1, 2]], ids=str)
def test_offsets_that_do_not_cut_the_values_are_refused(offsets):
    with pytest.raises(BadInput, match="^offsets do not cut 2 values into sets; allowed: whole numbers that start at 0, never fall, and end at 2$"):
        from_sets((np.array([1, 2]), offsets))
