"""The papers' hash families: equal to their definitions, order-free, prefix-stable, and as good or as bad as theory says."""

from itertools import combinations, product

import numpy as np
import pytest
import reference_families as reference
from scipy.stats import binom

from twinset.config import Config
from twinset.errors import BadInput, BadOption
from twinset.kernels import families as kernels
from twinset.sketch.families import CAUCHY, FIELD, PRIME, study_minima
from twinset.sketch.seeds import splitmix64

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # only with NUMBA_DISABLE_JIT=1

FAMILIES = ("modular", "jenkins", "universal", "tabulation", "permutations")
UNIVERSE = 300
EDGES = [0, 1, 255, 256, 65535, 65536, PRIME - 1, PRIME, PRIME + 4, 2**31, 2**32 - 1]


def configuration(family, seed=42, universe=UNIVERSE):
    return Config(family=family, seed=seed, universe=universe if family == "permutations" else 0)


def shingles(docs):
    values = np.array([x for doc in docs for x in doc], np.uint64)
    return values, np.cumsum([0] + [len(doc) for doc in docs], dtype=np.int64)


def small_docs(family):
    random = np.random.Generator(np.random.PCG64(7))
    limit = UNIVERSE if family == "permutations" else 1 << 32
    docs = [[], [0], list(range(20)), [x for x in EDGES if x < limit], []]
    return docs + [random.integers(0, limit, size).tolist() for size in (1, 2, 30)]


def expected(family, docs, lanes, seed):
    """The same minima from the definition: parameters included."""
    words = reference.splitmix64(seed, 2 * lanes)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    if family == "modular":
        return reference.modular(docs, [a % (PRIME - 1) + 1 for a, _ in pairs], [c % PRIME for _, c in pairs])
    if family == "jenkins":
        return reference.jenkins(docs, [a >> 32 for a, _ in pairs], [b >> 32 for _, b in pairs])
    if family == "universal":
        return reference.universal(docs, *zip(*pairs, strict=True))
    if family == "tabulation":
        cells = iter(word >> 32 for word in reference.splitmix64(seed, lanes * 7 * FIELD))
        tables = [[[next(cells) for _ in range(FIELD)] for _ in range(7)] for _ in range(lanes)]
        return reference.tabulation(docs, CAUCHY.tolist(), tables)
    return reference.permutations(docs, reference.splitmix64(seed, lanes), UNIVERSE)


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_minima_equal_the_definition(family, seed):
    docs = small_docs(family)
    assert study_minima(configuration(family, seed), *shingles(docs), 19).tolist() == expected(family, docs, 19, seed)


def test_splitmix64_is_the_published_sequence():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert splitmix64(1234567, 5).tolist() == published == reference.splitmix64(1234567, 5)
    assert splitmix64(2**64 - 1, 100)[:3].tolist() == reference.splitmix64(2**64 - 1, 3)
    assert len(splitmix64(1, 0)) == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_order_and_repeats_change_nothing_and_fewer_lanes_are_a_prefix(family):
    docs = small_docs(family)
    whole = study_minima(configuration(family), *shingles(docs), 24)
    jumbled = study_minima(configuration(family), *shingles([doc[::-1] + doc[:3] for doc in docs]), 24)
    assert np.array_equal(whole, jumbled)
    for lanes in (1, 17):
        assert np.array_equal(whole[:, :lanes], study_minima(configuration(family), *shingles(docs), lanes))
    assert (whole[0] == kernels.EMPTY).all()
    assert not np.array_equal(whole, study_minima(configuration(family, seed=43), *shingles(docs), 24))


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_shuffle_is_a_permutation(size):
    out = np.empty(size, np.uint32)
    kernels.shuffle(np.uint64(size), out)
    assert out.tolist() == reference.shuffle(size, size)
    assert sorted(out.tolist()) == list(range(size))


def test_permutations_of_three_are_equally_likely():
    """Chi-square over the 6 orders, 30 000 lanes; false alarm 1e-6 at 35.9 with 5 degrees of freedom."""
    values, offsets = np.arange(3, dtype=np.uint64), np.arange(4, dtype=np.int64)
    orders = study_minima(configuration("permutations", universe=3), values, offsets, 30_000)
    counts = np.unique(orders.T, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 5000) ** 2 / 5000).sum() < 35.9


