"""Texts of any shape to the one shape the kernels read: the buffers of an Arrow large_string array."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.errors import BadInput

SURROGATE = re.compile("[\ud800-\udfff]")


class Column(NamedTuple):
    """UTF-8 bytes of all documents, and where each begins: document d is text[offsets[d]:offsets[d + 1]]."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]


def column(texts: Any) -> Column:
    """The bytes and offsets of a list of str, an Arrow string (or binary) array, or anything that Arrow turns into one. A null is an empty document."""
    array = _large(_arrow(texts))
    if array.null_count:
        array = array.fill_null("")
    _, offsets, text = array.buffers()
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1] if len(array) else np.zeros(1, np.int64)
    return Column(np.frombuffer(text, np.uint8) if text is not None and text.size else np.zeros(0, np.uint8), starts)


def _arrow(texts: Any) -> pa.Array:
    if isinstance(texts, pa.ChunkedArray):
        return texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    if isinstance(texts, pa.Array):
        return texts
    if isinstance(texts, (str, bytes)):
        raise BadInput(f"texts is a single {type(texts).__name__}; allowed: a list of str or an Arrow string array")
    texts = list(texts) if isinstance(texts, Iterator) else texts  # may have to be read twice
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array(_without_surrogates(texts), pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        seen = f"texts is a {type(texts).__name__} that Arrow cannot read as strings ({str(error).splitlines()[0]})"
        raise BadInput(f"{seen}; allowed: a list of str or an Arrow string array") from None


def _without_surrogates(texts: Sequence[str | None]) -> list[str | None]:
    """Lone surrogates have no UTF-8 form: each becomes U+FFFD, which separates tokens."""
    return [text if text is None else SURROGATE.sub("\ufffd", text) for text in texts]


def _large(array: pa.Array) -> pa.Array:
    """Cast to large_string without checking the bytes: the kernels replace malformed ones and count them."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_null(kind) or pa.types.is_large_string(kind):
        return array.cast(pa.large_string())
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary(kind) or pa.types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    if pa.types.is_large_binary(array.type):
        return array.view(pa.large_string())
    raise BadInput(f"the text column has type {kind}; allowed: string or binary")
