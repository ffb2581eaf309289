"""What is said to be wrong in the papers is wrong, what is said to be right is right, and docs/errata.md shows what the study prints."""

from pathlib import Path

import pytest
from scipy.stats import binom, chi2

from twinset.estimate.probability import T2
from twinset.studies import errata

PAGE = (Path(__file__).parents[1] / "docs/errata.md").read_text(encoding="utf-8")
ALARM = 1e-6
TRIALS = 3000
SEED = 7

EXACT = (errata.best_pair, errata.table_1, errata.leftover_test, errata.modular_hash)


@pytest.fixture(scope="module")
def weights():
    return errata.squared_weights(TRIALS, SEED)


@pytest.fixture(scope="module")
def constants():
    return errata.wrong_constant(errata.PERMUTED, SEED)


@pytest.fixture(scope="module")
def recalls():
    return errata.threshold_recall(TRIALS, SEED)


def test_measured_variance_is_v1_and_not_the_printed_one(weights):
    # Model: an E1 of 1000 samples is normal, so trials * measured / V1 is chi-squared. False alarm 1e-6 over 8 rows; half the variance is missed with p < 1e-100.
    low, high = chi2.ppf([ALARM / 16, 1 - ALARM / 16], TRIALS) / TRIALS
    for name, printed, true, measured, _ in weights.rows:
        assert low < measured / true < high, name
        assert ("=" not in name) == (low < measured / printed < high), name


def test_printed_variance_of_one_and_a_half_bits_is_half_the_true_one(weights):
    rows = {row[0].partition(" ")[0]: row[1:3] for row in weights.rows}
    assert rows["1.5"] == pytest.approx((0.27, 0.54))
    assert rows["2"][1] < rows["1.5"][1] < rows["1"][1]
    assert rows["1.5"][0] < rows["2"][0]  # a mixture of 1 and 2 bits cannot tell more than 2 bits alone


def test_floor_and_ceiling_are_the_best_pair_only_under_v1():
    for fraction, _, as_printed, _, _, in_truth, *_ in errata.best_pair().rows:
        floor = int(float(fraction))
        assert in_truth == str((floor, floor + 1))
        assert (as_printed == in_truth) == (fraction in ("1.5", "2.5"))


def test_the_printed_constant_misses_and_c1_does_not(constants):
    # Model: the number of agreeing samples is binomial with T2. False alarm 1e-6 over 4 rows; the first row's printed estimate lies 9 standard errors off.
    for row, (bits, r1, r2, truth, _, printed, right, _) in enumerate(constants.rows):
        xor = int(bits[2:])
        low, high = binom.ppf([ALARM / 8, 1 - ALARM / 8], errata.PERMUTED, float(T2(truth, xor, r1, r2)))
        assert low <= errata.PERMUTED * float(T2(right, xor, r1, r2)) <= high, row
        if row == 0:
            assert errata.PERMUTED * float(T2(printed, xor, r1, r2)) > high


def test_the_printed_constant_adds_the_same_to_every_estimate(constants):
    for _, r1, r2, truth, tends, printed, right, _ in constants.rows:
        assert printed - right == pytest.approx(tends - truth, abs=1e-12)
        assert (printed == pytest.approx(right, abs=1e-12)) == (r1 == r2)


def test_table_1_prints_twice_the_rounded_ratio_and_once_a_slip():
    for words, half, half_computed, whole, whole_computed, low, high, possible in errata.table_1().rows:
        assert f"{half_computed:.1f}" == half, words
        assert low < whole_computed < high
        assert (float(whole) == 2 * float(half)) == (words != "RIGHTS-RESERVED")
        assert (possible == "no") == (words in ("RIGHTS-RESERVED", "GAMBIA-KIRIBATI", "CREDIT-CARD", "LOW-PAY"))
        if words == "RIGHTS-RESERVED":
            assert (whole, f"{whole_computed:.2f}") == ("32.2", "33.16")


def test_the_leftover_test_never_holds():
    assert errata.leftover_test().rows == ((200 * 101, 0),)


def test_a_modular_hash_permutes_exactly_when_its_factor_is_coprime():
    for p, coprime, permuting, others, also, agreement in errata.modular_hash().rows:
        assert (permuting, also, agreement) == (coprime, 0, 1), p
        assert others == errata.MODULI // p


def test_recall_at_the_threshold_is_the_expected_one_and_too_low(recalls):
    # Model: pairs are found independently with the expected recall. False alarm 1e-6 over 6 rows.
    for *_, near, expected, measured, _ in recalls.rows:
        low, high = binom.ppf([ALARM / 12, 1 - ALARM / 12], TRIALS, expected)
        assert low <= measured * TRIALS <= high
        assert 0.63 < near < 0.68
        assert expected < 0.9


@pytest.mark.parametrize("erratum", EXACT, ids=lambda erratum: erratum.__name__)
def test_the_page_shows_every_enumerated_row(erratum):
    for line in erratum().table:
        assert line.rstrip() in PAGE


@pytest.mark.parametrize(("name", "measured"), [("weights", 2), ("constants", 3), ("recalls", 2)])
def test_the_page_shows_every_simulated_row(name, measured, request):
    """Up to the columns that depend on the trials."""
    for line in request.getfixturevalue(name).table:
        assert line.rsplit(None, measured)[0] in PAGE


def test_the_page_says_what_the_study_says():
    for erratum in (*(each() for each in EXACT), errata.squared_weights(1), errata.wrong_constant(64), errata.threshold_recall(1)):
        assert f"**Where.** {erratum.where}" in " ".join(PAGE.split())


def test_the_command_prints_every_erratum(capsys):
    errata.main(["--trials", "20", "--samples", "64", "--seed", "3"])
    printed = capsys.readouterr().out
    assert printed.startswith("seed 3, 20 pairs in each row of a simulation, 64 samples under true permutations\n")
    assert printed.count("  right:   ") == 7
