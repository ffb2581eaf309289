"""The planner against all layouts it names, tried one by one, and against the facts of theory.md, section 5."""

import json
from dataclasses import replace
from decimal import Decimal
from math import log

import numpy as np
import pytest
import reference_estimate as reference

import twinset
from twinset.errors import BadOption
from twinset.estimate.planner import NAMED, PER_BIT, TOLD, WORTH, Demand, choose
from twinset.estimate.similarities import Similarities, precision_recall
from twinset.estimate.variance import V3
from twinset.layout import WORD, parse
from twinset.layout import step as multiple
from twinset.planning import plan

STATED = "0:0.9+0.5:0.05+0.85:0.05"
SINGLE = [(b, 1) for b in (1, 2, 3, 4, 8, 16, 64)] + [(1, m) for m in (2, 3, 4, 8, 16)]


def told(components, resemblance):
    """How surely counts typical of R rule out 0 among sparse sets."""
    total = 0.0
    for part in components:
        p, q = float(reference.agreement(part, resemblance)), float(reference.agreement(part, 0))
        total += 2 * part[0] * (p * log(p / q) + (1 - p) * log((1 - p) / (1 - q)))
    return total


def fisher(components, R, r1=0.0, r2=0.0):
    """Information by a difference quotient."""
    R, step, total = Decimal(R), Decimal("1e-20"), Decimal(0)
    for part in components:
        below, p, above = (reference.agreement(part, R + shift, r1, r2) for shift in (-step, 0, step))
        total += part[0] * ((above - below) / (2 * step)) ** 2 / (p * (1 - p))
    return float(total)


def tuples(name, samples):
    return [(part.samples, part.bits, part.xor) for part in parse(name, samples).components]


def fits(name, samples, words, lanes):
    layout = parse(name, samples)
    return layout.words <= words and layout.lanes <= lanes


def every_named(threshold, words, lanes):
    """The most samples of each named layout that fit, counted up one by one, and their error, if they tell threshold - 0.1 from nothing."""
    found = {}
    for name in NAMED:
        unit = multiple(name)
        sizes = [samples for samples in range(unit, words * WORD + 1, unit) if fits(name, samples, words, lanes)]
        if sizes and told(tuples(name, sizes[-1]), max(threshold - 0.1, threshold / 2)) >= TOLD:
            found[name, sizes[-1]] = fisher(tuples(name, sizes[-1]), threshold) ** -0.5
    return found


@pytest.mark.parametrize(("threshold", "words", "permutations"), [(0.3, 8, None), (0.5, 4, None), (0.7, 4, 300), (0.8, 1, None), (0.9, 8, None), (0.9, 8, 512)])
def test_given_bytes_every_named_layout_that_fits_is_ranked_by_error(threshold, words, permutations):
    found = plan(threshold, bytes=8 * words, permutations=permutations)
    lanes = permutations or PER_BIT * WORD * words
    expected = every_named(threshold, words, lanes)
    ranked, least = [], np.inf
    for name, samples in sorted(expected, key=expected.get):
        if parse(name, samples).lanes < least:  # what costs no fewer permutations than a better one is left out
            ranked, least = [*ranked, (name, samples)], parse(name, samples).lanes
    named = [choice for choice in found if choice.bits in NAMED]
    assert [(choice.bits, choice.samples) for choice in named] == ranked
    assert [choice.error for choice in named] == pytest.approx([expected[key] for key in ranked], rel=1e-9)
    assert found.best is next(iter(found))
    assert len(found) - len(named) == (found.best.bits not in NAMED)
    assert found.best.error <= named[0].error


