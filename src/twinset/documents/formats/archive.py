"""Zip archives as containers of a document's parts: looked into, never unpacked to disk, and counted while they are read."""

import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from twinset.documents.confinement import Limits, Unreadable, size_text

BLOCK = 1 << 16
GRACE = 16 << 20  # bytes below which no ratio is suspicious
RATIO = 300  # XML seldom packs better than 50 to 1; a bomb packs about 1000 to 1
ENCRYPTED = 1
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, KeyError, IndexError)


class Archive:
    """The parts of a zip file by name, without regard to case and to the kind of slash. Archives within it are not opened."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as error:
            raise Unreadable(f"is truncated or damaged: {_reason(error)}") from None
        self._limits = limits
        self._unpacked = 0
        self.parts = {info.filename.replace("\\", "/").lstrip("/").lower(): info for info in self._zip.infolist()}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.parts

    def blocks(self, name: str) -> Iterator[bytes]:
        """The bytes of a part, a block at a time; refuses what unpacks to more than the limits, whatever the archive claims."""
        info = self.parts.get(name.lower())
        if info is None:
            raise Unreadable(f"is damaged: it has no part {name}")
        if info.flag_bits & ENCRYPTED:
            raise Unreadable("is encrypted: opening it needs a password")
        size = 0
        try:
            with self._zip.open(info) as part:
                while block := part.read(BLOCK):
                    size += len(block)
                    self._count(name, len(block), size, info.compress_size)
                    yield block
        except DAMAGED as error:
            raise Unreadable(f"is truncated or damaged: part {name}: {_reason(error)}") from None

    def read(self, name: str) -> bytes:
        """The bytes of a part."""
        return b"".join(self.blocks(name))

    def _count(self, name: str, block: int, size: int, packed: int) -> None:
        self._unpacked += block
        if size > GRACE and size > RATIO * max(packed, 1):
            raise Unreadable(f"is a zip bomb: part {name} unpacks to more than {RATIO} times its size")
        if self._unpacked > self._limits.unpacked:
            raise Unreadable(f"unpacks to more than {size_text(self._limits.unpacked)}")


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
