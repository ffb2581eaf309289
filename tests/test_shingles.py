"""Shingles equal their definition, hash by hash, for texts of every kind; and every shingle finds its place in the original text."""

import numpy as np
import pyarrow as pa
import pytest
import reference_shingles as reference
import reference_text
from hypothesis import given, settings
from hypothesis import strategies as st
from specimens import BROKEN, KNOWN, PROSE, SPECIMENS, TOUCHY

from twinset.config import Config
from twinset.documents import shingles as module
from twinset.documents.columns import column
from twinset.documents.shingles import Shingler, Shingles, shingle, spans
from twinset.errors import BadOption, BadText
from twinset.kernels import shingles as kernels

pytestmark = pytest.mark.compiled

CONFIGS = {
    f"{kind}{' cased' * case}{' solid' * (not space)}": Config(shingle=kind, case=case, space=space)
    for kind, case, space in [
        *((f"words:{w}", case, True) for w in (1, 2, 5, 300) for case in (False, True)),
        *((f"chars:{k}", case, space) for k in (1, 3, 9, 300) for case in (False, True) for space in (False, True)),
    ]
}
WORDS1, WORDS3, CHARS4 = Config(shingle="words:1"), Config(shingle="words:3"), Config(shingle="chars:4")
ONE, WORD, ALL = np.uint64(1), np.uint64(0xFEDCBA9876543210), np.uint64(2**64 - 1)


def binary(documents):
    return pa.array(documents, pa.large_binary())


def rows(shingles):
    return [shingles.row(d).tolist() for d in range(len(shingles))]


def expected(documents, config):
    return [reference.shingle(data, config)[0] for data in documents]


def same(left, right):
    return np.array_equal(left.values, right.values) and np.array_equal(left.offsets, right.offsets)


# Kernels


def padded(data, slack=64):
    return np.frombuffer(data + b"\xa5" * slack, np.uint8)


@pytest.mark.parametrize("length", [*range(20), 63, 64, 65, 1000])
def test_the_hash_of_a_unit_equals_its_definition(length):
    """Whatever stands around it in the buffer."""
    data = bytes((7 * i + length) % 256 for i in range(length))
    assert kernels.hash_unit(padded(b"xyz" + data), 3, 3 + length) == reference.hash_unit(data)
    assert kernels.hash_unit(padded(bytes(length)), 0, length) == reference.hash_unit(bytes(length))


def test_units_of_zeros_have_different_hashes():
    """The length is hashed too: padding does not make two of them equal."""
    assert len({reference.hash_unit(bytes(length)) for length in range(40)}) == 40


def test_mix_is_the_published_finish():
    """fmix64 of MurmurHash3; 0 is its fixed point, which is why every input is salted."""
    published = {0: 0, 1: 0xB456BCFC34C2CB2C, 2**64 - 1: 0x64B5720B4B825F21}
    for x, hashed in published.items():
        assert kernels.mix(np.uint64(x)) == hashed == reference.mix(x)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("ab1 .?中é\u0301\U0001f600"), max_size=200))
def test_units_equal_their_definition(text):
    """Tokens and characters of a text that counts as normalised already, at every place in the blocks of 64 bytes."""
    data = text.encode()
    for words, find in ((True, kernels.word_hashes), (False, kernels.character_hashes)):
        hashes = np.full(len(data) + 64, WORD)
        count = find(padded(data), len(data), hashes)
        assert hashes[:count].tolist() == [reference.hash_unit(unit) for unit in reference.units(data, words)]
        assert (hashes[len(data) :] == WORD).all()


