"""What a report is made of."""

from dataclasses import dataclass

from twinset.estimate.certificate import Certificate
from twinset.passages import Passage, Span


@dataclass(frozen=True)
class DocumentEntry:
    """A document of the report: one that was read, or one that has a `problem` and was not."""

    name: str
    text: str = ""
    size: int = 0  # distinct shingles; 0 for an empty document
    ignored: tuple[Span, ...] = ()  # characters that are a template's
    problem: str | None = None  # why it could not be read
    note: str | None = None  # what the reader should know of it


@dataclass(frozen=True)
class PairEntry:
    """Two documents, by their place in ReportData.documents, and what they share."""

    left: int
    right: int
    resemblance: float
    low: float
    high: float
    containment_left: float  # of the left document's shingles, the share that the right one has
    containment_right: float
    passages: tuple[Passage, ...] = ()
    group: int | None = None

    @property
    def longest(self) -> int:
        """Words of the longest passage."""
        return max((passage.words for passage in self.passages), default=0)

    @property
    def containment(self) -> float:
        """The greater of both containments: high when one document is a part of the other."""
        return max(self.containment_left, self.containment_right)


@dataclass(frozen=True)
class ReportData:
    """All that a report says. Until the reader sorts them otherwise, pairs are listed by what `by` says, the highest first."""

    documents: tuple[DocumentEntry, ...]
    pairs: tuple[PairEntry, ...]
    threshold: float
    certificate: Certificate | None = None
    title: str = "Documents that repeat one another"
    by: str = "resemblance"  # or "containment": what the threshold is on
    unit: str = "words"  # or "characters": what the lengths of passages count
    ignored: int = 0  # shingles left out as a template's
    why: str = ""  # which search this was, and why
    about: str = ""  # at which settings
    date: str = ""
    facts: tuple[tuple[str, str], ...] = ()  # further lines of the summary: a label and a text
    anonymise: bool = False  # show codes for names

    @property
    def shown(self) -> list[int]:
        """Documents that are in a pair: only their texts are in the report."""
        return sorted({d for pair in self.pairs for d in (pair.left, pair.right)})
