"""The Unicode tables of the normalising kernel, read once."""

from functools import cache
from importlib.resources import files

import numpy as np

from twinset.kernels.normalise import Tables


@cache
def tables(case: bool) -> Tables:
    """What `twinset.kernels.normalise.normalise` needs: with `case`, upper and lower case stay apart."""
    with (files("twinset.kernels") / "unicode.npz").open("rb") as file, np.load(file) as arrays:
        columns = {name: arrays[name] for name in Tables._fields if name != "records"}
        return Tables(records=arrays["cased" if case else "folded"], **columns)