@pytest.mark.parametrize("length", [0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 192])
@pytest.mark.parametrize("pattern", ["a", "a ", " a", " ", "ab cd", "中 "])
def test_tokens_at_the_edges_of_blocks(pattern, length):
    data = (pattern * 200).encode()[:length].decode("utf-8", "ignore").encode()
    hashes = np.empty(length + 64, np.uint64)
    count = kernels.word_hashes(padded(data), len(data), hashes)
    assert hashes[:count].tolist() == [reference.hash_unit(unit) for unit in reference.units(data, True)]


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 10, 1000])
@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 100])
def test_the_rolling_hash_equals_its_definition(count, width):
    hashes = np.random.Generator(np.random.PCG64(count)).integers(0, 2**64, count + 1, dtype=np.uint64)
    units, guard = hashes[:count].tolist(), hashes[count]
    found = kernels.combine(hashes, count, width)
    assert hashes[:found].tolist() == reference.combine(units, width)
    assert found == (max(1, count - width + 1) if count else 0)
    assert hashes[count] == guard


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 63, 64, 65, 1000])
@pytest.mark.parametrize("kind", ["spread", "repeated", "equal", "low", "high", "falling"])
def test_sort_distinct(kind, n):
    """Slow for values that are not spread, but right."""
    random = np.random.Generator(np.random.PCG64(n))
    spread = random.integers(0, 2**64, n, dtype=np.uint64)
    values = {
        "spread": spread,
        "repeated": spread[random.integers(0, max(1, n // 3), n)],
        "equal": np.full(n, WORD),
        "low": np.arange(n, dtype=np.uint64)[::-1] % np.uint64(50),
        "high": ALL - np.arange(n, dtype=np.uint64) % np.uint64(50),
        "falling": np.sort(spread)[::-1],
    }[kind].copy()
    room = kernels.count_room(n)
    counts, out = np.full(room + 8, -1, np.int32), np.full(n + 8, WORD)
    kept = kernels.sort_distinct(values, n, counts[:room], out[:n])
    assert out[:kept].tolist() == sorted(set(values.tolist()))
    assert (out[n:] == WORD).all()
    assert (counts[room:] == -1).all()


# Texts


@pytest.mark.parametrize("name", CONFIGS)
def test_every_specimen_equals_the_definition(name):
    config = CONFIGS[name]
    documents = list(SPECIMENS.values())
    found = shingle(binary(documents), config, threads=1)
    for kind, row, wanted in zip(SPECIMENS, rows(found), expected(documents, config), strict=True):
        assert row == wanted, kind


letters = st.one_of(st.sampled_from("aB1 -.é中한กא\u200f\U0001f468\u200d"), st.sampled_from(TOUCHY), st.sampled_from(KNOWN))
texts = st.lists(letters, max_size=60).map("".join)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.one_of(texts.map(str.encode), st.binary(max_size=8)), max_size=5), st.sampled_from(list(CONFIGS)))
def test_random_documents_equal_the_definition(documents, name):
    assert rows(shingle(binary(documents), CONFIGS[name])) == expected(documents, CONFIGS[name])


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_long_documents_equal_the_definition(config):
    """Of all distinct shingles, so that they outgrow the first guess of their number, and of one shingle a thousand times."""
    random = np.random.Generator(np.random.PCG64(1))
    documents = ["".join(map(chr, random.integers(0x61, 0x7B, 3000))), "again and " * 300, "a " * 2000, "".join(map(chr, random.integers(0x4E00, 0x9000, 1000))), "\xad" * 500, "x"]
    data = [text.encode() for text in documents]
    assert rows(shingle(documents, config, threads=1)) == expected(data, config)


def test_text_without_a_unit_has_no_shingle():
    nothing = ["", "   ", "?!... --- «»", "\u200b\xad", "\n\t", "\u0301", "🙂 🙃"]
    assert shingle(nothing, WORDS1).sizes.tolist() == [0] * 7
    assert shingle(["", " \t ", "\u200b\xad"], CHARS4).sizes.tolist() == [0] * 3
    assert shingle(["?!... --- «»", "🙂"], CHARS4).sizes.tolist() == [9, 1]


def test_a_short_text_is_one_shingle_of_what_it_has():
    five, two = Config(shingle="words:5"), Config(shingle="words:2")
    assert shingle(["one", "one two", "one two three four five", "one two three four five six"], five).sizes.tolist() == [1, 1, 1, 2]
    assert shingle(["one two"], five).row(0) == shingle(["one two"], two).row(0)
    assert shingle(["one two"], five).row(0) not in shingle(["one two three four five"], five).row(0)


def test_no_documents():
    assert len(shingle([], WORDS3)) == 0
    assert shingle([], WORDS3).values.dtype == np.uint64


@pytest.mark.parametrize(
    ("config", "left", "right", "equal"),
    [
        (WORDS3, "The QUICK brown Fox", "the quick, brown... fox!", True),
        (WORDS3, "The quick brown fox", "The quick fox brown", False),
        (WORDS3, "Straße", "STRASSE", True),
        (WORDS3, "ﬁne Ｆｕｌｌ ①", "fine full 1", True),
        (WORDS3, "e\u0301te\u0301", "été", True),
        (WORDS3, "so\u00adft", "soft", True),
        (WORDS3, "中文abc", "中 文 abc", True),
        (WORDS3, "中文", "文中", False),
        (WORDS3, "שלום\u200f עולם", "שלום עולם", True),
        (WORDS3, "a\ud800b", "a\ufffdb", True),
        (WORDS3, "a\ud800b", "a b", True),
        (WORDS3, "👩‍👩‍👧 up", "up", True),
        (Config(case=True), "The quick", "the quick", False),
        (Config(case=True), "The quick", "The  quick.", True),
        (CHARS4, "The\t\n quick", "the quick", True),
        (CHARS4, "the quick", "thequick", False),
        (CHARS4, "the quick", "the quick.", False),
        (Config(shingle="chars:4", space=False), "the quick", "t h equi ck\n", True),
        (Config(shingle="chars:4", case=True), "The", "the", False),
        (CHARS4, "👍🏽", "👍", False),
    ],
)
def test_what_counts_as_the_same_text(config, left, right, equal):
    found = shingle([left, right], config)
    assert np.array_equal(found.row(0), found.row(1)) is equal


def test_single_words_know_no_order_and_no_repeats():
    found = shingle(["a b c d", "d c b a a b", "d c b"], WORDS1)
    assert np.array_equal(found.row(0), found.row(1))
    assert found.sizes.tolist() == [4, 4, 3]
    assert set(found.row(2)) < set(found.row(0))


def test_shingles_of_a_part_are_shingles_of_the_whole():
    whole = shingle(["one two three four five six seven", "three four five six"], WORDS3)
    assert set(whole.row(1)) < set(whole.row(0))


def test_a_document_does_not_depend_on_its_neighbours():
    documents = list(SPECIMENS.values())
    together = rows(shingle(binary(documents), CHARS4))
    assert [rows(shingle(binary([data]), CHARS4))[0] for data in documents] == together
    assert rows(shingle(binary(documents)[3:-3], CHARS4)) == together[3:-3]


@pytest.mark.parametrize("config", [WORDS3, CHARS4], ids=["words", "chars"])
@pytest.mark.parametrize("threads", [2, 3, None])
@pytest.mark.parametrize("step", [1, 100, 1 << 20])
def test_threads_and_steps_change_nothing(monkeypatch, config, threads, step):
    documents = binary([*SPECIMENS.values(), *reversed(SPECIMENS.values())])
    once = shingle(documents, config, threads=1)
    monkeypatch.setattr(module, "STEP", step)
    assert same(shingle(documents, config, threads=threads), once)
    assert same(shingle(documents, config, threads=1), once)


def test_malformed_sequences_are_counted(monkeypatch):
    monkeypatch.setattr(module, "STEP", 16)
    shingler, documents = Shingler(CHARS4), list(BROKEN.values())
    work = shingler.prepare(column(binary(documents)))
    pieces = [(row, len(piece)) for row, piece in work(0, len(documents))]
    assert shingler.malformed == sum(reference.shingle(data, CHARS4)[1] for data in documents) > 0
    assert sum(count for _, count in pieces) == len(documents)


def test_malformed_sequences_are_counted_once_when_a_range_needs_more_room():
    """The second document has more shingles than the room foreseen for both."""
    documents = [b"\xff" * 10, "".join(map(chr, range(0x61, 0x7B))).encode() * 40 + b"\xff", b"\xfe"]
    shingler = Shingler(Config(shingle="chars:26"))
    found = [piece.sizes.tolist() for _, piece in shingler.prepare(column(binary(documents)))(0, 3)]
    assert len(found) > 1
    assert shingler.malformed == 12


@pytest.mark.parametrize("threads", [1, 2])
def test_strict_refuses_malformed_utf8(threads):
    with pytest.raises(BadText, match="^malformed UTF-8 at byte 1 of document 1; allowed: valid UTF-8, or without strict, which replaces it by U\\+FFFD and counts it$"):
        shingle(binary([b"good", b"b\xffd", b"b\xfed"]), WORDS3, threads=threads, strict=True)


def test_strict_accepts_every_valid_text():
    documents = binary([text.encode() for text in PROSE.values()])
    assert same(shingle(documents, WORDS3, strict=True), shingle(documents, WORDS3))


def test_fewer_than_one_thread_is_refused():
    with pytest.raises(BadOption, match="^threads is 0; allowed: 1 or more$"):
        shingle(["a"], WORDS3, threads=0)


# The shape


def test_rows_and_spans_of_rows():
    data = shingle(["a b c d", "", "x y z", "a b c"], WORDS3)
    assert len(data) == 4
    assert data.sizes.tolist() == [2, 0, 1, 1]
    values, offsets = data.span(1, 4)
    assert offsets.tolist() == [0, 0, 1, 2]
    assert values.tolist() == data.values[2:].tolist()
    assert all((np.diff(data.row(d).astype(object)) > 0).all() for d in range(4))


def test_shared_and_resemblance():
    """R1 and R2; an empty set resembles nothing, not even itself."""
    data = Shingles(np.array([1, 2, 3, 2, 3, 4, 5], np.uint64), np.array([0, 3, 7, 7], np.int64))
    left, right = np.array([0, 0, 2, 0]), np.array([0, 1, 2, 2])
    assert data.shared(left, right).tolist() == [3, 2, 0, 0]
    assert data.resemblance(left, right).tolist() == [1, 2 / 5, 0, 0]


def test_shared_does_not_depend_on_threads(monkeypatch):
    data = shingle(binary(list(SPECIMENS.values())), Config(shingle="chars:1"))
    left, right = np.meshgrid(np.arange(len(data)), np.arange(len(data)))
    once = data.shared(left.ravel(), right.ravel(), threads=1)
    monkeypatch.setattr(module, "PAIRS", 7)
    assert np.array_equal(data.shared(left.ravel(), right.ravel(), threads=3), once)
    assert once.sum() > 0


# Spans


def units(text, config):
    words = config.unit == "words"
    mode = reference_text.words if words else reference_text.chars if config.space else reference_text.solid
    return reference.units(reference_text.normalised(text.encode(), config.case, mode)[0], words)


UNIT_CONFIGS = {name: config for name, config in CONFIGS.items() if config.width == 1}


@pytest.mark.parametrize("config", UNIT_CONFIGS.values(), ids=UNIT_CONFIGS)
@pytest.mark.parametrize("kind", PROSE)
def test_every_unit_has_a_span_in_the_original(kind, config):
    text = PROSE[kind]
    found = spans(text, config)
    assert (found.shape, found.dtype) == ((len(units(text, config)), 2), np.int64)
    assert (found[:, 0] < found[:, 1]).all()
    assert (np.diff(found, axis=0) >= 0).all()
    assert ((found >= 0) & (found <= len(text.encode()))).all()


@pytest.mark.parametrize("config", UNIT_CONFIGS.values(), ids=UNIT_CONFIGS)
@pytest.mark.parametrize("kind", ["English", "short", "punctuation", "Chinese", "Vietnamese", "long words", "mixed scripts", "Hebrew", "Arabic", "Hindi"])
def test_the_text_of_a_span_is_its_unit(kind, config):
    """Or holds it among others, as a ligature does. White space alone has no unit, but is one between others."""
    text = PROSE[kind]
    found = [units(text.encode()[first:last].decode(), config) for first, last in spans(text, config)]
    assert all(unit in here or (unit == b" " and here == []) for here, unit in zip(found, units(text, config), strict=True))


@pytest.mark.parametrize(
    ("text", "config", "expected"),
    [
        ("One, two!", WORDS1, ["One", "two"]),
        ("中文 abc", WORDS1, ["中", "文", "abc"]),
        ("a  b", Config(shingle="chars:1"), ["a", " ", "b"]),
        ("a  b", Config(shingle="chars:1", space=False), ["a", "b"]),
        ("ﬁx", Config(shingle="chars:1"), ["ﬁ", "ﬁ", "x"]),
        ("e\u0301a", Config(shingle="chars:1"), ["e\u0301", "a"]),
        ("so\xadft", WORDS1, ["so\xadft"]),
        ("", WORDS1, []),
        ("?!", WORDS1, []),
    ],
)
def test_spans(text, config, expected):
    assert [text.encode()[first:last].decode() for first, last in spans(text, config)] == expected


def test_spans_of_a_text_with_lone_surrogates():
    """They count as the three bytes of U+FFFD."""
    assert spans("a \ud800 b", WORDS1).tolist() == [[0, 1], [6, 7]]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(texts, st.sampled_from(list(UNIT_CONFIGS)))
def test_random_texts_have_a_span_for_every_unit(text, name):
    found = spans(text, UNIT_CONFIGS[name])
    assert len(found) == len(units(text, UNIT_CONFIGS[name]))
    assert (found[:, 0] < found[:, 1]).all()


def test_shingles_are_found_by_the_spans_of_their_units():
    """Shingle i covers units i to i + width - 1: each, shingled alone, is one of the text's shingles."""
    text = "Sketches of near-duplicate texts, 中文 and others: what is kept, what is not."
    places, whole = spans(text, WORDS3), set(shingle([text], WORDS3).row(0).tolist())
    pieces = [text.encode()[places[i, 0] : places[i + 2, 1]].decode() for i in range(len(places) - 2)]
    found = shingle(pieces, WORDS3)
    assert found.sizes.tolist() == [1] * len(pieces)
    assert set(found.values.tolist()) == whole


@pytest.mark.parametrize("values", [1, 2, 50])
def test_the_first_equal_row_whatever_the_rows_begin_with(values):
    words = np.random.default_rng(values).integers(0, values, (200, 3)).astype(np.uint64)
    seen = {}
    assert module.first_equal(words).tolist() == [seen.setdefault(tuple(row), i) for i, row in enumerate(words.tolist())]
    assert module.first_equal(words[:0]).tolist() == []
