"""Every error a user can cause, named by what has to change. The command line prints these as one line; any other exception is a bug."""


class TwinsetError(Exception):
    """Base of all errors that a change of input, option or installation puts right."""


class BadOption(TwinsetError):
    """An option has a value outside what is allowed."""


class BadLayout(BadOption):
    """A layout string does not describe a sketch."""


class UnreachableRecall(BadOption):
    """No banding of the samples finds pairs at the threshold as often as asked."""


class BadInput(TwinsetError):
    """An input file or value cannot be read as what it should be."""


class MissingColumn(BadInput):
    """A table has no column of the requested name."""


class BadText(BadInput):
    """A text is not valid UTF-8 and `strict` was asked for."""


class IncompatibleSketches(TwinsetError):
    """Two groups of sketches were made under different configurations."""


class CannotMerge(TwinsetError):
    """The layout does not keep enough of each minimum to form the sketch of a union."""


class MissingExtra(TwinsetError):
    """An optional dependency is needed and not installed."""


class TooManyPairs(TwinsetError):
    """The answer would hold more pairs than the caller allows."""
