"""Finds documents that are copies, near-copies or partial copies of each other, and says how sure it is.

Verbs and types are imported when first used, so that `import twinset` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from twinset.comparing import Comparison, compare, exact
    from twinset.config import Config
    from twinset.errors import TwinsetError
    from twinset.estimate.planner import Plan
    from twinset.estimate.resemblance import Estimate
    from twinset.grouping import groups
    from twinset.pairing import Pairs, pairs
    from twinset.planning import plan
    from twinset.sketch.minhash import MinHash
    from twinset.sketch.simhash import SimHash
    from twinset.sketch.sketches import Sketches
    from twinset.sketch.storing import load

_HOMES = {
    "Comparison": "comparing",
    "Config": "config",
    "Estimate": "estimate.resemblance",
    "MinHash": "sketch.minhash",
    "Pairs": "pairing",
    "Plan": "estimate.planner",
    "SimHash": "sketch.simhash",
    "Sketches": "sketch.sketches",
    "TwinsetError": "errors",
    "compare": "comparing",
    "exact": "comparing",
    "groups": "grouping",
    "load": "sketch.storing",
    "pairs": "pairing",
    "plan": "planning",
}

__all__ = [
    "Comparison",
    "Config",
    "Estimate",
    "MinHash",
    "Pairs",
    "Plan",
    "SimHash",
    "Sketches",
    "TwinsetError",
    "__version__",
    "compare",
    "exact",
    "groups",
    "load",
    "pairs",
    "plan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'twinset' has no attribute {name!r}")
    value = getattr(import_module(f"twinset.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
