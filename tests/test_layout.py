"""Layout texts: every documented form becomes the components it stands for, and everything else is refused with a reason."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.errors import BadLayout
from twinset.layout import MAX_SAMPLES, MAX_XOR, Component, Layout, parse, step

FORMS = [
    ("64", 100, [(100, 64, 1)]),
    ("1", 3, [(3, 1, 1)]),
    ("8", 1024, [(1024, 8, 1)]),
    ("32", 1, [(1, 32, 1)]),
    ("8.0", 7, [(7, 8, 1)]),
    ("64.0", 7, [(7, 64, 1)]),
    ("1.5", 1024, [(512, 1, 1), (512, 2, 1)]),
    ("1.25", 1024, [(768, 1, 1), (256, 2, 1)]),
    ("10.4", 10, [(6, 10, 1), (4, 11, 1)]),
    ("31.5", 4, [(2, 31, 1), (2, 32, 1)]),
    ("1/2", 9, [(9, 1, 2)]),
    ("1/3", 9, [(9, 1, 3)]),
    ("1/1", 9, [(9, 1, 1)]),
    (f"1/{MAX_XOR}", 9, [(9, 1, MAX_XOR)]),
    ("3/4", 1000, [(500, 1, 2), (500, 1, 1)]),
    ("1.5=1:0.75+3:0.25", 1000, [(750, 1, 1), (250, 3, 1)]),
    ("1:0.75+3:0.25", 1000, [(750, 1, 1), (250, 3, 1)]),
    ("1.5=1:3/4+3:1/4", 1000, [(750, 1, 1), (250, 3, 1)]),
    ("8:1", 5, [(5, 8, 1)]),
    ("8=8:1.0", 5, [(5, 8, 1)]),
    ("2=1:0.5+2:0.25+4:0.25", 8, [(4, 1, 1), (2, 2, 1), (2, 4, 1)]),
    ("0.75=1/2:0.5+1:0.5", 8, [(4, 1, 2), (4, 1, 1)]),
    ("5/4=1/2:0.5+2:0.5", 8, [(4, 1, 2), (4, 2, 1)]),
    ("1:1/3+2:1/3+3:1/3", 9, [(3, 1, 1), (3, 2, 1), (3, 3, 1)]),
    ("32:0.5+64:0.5", 2, [(1, 32, 1), (1, 64, 1)]),
]


@pytest.mark.parametrize(("text", "samples", "components"), FORMS)
def test_every_documented_form(text, samples, components):
    assert parse(text, samples) == Layout(text, tuple(Component(*part) for part in components))


NO_NUMBER = ["0", "33", "63", "65", "-1", "+8", "", " ", "8 ", " 8", "8\n", "x", "1.", ".5", "0.5", "0.0", "32.5", "63.5", "64.5", "1e1", "1,5", "1_0", "1.5.5", "٨", "١.٥", "²"]
NO_PART = ["1/0", "1/3x", "1/65", "1/", "/2", "1/-2", "2/2", "2/3", "3/5", "1//2", "1/2/2", "0/2", "1/1.5"]
NO_MIXTURE = [
    "1:",
    ":1",
    "+",
    "1+2",
    "1:0.5+",
    "0:0.5+1:0.5",
    "33:0.5+1:0.5",
    "3/4:1",
    "1.5:1",
    "=",
    "1.5=",
    "=1:1",
    "x=1:1",
    "1=1=1:1",
    "1:0.5:0.5",
    "1:-0.5+2:1.5",
    "1:.5+2:.5",
    "1:1/0",
]
ENDLESS = ["9" * 5000, "1." + "5" * 5000, "1:0." + "3" * 5000 + "+2:0.5"]


@pytest.mark.parametrize("text", NO_NUMBER + NO_PART + NO_MIXTURE + ENDLESS)
def test_what_describes_no_sketch_is_refused(text):
    with pytest.raises(BadLayout, match=r"^layout '(?s:.*) is not a number.*; allowed: 1 to 32 or 64 bits \('8'\), a fractional number") as caught:
        parse(text, 64)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("text", "total"), [("1.5=1:0.7+2:0.7", "1.4"), ("1:0.5+2:0.4", "0.9"), ("1:2", "2"), ("1:0+2:1", "1"), ("8:0", "0")])
def test_shares_that_do_not_add_up_are_refused(text, total):
    with pytest.raises(BadLayout, match=rf"^layout '.*': the shares add up to {total}; allowed: positive shares that add up to 1$"):
        parse(text, 64)


@pytest.mark.parametrize(("text", "mean", "name"), [("2=1:0.5+2:0.5", "1.5", "2"), ("1=1/2:1", "0.5", "1"), ("1.6=1:0.75+3:0.25", "1.5", "1.6")])
def test_a_name_that_is_not_the_average_is_refused(text, mean, name):
    with pytest.raises(BadLayout, match=rf"the parts average {mean} bits, not {name}; allowed: the name before '=' equal to that average, or no name$"):
        parse(text, 64)


@pytest.mark.parametrize(
    ("text", "samples", "multiple", "such"),
    [
        ("1.5", 1023, 2, "1022 or 1024"),
        ("1.5", 1, 2, "2 or 4"),
        ("3/4", 7, 2, "6 or 8"),
        ("1.25", 1022, 4, "1020 or 1024"),
        ("1.05", 30, 20, "20 or 40"),
        ("1:1/3+2:2/3", 10, 3, "9 or 12"),
    ],
)
def test_samples_that_a_mixture_cannot_divide_are_refused(text, samples, multiple, such):
    with pytest.raises(BadLayout, match=f"^layout '.*' cannot divide {samples} samples; allowed: multiples of {multiple}, such as {such}$"):
        parse(text, samples)


@pytest.mark.parametrize("samples", [0, -1, -1024, MAX_SAMPLES + 1])
def test_a_number_of_samples_out_of_range_is_refused(samples):
    with pytest.raises(BadLayout, match=f"^samples is {samples}; allowed: 1 to {MAX_SAMPLES}$"):
        parse("8", samples)


def test_the_numbers_of_samples_at_both_ends_are_allowed():
    assert parse("8", 1).samples == 1
    assert parse("1.5", MAX_SAMPLES).samples == MAX_SAMPLES


@pytest.mark.parametrize(("text", "expected"), [("8", 1), ("1/3", 1), ("1.5", 2), ("3/4", 2), ("1.25", 4), ("10.4", 5), ("1:1/4+2:1/6+3:7/12", 12)])
def test_step_is_the_smallest_number_of_samples(text, expected):
    assert step(text) == expected
    allowed = [samples for samples in range(1, 3 * expected + 1) if divides(text, samples)]
    assert allowed == [expected, 2 * expected, 3 * expected]


def divides(text, samples):
    try:
        return parse(text, samples).samples == samples
    except BadLayout:
        return False


def test_a_component_counts_lanes_and_words():
    """Whole blocks of 64 samples are stored, each of `bits` words."""
    assert [Component(samples, 3).words for samples in (1, 63, 64, 65, 128, 129)] == [3, 3, 3, 6, 6, 9]
    assert Component(65, 1, 4).lanes == 260
    assert Component(65, 1, 4).words == 2


@pytest.mark.parametrize(
    ("text", "samples", "lanes", "words", "bits"),
    [
        ("64", 128, 128, 128, Fraction(64)),
        ("1.5", 1024, 1024, 24, Fraction(3, 2)),
        ("1.5", 64, 64, 3, Fraction(3, 2)),
        ("1/2", 1024, 2048, 16, Fraction(1)),
        ("3/4", 1024, 1536, 16, Fraction(1)),
        ("10.4", 1000, 1000, 10 * 10 + 7 * 11, Fraction(52, 5)),
    ],
)
def test_a_layout_adds_its_components_up(text, samples, lanes, words, bits):
    """An XOR of m permutations stores one bit for each sample, so bits is 1 for "1/2" and "3/4"."""
    layout = parse(text, samples)
    assert (layout.samples, layout.lanes, layout.words, layout.bits) == (samples, lanes, words, bits)


@pytest.mark.parametrize(
    ("text", "whole"), [("32", True), ("64", True), ("32.0", True), ("64:0.5+64:0.5", True), ("32:0.5+64:0.5", False), ("31", False), ("31.5", False), ("1/2", False)]
)
def test_only_whole_minima_can_merge(text, whole):
    assert parse(text, 64).whole is whole


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(100, 3199), st.integers(1, 20))
def test_a_fractional_layout_has_the_bits_it_is_named_after(hundredths, times):
    text = f"{hundredths / 100:.2f}"
    layout = parse(text, step(text) * times)
    assert layout.bits == Fraction(text)
    assert {part.bits for part in layout.components} <= {int(Fraction(text)), int(Fraction(text)) + 1}
    assert layout.samples == step(text) * times


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 32), st.integers(1, 9)), min_size=1, max_size=5))
def test_an_explicit_mixture_has_the_shares_it_states(pieces):
    total = sum(weight for _, weight in pieces)
    layout = parse("+".join(f"{bits}:{weight}/{total}" for bits, weight in pieces), total)
    assert [(part.bits, part.samples) for part in layout.components] == pieces


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text("0123456789./:+=- x", max_size=12), st.integers(1, 64))
def test_any_other_text_is_a_layout_or_a_bad_layout(text, samples):
    """No input ends in an error of another kind."""
    try:
        outcome = parse(text, samples).samples
    except BadLayout as error:
        outcome = str(error)
    assert outcome == samples or "allowed: " in str(outcome)
