"""Sets that are not text, in at the same door: elements become 64-bit hashes in the shingles shape."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinset.documents.columns import column
from twinset.documents.shingles import Shingles
from twinset.errors import BadInput
from twinset.kernels import shingles as kernels

ALLOWED = "allowed: an iterable of sets of int, bytes or str, an Arrow list array, or (values, offsets) arrays of whole numbers"


def from_sets(sets: Any, *, mixed: bool = True) -> Shingles:
    """The shingles shape of an iterable of sets, an Arrow list array, or (values, offsets).

    `mixed` hashes whole numbers; without it they stay as they are, which the papers' hash families want. A repeat inside a set counts once.
    """
    if mixed:
        return _distinct(*features(sets))
    elements, offsets = _flat(sets)
    return _distinct_raw(elements if isinstance(elements, np.ndarray) else _hashed(elements) >> np.uint64(32), offsets)


def features(sets: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The mixed hashes of all elements of the sets, in the order given and with repeats, and where each set begins."""
    elements, offsets = _flat(sets)
    if not isinstance(elements, np.ndarray):
        return _hashed(elements), offsets
    values = np.empty(len(elements), np.uint64)
    kernels.mix_all(elements, values)
    return values, offsets


def _flat(sets: Any) -> tuple[NDArray[np.uint64] | pa.Array, NDArray[np.int64]]:
    """All elements one after another, whole numbers as uint64, and where each set begins."""
    if isinstance(sets, pa.ChunkedArray):
        sets = sets.combine_chunks()
    if isinstance(sets, pa.Array):
        if not (pa.types.is_list(sets.type) or pa.types.is_large_list(sets.type)):
            raise BadInput(f"sets is an Arrow array of {sets.type}; {ALLOWED}")
        lengths = sets.value_lengths().fill_null(0).to_numpy()
        return _elements(sets.flatten()), _offsets(lengths)
    if isinstance(sets, tuple) and len(sets) == 2 and isinstance(sets[0], np.ndarray):
        return _elements(sets[0]), _checked(np.asarray(sets[1]), len(sets[0]))
    if isinstance(sets, (str, bytes)) or not isinstance(sets, Iterable):
        raise BadInput(f"sets is a {type(sets).__name__}; {ALLOWED}")
    groups = list(sets)
    if any(isinstance(group, (str, bytes)) or not hasattr(group, "__len__") for group in groups):
        raise BadInput(f"one of the sets is not a collection; {ALLOWED}")
    return _elements(list(chain.from_iterable(groups))), _offsets(np.fromiter(map(len, groups), np.int64, len(groups)))


def _elements(elements: Any) -> NDArray[np.uint64] | pa.Array:
    """Whole numbers as uint64 (two's complement if negative); strings and bytes as an Arrow array."""
    if not isinstance(elements, (np.ndarray, pa.Array)):
        elements = _array(elements)
    if isinstance(elements, pa.Array):
        if elements.null_count:
            raise BadInput(f"{elements.null_count} of the elements are null; {ALLOWED}")
        if not pa.types.is_integer(elements.type):
            return elements
        elements = elements.to_numpy(zero_copy_only=False)
    if elements.ndim != 1 or not np.issubdtype(elements.dtype, np.integer):
        raise BadInput(f"the elements have type {elements.dtype} and shape {elements.shape}; {ALLOWED}")
    return np.ascontiguousarray(elements.astype(np.int64).view(np.uint64) if elements.dtype.kind == "i" else elements.astype(np.uint64))


def _array(elements: list[Any]) -> pa.Array:
    kind = type(elements[0]) if elements else int
    try:
        if kind is int and all(isinstance(element, (int, np.integer)) for element in elements):  # Arrow would cut 1.5 down to 1
            return pa.array(elements, pa.uint64() if min(elements, default=0) >= 0 else pa.int64())
        return pa.array(elements, pa.large_binary() if kind is bytes else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, UnicodeEncodeError) as error:
        raise BadInput(f"the elements cannot be read as one kind ({str(error).splitlines()[0]}); {ALLOWED}") from None


def _hashed(elements: pa.Array) -> NDArray[np.uint64]:
    texts = column(elements)
    padded = np.concatenate([texts.text, np.zeros(8, np.uint8)])
    out = np.empty(len(texts.offsets) - 1, np.uint64)
    kernels.element_hashes(padded, texts.offsets, out)
    return out


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _checked(offsets: NDArray[Any], elements: int) -> NDArray[np.int64]:
    if offsets.ndim != 1 or not np.issubdtype(offsets.dtype, np.integer) or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != elements or (np.diff(offsets) < 0).any():
        raise BadInput(f"offsets do not cut {elements} values into sets; allowed: whole numbers that start at 0, never fall, and end at {elements}")
    return np.ascontiguousarray(offsets, np.int64)


def _distinct(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Shingles:
    longest = int(np.diff(offsets).max(initial=0))
    out, out_offsets = np.empty_like(values), np.empty_like(offsets)
    kernels.distinct_rows(values, offsets, np.empty(kernels.count_room(longest), np.int32), out, out_offsets)
    return Shingles(out[: out_offsets[-1]], out_offsets)


def _distinct_raw(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Shingles:
    """The same for numbers that are not spread like hashes."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((values, rows))
    values, rows = values[order], rows[order]
    first = np.ones(len(values), bool)
    first[1:] = (values[1:] != values[:-1]) | (rows[1:] != rows[:-1])
    return Shingles(np.ascontiguousarray(values[first]), _offsets(np.bincount(rows[first], minlength=len(offsets) - 1)))
