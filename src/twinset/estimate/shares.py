"""A share measured on a sample whose members come in groups."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Share:
    """`value` = found / all, in an interval; `sample` is how many there were. Of nothing, the interval is all of [0, 1]."""

    value: float
    low: float
    high: float
    sample: int


def share(found: ArrayLike, every: ArrayLike, *, level: float = 0.95) -> Share:
    """The share found[i] out of every[i], summed over groups i that are independent while their members need not be.

    Interval of Wilson (1927), at the number of independent members that would have the variance of the groups: value (1 - value) / variance of the ratio, at most all
    members; the number of groups where no variance shows.
    """
    some, all_of = np.asarray(found, np.float64), np.asarray(every, np.float64)
    groups, total = len(all_of), float(all_of.sum())
    if total == 0:
        return Share(float("nan"), 0.0, 1.0, 0)
    value = float(some.sum()) / total
    variance = float(((some - value * all_of) ** 2).sum()) / total**2 * groups / max(groups - 1, 1)
    size = min(value * (1 - value) / variance, total) if variance > 0 else float(groups)
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, half = value + z * z / (2 * size), z * np.sqrt(value * (1 - value) / size + (z / (2 * size)) ** 2)
    scale = 1 + z * z / size
    return Share(value, float(max((middle - half) / scale, 0.0)), float(min((middle + half) / scale, 1.0)), int(total))
