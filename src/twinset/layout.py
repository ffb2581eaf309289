"""Sketch layouts: how many samples, of how many bits, each the XOR of how many permutations (theory.md, section 3)."""

import re
from dataclasses import dataclass
from fractions import Fraction

from twinset.errors import BadLayout

WORD = 64
MAX_SAMPLES = 1 << 24
MAX_XOR = 64
MAX_TEXT = 200
ALLOWED = "allowed: 1 to 32 or 64 bits ('8'), a fractional number of bits ('1.5'), part of a bit ('1/2', '3/4'), a mixture ('1.5=1:0.75+3:0.25')"


@dataclass(frozen=True)
class Component:
    """`samples` samples of `bits` bits, each the XOR of `xor` permutations (`xor` > 1 only with one bit)."""

    samples: int
    bits: int
    xor: int = 1

    @property
    def lanes(self) -> int:
        """Permutations that the component consumes."""
        return self.samples * self.xor

    @property
    def words(self) -> int:
        """64-bit words that the packed component fills."""
        return -(-self.samples // WORD) * self.bits


@dataclass(frozen=True)
class Layout:
    """The components of a sketch in storage order, and the text that asked for them."""

    text: str
    components: tuple[Component, ...]

    @property
    def samples(self) -> int:
        return sum(part.samples for part in self.components)

    @property
    def lanes(self) -> int:
        return sum(part.lanes for part in self.components)

    @property
    def words(self) -> int:
        return sum(part.words for part in self.components)

    @property
    def bits(self) -> Fraction:
        """Stored bits for each sample, on average."""
        return Fraction(sum(part.samples * part.bits for part in self.components), self.samples)

    @property
    def whole(self) -> bool:
        """Whether every minimum is kept whole, so that sketches of two sets merge into the sketch of their union."""
        return {part.bits for part in self.components} in ({32}, {WORD})


def parse(text: str, samples: int) -> Layout:
    """Read a layout ("64", "1.5", "1/2", "3/4", "1.5=1:0.75+3:0.25") for `samples` samples."""
    if not 1 <= samples <= MAX_SAMPLES:
        raise BadLayout(f"samples is {samples}; allowed: 1 to {MAX_SAMPLES}")
    multiple = step(text)
    if samples % multiple:
        near = samples - samples % multiple
        raise BadLayout(f"layout {text!r} cannot divide {samples} samples; allowed: multiples of {multiple}, such as {near or multiple} or {(near or multiple) + multiple}")
    return Layout(text, tuple(Component(int(share * samples), bits, xor) for bits, xor, share in _parts(text)))


def step(text: str) -> int:
    """The smallest number of samples the layout divides; the allowed numbers are its multiples."""
    result = 1
    for _, _, share in _parts(text):
        result *= (share * result).denominator
    return result


def _parts(text: str) -> list[tuple[int, int, Fraction]]:
    """The (bits, xor, share) of each component."""
    if not text.isascii() or len(text) > MAX_TEXT:
        raise BadLayout(f"layout {text[:MAX_TEXT]!r} is not a number of bits; {ALLOWED}")
    name, equals, mixture = text.rpartition("=")
    if "+" not in mixture and ":" not in mixture and not equals:
        return _short(text)
    parts = []
    for piece in mixture.split("+"):
        kind, _, share = piece.partition(":")
        parts.append((*_kind(kind, text), _number(share, text)))
    total = sum(share for _, _, share in parts)
    if total != 1 or any(share <= 0 for _, _, share in parts):
        raise BadLayout(f"layout {text!r}: the shares add up to {float(total):g}; allowed: positive shares that add up to 1")
    mean = sum(Fraction(bits, xor) * share for bits, xor, share in parts)
    if equals and _number(name, text) != mean:
        raise BadLayout(f"layout {text!r}: the parts average {float(mean):g} bits, not {name}; allowed: the name before '=' equal to that average, or no name")
    return parts


def _short(text: str) -> list[tuple[int, int, Fraction]]:
    """A layout without explicit shares: whole, fractional by floor and ceiling, 1/m, or 3/4."""
    if text == "3/4":
        return [(1, 2, Fraction(1, 2)), (1, 1, Fraction(1, 2))]
    if not re.fullmatch(r"\d+\.\d+", text):
        return [(*_kind(text, text), Fraction(1))]
    value = Fraction(text)
    floor, rest = int(value), value - int(value)
    if rest == 0:
        return [(*_kind(str(floor), text), Fraction(1))]
    if not 1 <= floor < 32:
        raise BadLayout(f"layout {text!r} is not a number of bits; {ALLOWED}")
    return [(floor, 1, 1 - rest), (floor + 1, 1, rest)]


def _kind(text: str, whole: str) -> tuple[int, int]:
    """The (bits, xor) of "8" or "1/4"."""
    bits, slash, xor = text.partition("/")
    if bits.isascii() and bits.isdigit():
        if slash and xor.isascii() and xor.isdigit() and int(bits) == 1 and 1 <= int(xor) <= MAX_XOR:
            return 1, int(xor)
        if not slash and (1 <= int(bits) <= 32 or int(bits) == WORD):
            return int(bits), 1
    raise BadLayout(f"layout {whole!r} is not a number of bits; {ALLOWED}")


def _number(text: str, whole: str) -> Fraction:
    if not re.fullmatch(r"\d+(\.\d+|/[1-9]\d*)?", text):
        raise BadLayout(f"layout {whole!r}: {text!r} is not a number; {ALLOWED}")
    return Fraction(text)
