"""The Unicode table of the normalising kernel, read once."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def tables(case: bool) -> NDArray[Any]:
    """What `twinset.kernels.normalise.normalise` needs, uint32: with `case`, upper and lower case stay apart."""
    with (files("twinset.kernels") / "unicode.npz").open("rb") as file, np.load(file) as arrays:
        table: NDArray[Any] = arrays["cased" if case else "folded"]
        return table
