"""Texts of every accepted shape become the same bytes and offsets; other values are refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from specimens import PROSE, SPECIMENS

from twinset.documents.columns import column
from twinset.errors import BadInput

TEXTS = ["a", "", None, "zwei Wörter", "中文", "x" * 40]
BYTES = [text if text is None else text.encode() for text in TEXTS]
STRINGS = [pa.string(), pa.large_string(), pa.string_view()]
BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view()]


def documents(texts):
    """The documents of a column, as bytes, and a check of its types."""
    data = column(texts)
    assert (data.text.dtype, data.offsets.dtype) == (np.uint8, np.int64)
    return [data.text[first:last].tobytes() for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def filled(values):
    return [value or b"" for value in values]


@pytest.mark.parametrize("kind", STRINGS, ids=str)
def test_string_arrays(kind):
    assert documents(pa.array(TEXTS, kind)) == filled(BYTES)
    assert documents(pa.array(TEXTS[:2], kind)) == filled(BYTES[:2])


@pytest.mark.parametrize("kind", BINARIES, ids=str)
def test_binary_arrays(kind):
    """Any bytes at all: malformed ones are the kernels' affair."""
    values = [*BYTES, *SPECIMENS.values()]
    assert documents(pa.array(values, kind)) == filled(values)


@pytest.mark.parametrize("kind", STRINGS + BINARIES, ids=str)
def test_slices_of_arrays(kind):
    """A slice has an offset of its own into shared buffers."""
    for values in (BYTES, [b"one", b"two", "drei ß".encode(), b"four", b"five", b"six"]):
        array = pa.array(values, pa.binary()).cast(kind) if kind in STRINGS else pa.array(values, kind)
        for first in range(len(values) + 1):
            for last in range(first, len(values) + 1):
                assert documents(array[first:last]) == filled(values[first:last])


@pytest.mark.parametrize("kind", STRINGS + BINARIES, ids=str)
def test_empty_and_null_arrays(kind):
    assert documents(pa.array([], kind)) == []
    assert documents(pa.array([None, None], kind)) == [b"", b""]
    assert documents(pa.array(["", ""], pa.string()).cast(kind)) == [b"", b""]


def test_an_array_of_type_null_is_empty_documents():
    assert documents(pa.nulls(3)) == [b"", b"", b""]


def test_dictionary_arrays():
    array = pa.array(["a", "b", "a", None, "b"]).dictionary_encode()
    assert documents(array) == [b"a", b"b", b"a", b"", b"b"]
    assert documents(array[1:4]) == [b"b", b"a", b""]


@pytest.mark.parametrize("chunks", [[], [[]], [["a"]], [["a", None], [], ["b"]], [["a"], ["中"], ["c"]]], ids=str)
def test_chunked_arrays(chunks):
    array = pa.chunked_array(chunks, pa.string())
    assert documents(array) == [(text or "").encode() for chunk in chunks for text in chunk]


def test_a_chunked_array_with_sliced_chunks():
    array = pa.chunked_array([pa.array(["a", "b", "c"])[1:], pa.array(["d", "e", "f"])[:1]])
    assert documents(array) == [b"b", b"c", b"d"]


@pytest.mark.parametrize(
    "texts",
    [TEXTS, tuple(TEXTS), np.array(TEXTS, object), dict.fromkeys(TEXTS), (text for text in TEXTS), map(str, ["a"])],
    ids=["list", "tuple", "numpy", "keys", "generator", "map"],
)
def test_anything_that_arrow_turns_into_strings(texts):
    expected = [b"a"] if isinstance(texts, map) else filled(BYTES)
    assert documents(texts) == expected


def test_numpy_strings():
    assert documents(np.array(["a", "bc", ""])) == [b"a", b"bc", b""]


def test_no_texts():
    assert documents([]) == []
    assert documents([None]) == [b""]


@pytest.mark.parametrize("make", [list, tuple, iter, lambda texts: np.array(texts, object)], ids=["list", "tuple", "iterator", "numpy"])
def test_lone_surrogates_become_replacement_characters(make):
    """In every kind of container, one that can be read only once included, and without any loss around them."""
    texts = ["before", "a\ud800b", None, "\udfff\ud800", "ok \U0001f600"]
    assert documents(make(texts)) == [b"before", "a\ufffdb".encode(), b"", "\ufffd\ufffd".encode(), "ok 😀".encode()]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.none(), st.sampled_from(list(PROSE.values())), st.text(st.characters(), max_size=5))), st.integers(0, 3))
def test_texts_come_back(texts, start):
    expected = ["" if text is None else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text) for text in texts]
    assert documents(texts) == [text.encode() for text in expected]
    assert documents(pa.array(expected)[start:]) == [text.encode() for text in expected[start:]]


@pytest.mark.parametrize(("value", "name"), [("one text", "str"), (b"one text", "bytes")])
def test_a_single_text_is_refused(value, name):
    """It would be read as a list of characters."""
    with pytest.raises(BadInput, match=f"^texts is a single {name}; allowed: a list of str or an Arrow string array$"):
        column(value)


@pytest.mark.parametrize(
    ("value", "name"), [(None, "NoneType"), (7, "int"), ([1, 2], "list"), (["a", 2], "list"), ([["a"]], "list"), ((1.5,), "tuple"), ([b"\xff"], "list"), (np.arange(3), "ndarray")]
)
def test_what_is_no_text_is_refused(value, name):
    with pytest.raises(BadInput, match=rf"^texts is a {name} that Arrow cannot read as strings \([^\n]+\); allowed: a list of str or an Arrow string array$"):
        column(value)


@pytest.mark.parametrize(
    "array", [pa.array([1, 2]), pa.array([1.5]), pa.array([["a"]]), pa.array([b"ab"], pa.binary(2)), pa.array([1, 1]).dictionary_encode(), pa.chunked_array([[True]])], ids=str
)
def test_arrays_of_other_types_are_refused(array):
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    with pytest.raises(BadInput) as caught:
        column(array)
    assert str(caught.value) == f"the text column has type {kind}; allowed: string or binary"