@pytest.mark.parametrize(("threshold", "words", "permutations"), [(0.15, 16, None), (0.2, 16, None), (0.5, 6, None), (0.8, 6, 700), (0.95, 4, None), (0.95, 4, 600)])
def test_no_mixture_of_two_kinds_in_whole_blocks_is_more_than_a_hundredth_better(threshold, words, permutations):
    best = plan(threshold, bytes=8 * words, permutations=permutations).best
    lanes = permutations or PER_BIT * WORD * words
    block = {kind: (fisher([(WORD, *kind)], threshold), told([(WORD, *kind)], max(threshold - 0.1, threshold / 2))) for kind in SINGLE}
    most = 0.0
    for one in SINGLE:
        for other in SINGLE:
            for i in range(words // one[0] + 1):
                for j in range((words - i * one[0]) // other[0] + 1):
                    if WORD * (i * one[1] + j * other[1]) <= lanes and i * block[one][1] + j * block[other][1] >= TOLD:
                        most = max(most, i * block[one][0] + j * block[other][0])
    assert best.error * WORTH <= most**-0.5
    assert best.bytes <= 8 * words
    assert best.permutations <= lanes


def test_one_bit_is_best_of_whole_bits_from_0_4_on_and_two_below():
    """The papers read 0.4 off a plot; the curves cross at 1/3."""
    whole = {str(b) for b in (1, 2, 3, 4, 8, 16, 32, 64)}
    for threshold in (0.25, 0.33, 0.34, 0.4, 0.7, 0.9):
        first = next(choice for choice in plan(threshold, bytes=512) if choice.bits in whole)
        assert first.bits == ("1" if threshold > 1 / 3 else "2")


def test_an_xor_of_two_beats_one_bit_at_equal_stored_bits_above_the_root_of_a_third():
    for threshold in (0.5, 0.577, 0.578, 0.8):
        one, two = plan(threshold, bytes=128, permutations=1024).best, plan(threshold, bytes=128, permutations=2048).best
        assert (one.bits, one.samples, one.bytes) == ("1", 1024, 128)
        assert two.bits == ("1/2" if threshold > 0.5774 else "1")
        assert (two.samples, two.bytes) == (1024, 128)
        assert (two.error < one.error) == (threshold > 0.5774)
    assert [plan(threshold, bytes=128).best.bits for threshold in (0.5, 0.6, 0.8)] == ["1", "1/2", "1/4"]


@pytest.mark.parametrize(
    ("threshold", "target", "permutations"), [(0.3, 0.02, None), (0.5, 0.03, None), (0.8, 0.02, None), (0.8, 0.03, 600), (0.9, 0.005, None), (0.05, 0.3, None)]
)
def test_every_choice_reaches_the_error_and_with_one_word_less_does_not(threshold, target, permutations):
    found = plan(threshold, error=target, permutations=permutations)
    for choice in found:
        words = choice.bytes // 8
        assert choice.error <= target
        assert choice.error == pytest.approx(fisher(tuples(choice.bits, choice.samples), threshold) ** -0.5, rel=1e-9)
        assert choice.permutations <= (permutations or choice.permutations)
        unit = multiple(choice.bits)
        smaller = [samples for samples in range(unit, choice.samples, unit) if fits(choice.bits, samples, words - 1, choice.permutations)]
        if smaller:
            components = tuples(choice.bits, smaller[-1])
            assert fisher(components, threshold) ** -0.5 > target or told(components, max(threshold - 0.1, threshold / 2)) < TOLD
    assert [choice.bytes for choice in found] == sorted(choice.bytes for choice in found)


def test_precision_is_reached_by_every_choice_in_the_fewest_bytes_first():
    found = plan(0.7, precision=0.95, similarities="0:0.8+0.6:0.15+0.75:0.05")
    stated = Similarities.read("0:0.8+0.6:0.15+0.75:0.05", 0.7)
    for choice in found:
        assert choice.precision >= 0.95
        assert (choice.precision, choice.recall) == precision_recall(parse(choice.bits, choice.samples), 0.7, stated)
    assert [choice.bytes for choice in found] == sorted(choice.bytes for choice in found)
    # Half of the bytes do not do.
    half = plan(0.7, bytes=found.best.bytes // 16 * 8, similarities="0:0.8+0.6:0.15+0.75:0.05")
    assert all(choice.precision < 0.95 for choice in half)


def test_a_choice_is_what_min_hash_takes_and_says_what_it_costs():
    for choice in plan(0.8, bytes=256, similarities=STATED):
        layout = parse(choice.bits, choice.samples)
        assert (choice.bytes, choice.permutations) == (8 * layout.words, layout.lanes)
        assert choice.bytes <= 256
        assert dict(choice.errors) == pytest.approx({at: float(V3(layout, at)) ** 0.5 for at in (0.7, 0.8, 0.9)}, rel=1e-12)
        assert choice.saving == pytest.approx(0.8 * 0.2 * 8 / choice.error**2 / choice.bytes, rel=1e-9)  # V of k whole values is R (1 - R) / k
        assert choice.storage_factor == pytest.approx(float(layout.bits) * choice.samples * choice.error**2, rel=1e-12)
        assert choice.lowest <= 0.7
        assert told(tuples(choice.bits, choice.samples), choice.lowest) == pytest.approx(TOLD, rel=1e-6)
        assert choice.ns_per_shingle is None
        assert choice.why


def test_the_budget_of_permutations_is_kept_and_what_it_costs_is_noted():
    free = plan(0.9, bytes=128)
    for budget in (64, 100, 1000, 2000, 100_000):
        found = plan(0.9, bytes=128, permutations=budget)
        assert all(choice.permutations <= budget for choice in found)
        assert any(f"limited to the budget of {budget};" in note for note in found.notes) == (budget < 8192)
    assert found.best.error < free.best.error
    assert free.best.permutations <= PER_BIT * 1024
    assert "permutations are limited to 4 for each stored bit" in free.notes[0]


def test_lowest_decides_how_blind_a_sketch_may_be():
    sharp, blind = plan(0.9, bytes=16, permutations=10**6, lowest=0.2), plan(0.9, bytes=16, permutations=10**6, lowest=0.89)
    assert blind.best.error < sharp.best.error
    assert blind.best.lowest > 0.2
    assert all(choice.lowest <= 0.2 + 1e-9 for choice in sharp)
    assert any("tells nothing below" in note for note in sharp.notes)


def test_densities_of_a_small_universe_change_the_errors():
    found = plan(0.7, bytes=128, r1=0.6, r2=0.5)
    for choice in found:
        assert choice.error == pytest.approx(fisher(tuples(choice.bits, choice.samples), 0.7, 0.6, 0.5) ** -0.5, rel=1e-9)
    sparse = plan(0.7, bytes=128)
    near = plan(0.7, bytes=128, r1=1e-10, r2=1e-10)
    assert [(choice.bits, choice.samples) for choice in near] == [(choice.bits, choice.samples) for choice in sparse]
    assert [choice.error for choice in near] == pytest.approx([choice.error for choice in sparse], rel=1e-8)


@pytest.mark.parametrize(
    ("threshold", "options"),
    [
        (0.05, {"bytes": 128}),
        (0.99, {"bytes": 64, "permutations": 10**6}),
        (1 - 1e-12, {"bytes": 8}),
        (0.8, {"precision": 0.9, "similarities": STATED}),
        (0.8, {"error": 0.05, "similarities": np.linspace(0, 1, 99)}),
        (0.95, {"bytes": 64, "r1": 0.9, "r2": 0.9}),
        (0.5, {"bytes": 128, "r1": 0.5, "r2": 0.3, "lowest": 0.1}),
    ],
)
def test_a_plan_is_plain_json_without_nan_and_infinity(threshold, options):
    found = plan(threshold, **options)
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written == found.to_dict() | {"best": written["best"], "runners_up": written["runners_up"]}
    assert [written["best"], *written["runners_up"]] == [json.loads(json.dumps(choice.to_dict())) for choice in found]
    assert (written["best"]["bits"], written["best"]["samples"], written["best"]["error"]) == (found.best.bits, found.best.samples, found.best.error)
    assert written["threshold"] == threshold
    assert written["lowest"] == found.demand.needed
    assert written["notes"] == list(found.notes)


def test_an_error_without_bound_is_null():
    choice = replace(plan(0.1, bytes=128).best, errors=((0.0, np.inf), (0.1, 0.02)))
    assert json.loads(json.dumps(choice.to_dict(), allow_nan=False))["errors"] == [{"resemblance": 0, "error": None}, {"resemblance": 0.1, "error": 0.02}]


@pytest.mark.compiled
def test_measuring_times_every_choice_on_this_machine():
    found = plan(0.8, bytes=8, measure=True)
    assert all(choice.ns_per_shingle > 0 for choice in found)
    untimed = [replace(choice, ns_per_shingle=None) for choice in found]
    assert untimed == list(plan(0.8, bytes=8))


def test_the_verb_is_the_planner_for_its_demand():
    assert twinset.plan(0.6, bytes=64, permutations=600) == choose(Demand(0.6, bytes=64, permutations=600))


@pytest.mark.parametrize(
    ("threshold", "options", "message"),
    [
        (0.8, {}, "a plan got none of bytes, error and precision; allowed: exactly one of bytes, error and precision"),
        (0.8, {"bytes": 64, "error": 0.1}, "a plan got bytes and error; allowed: exactly one of bytes, error and precision"),
        (0, {"bytes": 64}, "threshold is 0; allowed: between 0 and 1, both excluded"),
        (1.5, {"bytes": 64}, "threshold is 1.5; allowed: between 0 and 1, both excluded"),
        (float("nan"), {"bytes": 64}, "threshold is nan; allowed: between 0 and 1, both excluded"),
        (0.8, {"error": 0.0}, "error is 0; allowed: between 0 and 1, both excluded"),
        (0.8, {"precision": 1.0, "similarities": STATED}, "precision is 1; allowed: between 0 and 1, both excluded"),
        (0.8, {"bytes": 7}, "bytes is 7; allowed: 8 (one packed word) to 2097152"),
        (0.8, {"bytes": 1 << 22}, "bytes is 4194304; allowed: 8 (one packed word) to 2097152"),
        (0.8, {"bytes": 64, "permutations": 0}, "permutations is 0; allowed: 1 or more"),
        (0.8, {"precision": 0.9}, f"precision is asked for without similarities; allowed: also say how resemblances are distributed, such as similarities={STATED!r}"),
        (0.8, {"bytes": 64, "lowest": 0.8}, "lowest is 0.8; allowed: between 0 and 0.8, both excluded"),
        (0.8, {"bytes": 64, "r1": 0.5}, "densities r1 and r2 are 0.5 and 0; allowed: both 0, or both above 0 and at most 1"),
        (0.8, {"bytes": 64, "r1": 1.5, "r2": 0.5}, "densities r1 and r2 are 1.5 and 0.5; allowed: both 0, or both above 0 and at most 1"),
        (0.7, {"bytes": 64, "r1": 0.5, "r2": 0.3}, "threshold is 0.7; allowed for sets of densities 0.5 and 0.3: between 0 and 0.6"),
        (0.7, {"bytes": 64, "r1": 0.9, "r2": 0.9}, "threshold is 0.7; allowed for sets of densities 0.9 and 0.9: between 0.8 and 1"),
        (0.8, {"error": 1e-9}, "error 1e-09 at threshold 0.8 is out of reach in 2097152 bytes; allowed: a weaker target or more permutations"),
        (
            0.8,
            {"error": 0.001, "permutations": 64},
            "error 0.001 at threshold 0.8 is out of reach with 64 permutations in 2097152 bytes; allowed: a weaker target or more permutations",
        ),
        (0.1, {"bytes": 8}, "bytes is 8, where no layout tells 0.05 from nothing, as threshold 0.1 needs; allowed: 48 bytes or more, or a lower `lowest`"),
    ],
)
def test_what_cannot_be_planned_is_named(threshold, options, message):
    with pytest.raises(BadOption) as caught:
        plan(threshold, **options)
    assert str(caught.value) == message


def test_the_bytes_that_an_error_recommends_are_the_fewest_that_do():
    assert plan(0.1, bytes=48).best.bytes <= 48
    with pytest.raises(BadOption, match="allowed: 48 bytes or more"):
        plan(0.1, bytes=40)
