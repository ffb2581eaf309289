"""How likely each bit of a fingerprint differs in a near-copy: S2 of theory.md, from a sample of near pairs."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinset.errors import BadInput, BadOption

Floats = NDArray[np.float64]
CELLS = 1024  # the curve is a line in log p over each of so many equal steps, and beyond them
TAIL = 0.01  # the share of the sample that only sets how fast the curve falls beyond its last step
LEAST = -690.0  # the least log p: 1e-300
REACH = 6.0  # the normal curve is tabulated to so many standard deviations


@dataclass(frozen=True)
class Flips:
    """The curve p(c) = P(Y > c), Y = W_j(u) - W_j(v) / r over near pairs, the same for all bits j: log p at c = 0, step, 2 step ..., and its slope beyond.

    By symmetry p(c) = P(|Y| > c) / 2, so that p <= 1/2. It falls with c and is never 0. In S2 r is 1. But W_j(v) tends to r W_j(u), r their correlation: taken
    with r = 1, Y depends on W_j(u), and the chances come out too small, by 7 % of all flips at cosine 0.9 (docs/simhash.md).
    """

    step: float
    logs: Floats  # (CELLS + 1,)
    slope: float  # of log p beyond the last step: tails fall exponentially (Sood & Loguinov, section 4)
    sample: int = 0  # how many differences it was learned from

    @classmethod
    def learn(cls, left: ArrayLike, right: ArrayLike) -> "Flips":
        """From the projections of near pairs, row i of `left` with row i of `right`, both (pairs, bits), of which `left` will be the queries.

        The chance at each |y| of the sample is (number of |Y| >= |y|, plus 1/2) / (2 (sample + 1)): never 0, however few the pairs.
        """
        one, other = np.asarray(left, np.float64), np.asarray(right, np.float64)
        if one.shape != other.shape:
            raise BadInput(f"projections have shapes {one.shape} and {other.shape}; allowed: equal shapes, row by row the two documents of a pair")
        if not (np.isfinite(one).all() and np.isfinite(other).all()):
            raise BadInput("a projection is not finite; allowed: what SimHash.sketch(..., keep=True) gives")
        shared, own = float(np.vdot(one, other)), float(np.vdot(one, one))
        if shared <= 0:
            raise BadInput(f"the projections of the {len(one)} pairs are not positively correlated; allowed: near pairs")
        y = np.abs(one - other * (own / shared)).reshape(-1)
        y.sort()
        if not y.any():
            raise BadInput(f"the {len(one)} pairs have the same projections throughout; allowed: near pairs that differ somewhere, or Flips.normal(scale)")
        return cls._through(y)

    @classmethod
    def normal(cls, scale: float) -> "Flips":
        """For want of a sample: Y normal with standard deviation `scale`. Among documents of cosine s, scale = sqrt(1 / s^2 - 1)."""
        if not 0 < scale < np.inf:
            raise BadOption(f"scale is {scale}; allowed: more than 0, and finite")
        upper = NormalDist()
        logs = np.log([upper.cdf(-REACH * i / CELLS) for i in range(CELLS + 1)])
        step = scale * REACH / CELLS
        return cls(step, logs, float(logs[-1] - logs[-2]) / step)

    def probability(self, projections: ArrayLike) -> Floats:
        """p_j = P(Y > |W_j|) for each bit: more than 0, at most 1/2, in the shape of the projections."""
        return np.exp(self.log(projections))

    def log(self, projections: ArrayLike) -> Floats:
        """The logarithm of `probability`."""
        steps = np.abs(np.asarray(projections, np.float64)) / self.step
        cell = np.minimum(steps, CELLS - 1).astype(np.int64)
        inside = self.logs[cell] + (self.logs[cell + 1] - self.logs[cell]) * (steps - cell)
        beyond = self.logs[-1] + self.slope * self.step * (steps - CELLS)
        return np.maximum(np.where(steps < CELLS, inside, beyond), LEAST)

    @classmethod
    def _through(cls, y: Floats) -> "Flips":
        """The curve of an ascending sample of |Y|, some of it above 0."""
        n = len(y)
        knots, first = np.unique(y[y > 0], return_index=True)
        zeros = int(np.searchsorted(y, 0, side="right"))
        chances = np.concatenate([[n - zeros], n - zeros - first]) + 0.5
        knots = np.concatenate([[0.0], knots])
        top = float(y[max(min(n - 1, int(n * (1 - TAIL))), zeros)])
        above = y[y >= top] - top
        decay = max(float(above.mean()), top / CELLS)  # one value, or equal ones, have no mean excess
        logs = np.interp(np.linspace(0, top, CELLS + 1), knots, np.log(chances / (2 * (n + 1))))
        return cls(top / CELLS, logs, -1 / decay, n)
