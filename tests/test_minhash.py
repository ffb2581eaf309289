"""The whole sketcher equals its definition in every layout, whatever comes in and however many threads work; and its estimates are unbiased."""

import numpy as np
import pyarrow as pa
import pytest
import reference_estimate
import reference_shingles
import reference_sketch as reference
from reference_families import splitmix64
from scipy.stats import binom
from specimens import SPECIMENS

from twinset.config import FAMILIES, Config
from twinset.documents.shingles import Shingles, shingle
from twinset.errors import BadInput, BadOption, BadText
from twinset.sketch.families import study_minima
from twinset.sketch.minhash import SET_STEP, TEXT_STEP, MinHash

pytestmark = pytest.mark.compiled

LAYOUTS = ["64", "32", "8", "4", "2", "1", "1.25", "1.5", "1.75", "10.4", "1/2", "1/4", "1/8", "3/4", "1:0.5+2:0.25+4:0.25"]
PARTLY_WHOLE = ["64:0.5+8:0.5", "32:0.25+1/4:0.5+31:0.25", "64:0.25+32:0.75"]
SAMPLES = 140  # what every layout divides, with full and partial blocks
STUDY = [family for family in FAMILIES if family != "production"]
ROWS = [[], [0], [2**64 - 1], *(sorted(splitmix64(size, size)) for size in (1, 7, 8, 9, 60)), []]


def shape(rows):
    return Shingles(np.array([x for row in rows for x in row], np.uint64), np.cumsum([0, *map(len, rows)], dtype=np.int64))


def odd_multipliers(config):
    """One for each lane, from plain Python."""
    wide = any(part.bits == 64 for part in config.layout.components)
    return [word | 1 if wide else word >> 32 | 1 for word in splitmix64(config.seed, config.layout.lanes)]


def expected(rows, config):
    return [reference.sketch(row, config, odd_multipliers(config)) for row in rows]


def same(left, right):
    return np.array_equal(left.words, right.words) and np.array_equal(left.sizes.stored, right.sizes.stored) and left.fingerprint == right.fingerprint


def components(config):
    return [(part.samples, part.bits, part.xor) for part in config.layout.components]


@pytest.mark.parametrize("seed", [42, 2**64 - 1])
@pytest.mark.parametrize("bits", LAYOUTS + PARTLY_WHOLE)
def test_sketches_of_sets_equal_the_definition(bits, seed):
    sketcher = MinHash(bits=bits, samples=SAMPLES, seed=seed)
    found = sketcher.sketch_shingles(shape(ROWS))
    assert found.words.tolist() == expected(ROWS, sketcher.config)
    assert found.sizes.stored.tolist() == list(map(len, ROWS))


@pytest.mark.parametrize("kind", ["words:1", "words:5", "chars:4"])
def test_sketches_of_texts_equal_the_definition(kind):
    """Bytes in, packed words out, by plain Python all the way."""
    sketcher = MinHash(bits="1.5", samples=SAMPLES, shingle=kind)
    rows, malformed = zip(*(reference_shingles.shingle(data, sketcher.config) for data in SPECIMENS.values()), strict=True)
    found = sketcher.sketch(pa.array(SPECIMENS.values(), pa.binary()))
    assert found.words.tolist() == expected(rows, sketcher.config)
    assert found.sizes.stored.tolist() == list(map(len, rows))
    assert found.malformed == sum(malformed) > 0


def test_texts_are_sketched_as_the_sets_of_their_shingles():
    texts = ["one two three four five six seven", "", "国家自然科学基金", "short"]
    sketcher = MinHash(bits="3/4", samples=128, sizes="8")
    found = sketcher.sketch(texts)
    assert same(found, sketcher.sketch_shingles(shingle(texts, sketcher.config)))
    assert same(found, sketcher.sketch(pa.array(texts)))
    assert found.malformed == 0


