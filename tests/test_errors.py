"""Errors: one base, named leaves, and messages that survive the trip from a worker process."""

import inspect
import pickle

import pytest

from twinset import errors
from twinset.config import Config
from twinset.errors import BadInput, BadLayout, BadOption, BadText, MissingColumn, TwinsetError

LEAVES = [value for _, value in inspect.getmembers(errors, inspect.isclass) if value is not TwinsetError]


def test_there_are_few_and_they_have_one_base():
    assert 5 <= len(LEAVES) <= 12
    assert all(issubclass(leaf, TwinsetError) and leaf.__module__ == "twinset.errors" for leaf in LEAVES)


def test_no_error_passes_for_a_bug():
    """The command line prints a TwinsetError as one line; a ValueError of Python or NumPy must not be caught with it."""
    assert TwinsetError.__bases__ == (Exception,)
    assert not any(issubclass(leaf, (ValueError, TypeError, KeyError, OSError)) for leaf in LEAVES)


@pytest.mark.parametrize(("special", "general"), [(BadLayout, BadOption), (MissingColumn, BadInput), (BadText, BadInput)])
def test_a_special_case_is_caught_by_its_general_name(special, general):
    with pytest.raises(general, match="^why$"):
        raise special("why")


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_error_says_when_it_is_raised(leaf):
    assert leaf.__doc__.endswith(".")
    assert leaf.__doc__ != TwinsetError.__doc__


@pytest.mark.parametrize("leaf", LEAVES)
def test_an_error_survives_pickling(leaf):
    again = pickle.loads(pickle.dumps(leaf("samples is 0; allowed: 1 or more")))
    assert type(again) is leaf
    assert str(again) == "samples is 0; allowed: 1 or more"


@pytest.mark.parametrize("options", [{"bits": "0"}, {"samples": 0}, {"samples": 3}, {"shingle": "x"}, {"seed": -1}, {"family": "x"}, {"universe": 1}, {"sizes": "x"}], ids=str)
def test_every_refused_option_is_told_in_one_line(options):
    """What is wrong, the value seen, what is allowed."""
    with pytest.raises(BadOption, match=r"^[^\n]*; allowed: [^\n]*$") as caught:
        Config(**options)
    assert str(next(iter(options.values()))) in str(caught.value)
