"""Row numbers that a caller gives: checked before a kernel trusts them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadOption

Rows = NDArray[np.int64]


def checked(rows: ArrayLike, count: int) -> Rows:
    """`rows` as int64, each of them a row of `count`."""
    chosen = np.asarray(rows)
    if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
        raise BadOption(f"rows have type {chosen.dtype}; allowed: whole numbers")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= count):
        raise BadOption(f"a row is {chosen.min() if chosen.min() < 0 else chosen.max()}; allowed: whole numbers from 0 to {count - 1}")
    return chosen.astype(np.int64)


def aligned(left: ArrayLike, left_count: int, right: ArrayLike, right_count: int) -> tuple[Rows, Rows]:
    """Two flat arrays of equal length; one row goes with an array of rows."""
    pair = checked(left, left_count), checked(right, right_count)
    try:
        both = np.broadcast_arrays(*pair)
    except ValueError:
        raise BadOption(f"rows have shapes {pair[0].shape} and {pair[1].shape}; allowed: equal lengths, or one row against many") from None
    return np.ascontiguousarray(both[0]).reshape(-1), np.ascontiguousarray(both[1]).reshape(-1)
