"""Everything that changes a result, declared once: defaults, help texts, checks, and the fingerprint that keeps unequal sketches apart."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from twinset.errors import BadOption
from twinset.layout import WORD, Layout, parse

SCHEME = 1  # goes up when any hash, table or rule behind a sketch changes
UNICODE = "15.1.0"
FAMILIES = ("production", "modular", "jenkins", "universal", "tabulation", "permutations")
SIZES = ("exact", "8", "4")
WEIGHTS = ("constant", "tf", "tfidf", "given")
SIM_BITS = (64, 128)
MAX_SHINGLE = 1 << 16
LEAST_MEMORY = 64 << 20
MAX_UNIVERSE = 1 << 26
SHINGLE_HELP = "What a shingle is: 'words:W' or 'chars:K'."


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class _Texts:
    """What every kind of sketch asks of its texts, and what every configuration can do."""

    shingle: str = _option("words:5", SHINGLE_HELP)
    case: bool = _option(False, "Keep upper and lower case apart.")
    space: bool = _option(True, "In 'chars:K', count a run of white space as one character; otherwise drop it.")
    seed: int = _option(42, "Seed of the hash functions.")

    def __post_init__(self) -> None:
        _split_shingle(self.shingle)
        if not 0 <= self.seed < 1 << 64:
            raise BadOption(f"seed is {self.seed}; allowed: 0 to 2^64 - 1")

    def _among(self, **options: tuple[str, ...]) -> None:
        """Refuse an option that is none of the words it allows."""
        for name, allowed in options.items():
            if getattr(self, name) not in allowed:
                raise BadOption(f"{name} is {getattr(self, name)!r}; allowed: {', '.join(allowed)}")

    @property
    def unit(self) -> str:
        """What shingles are made of: "words" or "chars"."""
        return _split_shingle(self.shingle)[0]

    @property
    def width(self) -> int:
        """How many words or characters make a shingle."""
        return _split_shingle(self.shingle)[1]

    @property
    def rules(self) -> dict[str, Any]:
        """What a sketch depends on besides the options."""
        return {"scheme": SCHEME, "unicode": UNICODE}

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that differ whenever two configurations could give different sketches."""
        return hashlib.sha256(json.dumps({**self.rules, **self.to_dict()}, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def help(cls, name: str) -> str:
        """The help text of one option."""
        text: str = next(option.metadata["help"] for option in fields(cls) if option.name == name)
        return text


@dataclass(frozen=True)
class Config(_Texts):
    """The options of MinHash, frozen. Threads, batch sizes and progress are not here: they change no result."""

    bits: str = _option("1.5", "Bits kept of each sample: '64', '8', '1.5', '1/2', '3/4' or a mixture such as '1.5=1:0.75+3:0.25'.")
    samples: int = _option(1024, "Samples in a sketch.")
    family: str = _option("production", f"Hash family: {', '.join(FAMILIES)}. All but the first are for study.")
    universe: int = _option(0, "For the family 'permutations': the number of possible elements, 0 to universe - 1.")
    sizes: str = _option("exact", "How set sizes are stored beside a sketch: exact, or in 8 or 4 bits.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", str(self.bits))
        object.__setattr__(self, "sizes", str(self.sizes))
        parse(self.bits, self.samples)
        super().__post_init__()
        self._among(family=FAMILIES, sizes=SIZES)
        if (self.family == "permutations") != (self.universe > 0) or not 0 <= self.universe <= MAX_UNIVERSE:
            raise BadOption(f"universe is {self.universe}; allowed: 1 to {MAX_UNIVERSE} with family 'permutations', 0 with any other")

    @cached_property
    def layout(self) -> Layout:
        """The components of the sketch."""
        return parse(self.bits, self.samples)


@dataclass(frozen=True)
class SimConfig(_Texts):
    """The options of SimHash, frozen."""

    bits: int = _option(64, "Bits of a fingerprint: 64 or 128.")
    weights: str = _option("tfidf", "Weight of a feature: constant, tf (how often it occurs), tfidf (and how few documents have it), or given by the caller.")
    shingle: str = _option("words:1", SHINGLE_HELP)
    gaussian: bool = _option(False, "Project on Gaussian directions instead of random signs: slower, and the law of the angle is exact for few features too.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._among(weights=WEIGHTS)
        if self.bits not in SIM_BITS:
            raise BadOption(f"bits is {self.bits!r}; allowed: {' or '.join(map(str, SIM_BITS))}")

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return self.bits // WORD

    @property
    def rules(self) -> dict[str, Any]:
        return {**super().rules, "sketch": "simhash"}


def _split_shingle(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(words|chars):([0-9]{1,6})", text)
    if not match or not 1 <= int(match[2]) <= MAX_SHINGLE:
        raise BadOption(f"shingle is {text!r}; allowed: 'words:W' or 'chars:K' with a number from 1 to {MAX_SHINGLE}")
    return match[1], int(match[2])


def parse_bytes(text: str) -> int:
    """A number of bytes: "4GB", "512MB", "1.5G", "800000000"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if size < LEAST_MEMORY:
        raise BadOption(f"memory is {text!r}; allowed: 64MB or more, such as 4GB")
    return size
