"""Plain text in whatever encoding: .txt, .md and .tex are compared as they stand."""

import re
from typing import BinaryIO

from twinset.documents.confinement import Limits, Text, Unreadable, size_text
from twinset.documents.encodings import decode

CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
MOST_CONTROL = 0.01  # share of characters that control devices, above which a file is no text
WIDEST = 4  # bytes of a character in UTF-32


def read(file: BinaryIO, limits: Limits) -> Text:
    data = file.read(WIDEST * limits.text + 1)
    if len(data) > WIDEST * limits.text:
        raise Unreadable(f"holds more than {size_text(limits.text)} of text")
    text, encoding, malformed = decode(data)
    control = len(CONTROL.findall(text))
    if control > MOST_CONTROL * len(text) or malformed > len(text) / 4:
        raise Unreadable("is binary data of no known format")
    return Text(CONTROL.sub("", text) if control else text, f"{malformed} malformed characters (read as {encoding})" if malformed else None)