@pytest.mark.parametrize(
    ("sets", "kind", "hashed"),
    [
        ([{5, 2, 2**63}, [], [7, 7, 2, 7]], pa.uint64(), reference_shingles.mixed),
        ([["a", "bc", "a"], set(), ("中文",)], pa.string(), lambda element: reference_shingles.hash_element(element.encode())),
        ([[b"a", b"\xff\x00", b""], [b""]], pa.binary(), reference_shingles.hash_element),
    ],
    ids=["int", "str", "bytes"],
)
def test_sets_that_are_not_text_are_hashed_and_sketched(sets, kind, hashed):
    sketcher = MinHash(bits="10.4", samples=SAMPLES)
    rows = [sorted({hashed(element) for element in group}) for group in sets]
    found = sketcher.sketch_sets(sets)
    assert found.words.tolist() == expected(rows, sketcher.config)
    assert found.sizes.stored.tolist() == list(map(len, rows))
    assert same(found, sketcher.sketch_sets(pa.array([list(group) for group in sets], pa.list_(kind))))


@pytest.mark.parametrize("bits", [bits for bits in LAYOUTS if bits not in ("32", "64")])
def test_every_layout_keeps_bits_of_the_same_finished_minima(bits):
    """31 bits of each say it all, but for the whole minima of '32' and '64', which are not finished."""
    sketcher = MinHash(bits=bits, samples=SAMPLES)
    finished = MinHash(bits="31", samples=sketcher.config.layout.lanes).sketch_shingles(shape(ROWS)).samples()
    assert sketcher.sketch_shingles(shape(ROWS)).words.tolist() == [reference.pack(row, components(sketcher.config)) for row in finished.tolist()]


@pytest.mark.parametrize("bits", ["64", "32", "8", "1", "1/2", "1/8"])
def test_a_sketch_of_fewer_samples_is_a_prefix(bits):
    whole = MinHash(bits=bits, samples=256).sketch_shingles(shape(ROWS))
    for samples in (64, 128):
        short = MinHash(bits=bits, samples=samples).sketch_shingles(shape(ROWS))
        assert np.array_equal(short.words, whole.words[:, : short.words.shape[1]])
    odd = MinHash(bits=bits, samples=100).sketch_shingles(shape(ROWS))
    assert np.array_equal(odd.samples(), whole.samples()[:, :100])


@pytest.mark.parametrize(("bits", "size"), [("64", 8192), ("8", 1024), ("1.75", 224), ("1.5", 192), ("1", 128), ("3/4", 128), ("1/2", 128), ("1/8", 128)])
def test_a_sketch_of_1024_samples_takes_its_bits_and_no_more(bits, size):
    """An XOR stores one bit for each sample: 1/2 says how much a permutation takes."""
    assert MinHash(bits=bits, samples=1024).sketch_shingles(shape(ROWS)).nbytes == size * len(ROWS)


