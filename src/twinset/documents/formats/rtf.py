"""Rich Text (.rtf): a reader of its own, since text in it may be in the encoding of each font, of which smaller readers know only one."""

import re
from dataclasses import dataclass, replace
from typing import BinaryIO

from twinset.documents.confinement import Limits, Text, Unreadable, size_text

TOKEN = re.compile(rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([\r\n]+)|([^\\{}\r\n]+)|(\\)", re.S)
DEEPEST = 1000
CHARSETS = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254", 163: "cp1258"},
    **{177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"},
}
WORDS = {
    **dict.fromkeys(("par", "line", "sect", "page", "row", "nestrow", "column"), "\n"),
    **dict.fromkeys(("tab", "cell", "nestcell"), "\t"),
    **{"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " "},
}
SYMBOLS = {b"~": "\xa0", b"_": "-", b"\n": "\n", b"\r": "\n", b"\t": "\t"}
LITERAL = b"\\{}"
UNSEEN = frozenset(
    (
        *("colortbl", "stylesheet", "info", "pict", "nonshppict", "object", "annotation", "atnid", "atnauthor", "pntext", "listtext", "sp", "fldinst", "filetbl", "pgdsctbl"),
        *("themedata", "colorschememapping", "datastore", "xmlnstbl", "listtable", "listoverridetable", "revtbl", "rsidtbl", "generator", "operator", "bkmkstart", "bkmkend"),
    )
)
SEEN_THOUGH_OPTIONAL = frozenset(("shpinst", "footnote", "shptxt", "fldrslt"))


@dataclass(frozen=True)
class State:
    """What a group inherits and its end restores."""

    unseen: bool = False
    fonts: bool = False  # within the table of fonts
    encoding: str = "cp1252"
    after_unicode: int = 1  # characters that stand in for each \\u, for readers without Unicode


class Reader:
    """Goes through the tokens once; characters gather as bytes until the encoding changes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.state, self.stack = State(), list[State]()
        self.default = "cp1252"
        self.fonts: dict[int, str] = {}
        self.font = 0
        self.optional = False  # the group begins with \\*
        self.skip = 0
        self.bytes = bytearray()
        self.out: list[str] = []
        self.size = 0

    def read(self, data: bytes) -> str:
        position = 0
        while position < len(data) and (token := TOKEN.match(data, position)):
            position = token.end()
            word, number, code, symbol, brace, _, plain, _ = token.groups()
            if word is not None:
                value = int(number) if number else None
                if word == b"bin":
                    position += max(value or 0, 0)
                else:
                    self.word(word.decode("ascii"), value)
            elif brace:
                self.group(brace == b"{")
            elif code or plain:
                self.characters(bytes((int(code, 16),)) if code else plain)
            elif symbol:
                self.symbol(symbol)
        self.flush()
        return "".join(self.out).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def group(self, opens: bool) -> None:
        self.flush()
        self.optional, self.skip = False, 0
        if opens:
            self.stack.append(self.state)
            if len(self.stack) > DEEPEST:
                raise Unreadable(f"is nested more than {DEEPEST} groups deep")
        elif self.stack:
            self.state = self.stack.pop()

    def symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self.optional = True
        elif symbol in LITERAL:
            self.characters(symbol)
        else:
            self.write(SYMBOLS.get(symbol, ""))

    def word(self, word: str, value: int | None) -> None:
        self.flush()
        optional, self.optional = self.optional, False
        if word in UNSEEN or (optional and word not in SEEN_THOUGH_OPTIONAL):
            self.state = replace(self.state, unseen=True)
        elif word == "fonttbl":
            self.state = replace(self.state, unseen=True, fonts=True)
        elif word == "u" and value is not None:
            self.write(chr(value % 0x10000))
            self.skip = self.state.after_unicode
        elif word == "uc" and value is not None:
            self.state = replace(self.state, after_unicode=max(value, 0))
        elif word in WORDS:
            self.write(WORDS[word])
        else:
            self._encoding(word, value)

    def _encoding(self, word: str, value: int | None) -> None:
        """Words that say in which encoding the characters are: of the document, of a font, or by choice of a font."""
        if word == "ansicpg" and value:
            self.default = {936: "gb18030", 950: "big5hkscs", 65001: "utf-8", 10000: "mac_roman"}.get(value, f"cp{value}")
            self.state = replace(self.state, encoding=self.default)
        elif word in ("mac", "pc", "pca"):
            self.default = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
            self.state = replace(self.state, encoding=self.default)
        elif word == "f" and value is not None:
            self.font = value
            if not self.state.fonts:
                self.state = replace(self.state, encoding=self.fonts.get(value, self.default))
        elif word == "fcharset" and value is not None and self.state.fonts:
            self.fonts[self.font] = CHARSETS.get(value, self.default)
        elif word == "plain":
            self.state = replace(self.state, encoding=self.fonts.get(0, self.default))
        elif word == "deleted" and value != 0:
            self.state = replace(self.state, unseen=True)

    def characters(self, found: bytes) -> None:
        if self.skip:
            skipped = min(self.skip, len(found))
            self.skip -= skipped
            found = found[skipped:]
        if not self.state.unseen:
            self.bytes += found

    def flush(self) -> None:
        if self.bytes:
            try:
                text = self.bytes.decode(self.state.encoding, "replace")
            except LookupError:
                text = self.bytes.decode("latin-1")
            self.bytes.clear()
            self.write(text)

    def write(self, text: str) -> None:
        if self.bytes:
            self.flush()
        if not self.state.unseen:
            self.out.append(text)
            self.size += len(text)
            if self.size > self.limits.text:
                raise Unreadable(f"holds more than {size_text(self.limits.text)} of text")


def read(file: BinaryIO, limits: Limits) -> Text:
    data = file.read()
    reader = Reader(limits)
    text = reader.read(data)
    return Text(text, "ends in the middle: truncated" if reader.stack else None)
