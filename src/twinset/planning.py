"""The verb `plan`: the planner's formulas, joined with the speed of this machine."""

from dataclasses import replace

from numpy.typing import ArrayLike

from twinset.estimate.planner import Demand, Plan, choose, within
from twinset.estimate.similarities import Similarities
from twinset.sketch.speed import ns_per_shingle


def plan(
    threshold: float,
    *,
    bytes: int | None = None,
    error: float | None = None,
    precision: float | None = None,
    similarities: str | ArrayLike | None = None,
    permutations: int | None = None,
    lowest: float | None = None,
    r1: float = 0.0,
    r2: float = 0.0,
    measure: bool = False,
) -> Plan:
    """Choose a layout for deciding whether pairs resemble each other by `threshold` or more: a Plan, whose `.best` has the options of MinHash.

    Give exactly one of `bytes` (packed samples of one document), `error` (standard error at the threshold) and `precision` (the share of pairs estimated at
    or above the threshold that truly are, given `similarities`: an array of resemblances, '0:0.9+0.5:0.05+0.85:0.05' or 'beta:0.5,5').
    `permutations` limits the work for each shingle; by default 4 for each stored bit. A layout must tell the resemblance `lowest` from nothing; by default
    that is 0.1 below the threshold. r1 and r2 are the densities of the sets in a finite universe. `measure` times each layout on this machine.
    """
    within("threshold", threshold, 0, 1)
    stated = None if similarities is None else Similarities.read(similarities, threshold)
    found = choose(Demand(threshold, bytes, error, precision, permutations, lowest, stated, r1, r2))
    if not measure:
        return found
    return replace(found, choices=tuple(replace(choice, ns_per_shingle=ns_per_shingle(choice.bits, choice.samples)) for choice in found))