def test_modular_is_a_permutation_below_its_prime():
    """Distinct elements get distinct hashes, and the five from PRIME up meet 0 to 4."""
    values = np.concatenate([np.arange(2000), np.arange(PRIME - 2000, PRIME + 5)]).astype(np.uint64)
    hashes = study_minima(configuration("modular"), values, np.arange(len(values) + 1), 8)
    assert all(len(np.unique(column)) == 4000 for column in hashes.T)
    assert np.array_equal(hashes[:5], hashes[-5:])
    assert hashes.max() < PRIME


def test_every_square_part_of_the_cauchy_matrix_is_invertible():
    """With the argument in the kernel's docstring, this is the proof of 4-independence."""
    for size in (1, 2, 3):
        for rows, columns in product(combinations(range(4), size), combinations(range(3), size)):
            assert determinant([[int(CAUCHY[r, c]) for c in columns] for r in rows]) % FIELD


def determinant(matrix):
    return sum((-1) ** c * matrix[0][c] * determinant([row[:c] + row[c + 1 :] for row in matrix[1:]]) for c in range(len(matrix))) if matrix else 1


def test_no_four_keys_cover_every_position_evenly():
    """Sampled among the dangerous fours: those that already cover the four plain characters evenly."""
    random = np.random.Generator(np.random.PCG64(11))
    trials = 20_000
    fours = np.zeros((trials, 4), np.uint64)
    for byte in range(4):
        one, two = random.integers(0, 256, (2, trials), dtype=np.uint64) << np.uint64(8 * byte)
        partner = random.integers(1, 4, trials)  # the first key is paired with this one, the other two with each other
        fours += np.where((np.arange(4) == 0) | (np.arange(4) == partner[:, None]), one[:, None], two[:, None])
    fours = fours[(np.diff(np.sort(fours, axis=1), axis=1) > 0).all(axis=1)]
    keys = np.empty((fours.size, 7), np.uint16)
    kernels.characters(fours.ravel(), CAUCHY, keys)
    ranked = np.sort(keys.reshape(-1, 4, 7), axis=1)
    even = (ranked[:, 0] == ranked[:, 1]) & (ranked[:, 2] == ranked[:, 3])
    assert len(fours) > trials / 2
    assert even[:, :4].all()
    assert not even.all(axis=1).any()


LANES, ALARM = 32_768, 1e-6
RESEMBLANCE = 0.5
LOW, HIGH = binom.ppf([ALARM / 2, 1 - ALARM / 2], LANES, RESEMBLANCE)


def agreements(family, left, right, universe=UNIVERSE):
    out = study_minima(configuration(family, universe=universe), *shingles([left, right]), LANES)
    return int((out[0] == out[1]).sum())


@pytest.mark.parametrize("family", FAMILIES)
def test_on_random_keys_every_family_estimates_resemblance(family):
    """Each lane agrees with probability R: binomial, false alarm 1e-6 for each family, a bias of 0.03 missed with p < 1e-6."""
    limit = UNIVERSE if family == "permutations" else 1 << 32
    keys = np.random.Generator(np.random.PCG64(3)).permutation(limit) if limit == UNIVERSE else splitmix64(3, 120) >> np.uint64(32)
    assert LOW <= agreements(family, keys[:90], keys[30:120]) <= HIGH


@pytest.mark.parametrize("family", ["tabulation", "permutations"])
def test_on_consecutive_keys_the_strong_families_hold(family):
    assert LOW <= agreements(family, range(90), range(30, 120)) <= HIGH


@pytest.mark.parametrize("family", ["modular", "universal"])
def test_on_consecutive_keys_the_linear_families_are_biased(family):
    """Minima of an arithmetic progression fall on its ends too often, and the ends are what these two sets do not share."""
    assert agreements(family, range(90), range(30, 120)) < LOW


@pytest.mark.parametrize(("family", "value", "largest"), [("modular", 2**32, 2**32 - 1), ("tabulation", 2**64 - 1, 2**32 - 1), ("permutations", 300, 299)])
def test_an_element_outside_the_universe_is_refused(family, value, largest):
    with pytest.raises(BadInput, match=f"an element is {value}; allowed with family '{family}': 0 to {largest}$"):
        study_minima(configuration(family), *shingles([[1], [value]]), 4)


def test_the_production_family_is_not_for_study():
    with pytest.raises(BadOption, match="allowed here: modular, jenkins, universal, tabulation, permutations"):
        study_minima(Config(), *shingles([[1]]), 4)


def test_no_documents_and_no_lanes():
    assert study_minima(configuration("jenkins"), *shingles([]), 5).shape == (0, 5)
    assert study_minima(configuration("tabulation"), *shingles([[1]]), 0).shape == (1, 0)