def test_threads_and_batches_of_texts_change_nothing():
    """Several ranges, one of them a single document longer than a range; and every document is sketched alike when it comes alone."""
    random = np.random.Generator(np.random.PCG64(8))
    words = np.array([f"{number:03}" for number in range(1000)])[random.integers(0, 1000, TEXT_STEP)].tolist()
    cuts = np.sort(random.integers(0, TEXT_STEP // 2, 900)).tolist()
    texts = [" ".join(words[first:last]) for first, last in zip([0, *cuts], [*cuts, TEXT_STEP], strict=True)] + ["", "the end"]
    assert len(texts[900]) > TEXT_STEP
    assert sum(map(len, texts)) > 3 * TEXT_STEP
    sketcher = MinHash(bits="1/8", samples=256)
    whole = sketcher.sketch(texts, threads=1)
    for threads in (2, 5, None):
        assert same(whole, sketcher.sketch(texts, threads=threads))
    for row in (0, 99, 500, 900, 902):
        assert same(whole[[row]], sketcher.sketch(texts[row : row + 1]))


@pytest.mark.parametrize("family", ["production", "jenkins"])
def test_threads_and_batches_of_sets_change_nothing(family):
    random = np.random.Generator(np.random.PCG64(9))
    lengths = [SET_STEP + 5, 0, *random.integers(0, 2000, 300)]
    values = random.integers(0, 2**32, sum(lengths), np.uint64)
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    sketcher = MinHash(bits="1.5", samples=64, family=family)
    whole = sketcher.sketch_sets((values, offsets), threads=1)
    for threads in (2, 5, None):
        assert same(whole, sketcher.sketch_sets((values, offsets), threads=threads))
    for row in (0, 1, 150, 301):
        assert same(whole[[row]], sketcher.sketch_sets([values[offsets[row] : offsets[row + 1]].tolist()]))


@pytest.mark.parametrize("bits", ["64", "1.5", "1/4"])
def test_an_empty_document_resembles_nothing_not_even_another(bits):
    sketches = MinHash(bits=bits, samples=64).sketch(["", " \n", "?!", "something to compare with"])
    assert sketches.sizes.stored.tolist() == [0, 0, 0, 1]
    assert sketches.matrix().high.tolist() == [[0, 0, 0, 0]] * 3 + [[0, 0, 0, 1]]
    assert len(MinHash(bits=bits, samples=64).sketch([])) == 0


@pytest.mark.parametrize("bits", ["1.5", "1/4", "32", "3/4"])
@pytest.mark.parametrize("family", STUDY)
def test_study_families_come_in_by_the_same_door(family, bits):
    """Elements as they are, minima as test_families proves them, packed with no finish."""
    universe = 500 if family == "permutations" else 0
    sets = [[], [3], range(40), [499, 0, 250, 250]]
    sketcher = MinHash(bits=bits, samples=80, family=family, universe=universe)
    rows = shape([sorted(set(row)) for row in sets])
    minima = study_minima(sketcher.config, rows.values, rows.offsets, sketcher.config.layout.lanes)
    found = sketcher.sketch_sets(sets)
    assert found.words.tolist() == [reference.pack(row, components(sketcher.config)) for row in minima.tolist()]
    assert found.sizes.stored.tolist() == [0, 1, 40, 3]


def test_an_element_that_a_study_family_cannot_hash_is_refused():
    for sketcher, element, largest in ((MinHash(family="universal"), 2**32, 2**32 - 1), (MinHash(family="permutations", universe=10), 10, 9)):
        with pytest.raises(BadInput, match=f"^an element is {element}; allowed with family '{sketcher.config.family}': 0 to {largest}$"):
            sketcher.sketch_sets([[1], [element]])


def test_options_build_the_configuration_that_the_sketches_carry():
    config = Config(bits="3/4", samples=100, seed=7, sizes="4")
    assert MinHash(config).config is config
    assert MinHash(bits="3/4", samples=100, seed=7, sizes="4").sketch_sets([[1]]).config == config
    assert repr(MinHash(config)) == f"MinHash({config})"
    with pytest.raises(BadOption, match="^threads is 0; allowed: 1 or more$"):
        MinHash(config).sketch(["a"], threads=0)
    with pytest.raises(BadText, match="malformed UTF-8 .*; allowed: valid UTF-8"):
        MinHash(config).sketch(pa.array([b"a", b"\xff"]), strict=True)


# Statistical: a sample agrees with the probability of T1 or T2, independently of the others. 22 components of 15 layouts, times 2 kinds of keys and 3 pairs, are 132
# counts and 90 intervals, each with a false alarm of ALARM: 9e-7 in all. A share of TRIALS samples that is off by 0.03 is missed with p < 1e-9.
TRIALS, ALARM = 40_960, 4e-9
PAIRS = [(8, 3), (100, 40), (20_000, 2_000)]  # elements of each set, and how many the other lacks


@pytest.mark.parametrize("bits", LAYOUTS)
@pytest.mark.parametrize("keys", ["random", "consecutive"])
def test_estimates_are_unbiased(keys, bits):
    sketcher = MinHash(bits=bits, samples=TRIALS, seed=1)
    for size, alone in PAIRS:
        pool = np.arange(size + alone, dtype=np.uint64) if keys == "consecutive" else np.array(splitmix64(size, size + alone), np.uint64)
        sketches = sketcher.sketch_sets((np.concatenate([pool[:size], pool[alone:]]), np.array([0, size, 2 * size])))
        resemblance = (size - alone) / (size + alone)
        agreeing = next(sketches.blocks())[2][0, 1]
        for count, part in zip(agreeing, components(sketcher.config), strict=True):
            chance = float(reference_estimate.agreement(part, resemblance))
            low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], part[0], chance)
            assert low <= count <= high
        found = sketches.resemblance(0, 1, level=1 - ALARM)
        assert found.low <= resemblance <= found.high
