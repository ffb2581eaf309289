"""Everything that changes a result, declared once: defaults, help texts, checks, and the fingerprint that keeps unequal sketches apart."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from twinset.errors import BadOption
from twinset.layout import Layout, parse

SCHEME = 1  # goes up when any hash, table or rule behind a sketch changes
UNICODE = "15.1.0"
FAMILIES = ("production", "modular", "jenkins", "universal", "tabulation", "permutations")
SIZES = ("exact", "8", "4")
MAX_SHINGLE = 1 << 16
MAX_UNIVERSE = 1 << 26


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Config:
    """A frozen set of options. Threads, batch sizes and progress are not here: they change no result."""

    bits: str = _option("1.5", "Bits kept of each sample: '64', '8', '1.5', '1/2', '3/4' or a mixture such as '1.5=1:0.75+3:0.25'.")
    samples: int = _option(1024, "Samples in a sketch.")
    shingle: str = _option("words:5", "What a shingle is: 'words:W' or 'chars:K'.")
    case: bool = _option(False, "Keep upper and lower case apart.")
    space: bool = _option(True, "In 'chars:K', count a run of white space as one character; otherwise drop it.")
    seed: int = _option(42, "Seed of the hash functions.")
    family: str = _option("production", f"Hash family: {', '.join(FAMILIES)}. All but the first are for study.")
    universe: int = _option(0, "For the family 'permutations': the number of possible elements, 0 to universe - 1.")
    sizes: str = _option("exact", "How set sizes are stored beside a sketch: exact, or in 8 or 4 bits.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", str(self.bits))
        object.__setattr__(self, "sizes", str(self.sizes))
        parse(self.bits, self.samples)
        _split_shingle(self.shingle)
        if not 0 <= self.seed < 1 << 64:
            raise BadOption(f"seed is {self.seed}; allowed: 0 to 2^64 - 1")
        for name, allowed in (("family", FAMILIES), ("sizes", SIZES)):
            if getattr(self, name) not in allowed:
                raise BadOption(f"{name} is {getattr(self, name)!r}; allowed: {', '.join(allowed)}")
        if (self.family == "permutations") != (self.universe > 0) or not 0 <= self.universe <= MAX_UNIVERSE:
            raise BadOption(f"universe is {self.universe}; allowed: 1 to {MAX_UNIVERSE} with family 'permutations', 0 with any other")

    @cached_property
    def layout(self) -> Layout:
        """The components of the sketch."""
        return parse(self.bits, self.samples)

    @property
    def unit(self) -> str:
        """What shingles are made of: "words" or "chars"."""
        return _split_shingle(self.shingle)[0]

    @property
    def width(self) -> int:
        """How many words or characters make a shingle."""
        return _split_shingle(self.shingle)[1]

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that differ whenever two configurations could give different sketches."""
        text = json.dumps({"scheme": SCHEME, "unicode": UNICODE, **self.to_dict()}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def help(cls, name: str) -> str:
        """The help text of one option."""
        text: str = next(option.metadata["help"] for option in fields(cls) if option.name == name)
        return text


def _split_shingle(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(words|chars):([0-9]{1,6})", text)
    if not match or not 1 <= int(match[2]) <= MAX_SHINGLE:
        raise BadOption(f"shingle is {text!r}; allowed: 'words:W' or 'chars:K' with a number from 1 to {MAX_SHINGLE}")
    return match[1], int(match[2])
