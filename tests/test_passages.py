"""Aligned passages equal their definition; and what they say of two texts is true of the texts."""

import numpy as np
import pytest
import reference_passages as reference
import reference_shingles
from hypothesis import example, given, settings
from hypothesis import strategies as st
from specimens import PROSE

from twinset import passages as module
from twinset.config import Config
from twinset.documents.shingles import shingle, spans
from twinset.errors import BadOption
from twinset.passages import align, locate, passages, template

pytestmark = pytest.mark.compiled

WORDS1, WORDS2, WORDS3, CHARS4 = (Config(shingle=text) for text in ("words:1", "words:2", "words:3", "chars:4"))
CONFIGS = {
    "words:1": WORDS1,
    "words:3": WORDS3,
    "words:5": Config(),
    "chars:4": CHARS4,
    "solid": Config(shingle="chars:3", space=False),
    "case": Config(shingle="words:2", case=True),
}
WIDE = ["a", "b", "c", "ab", " ", " ", " ", "中", "文", "本", "e\u0301", "é", "o\u0308", "\U0001f600", "👩‍👩‍👧", "\U00020000", "ﬁ", "ß", ".", "\n", "ก", "가", "\ud800"]


def tiles(left, right, width):
    found = module._tiles(np.array(left, np.int64), np.array(right, np.int64), width, len(left) + width - 1)
    return list(zip(*(column.tolist() for column in found), strict=True))


few = st.lists(st.integers(0, 2), max_size=24)
many = st.lists(st.integers(0, 30), max_size=24)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.one_of(few, many), st.one_of(few, many), st.integers(1, 4))
@example([], [], 1)
@example([0] * 20, [0] * 7, 3)
@example([0, 1, 2, 0, 1, 2], [2, 0, 1, 1, 2, 0], 2)
def test_runs_equal_their_definition(left, right, width):
    assert tiles(left, right, width) == reference.tiles(left, right, width)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 5))
def test_runs_of_moved_and_edited_sequences_equal_their_definition(seed, alphabet, width):
    random = np.random.default_rng(seed)
    left = random.integers(0, alphabet, 60)
    right = np.concatenate([left[40:], left[:15], random.integers(0, alphabet, 10), left[10:30]])
    right[random.integers(0, len(right), 6)] = alphabet
    assert tiles(left, right, width) == reference.tiles(left.tolist(), right.tolist(), width)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("kind", PROSE)
def test_located_shingles_are_those_of_the_text_in_its_order(kind, config):
    text = PROSE[kind]
    found = locate(text, config)
    assert np.unique(found.hashes).tolist() == shingle([text], config).row(0).tolist()
    clean = text.encode("utf-8", "replace").decode() if "\ud800" not in text else text.replace("\ud800", "\ufffd")
    before = np.cumsum([0, *(len(c.encode()) for c in clean)])
    assert before[found.spans].tolist() == spans(text, config).tolist()
    assert len(found.hashes) == (len(found.spans) - found.width + 1 if len(found.spans) else 0)


def test_the_order_is_that_of_the_text():
    found = locate("b a, c a", WORDS1)
    assert found.hashes.tolist() == [reference_shingles.combine([reference_shingles.hash_unit(word)], 1)[0] for word in (b"b", b"a", b"c", b"a")]
    assert found.spans.tolist() == [[0, 1], [2, 3], [5, 6], [7, 8]]


texts = st.lists(st.sampled_from(WIDE), max_size=50).map("".join)


def same(left, right, config):
    """Whether two pieces of text have the same units in the same order."""
    one = Config(shingle=f"{config.unit}:1", case=config.case, space=config.space)
    return locate(left, one).hashes.tolist() == locate(right, one).hashes.tolist()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(texts, texts, st.sampled_from(list(CONFIGS)), st.integers(0, 6))
def test_passages_of_any_texts_are_true(left, right, name, gap):
    config = CONFIGS[name]
    found = passages(left, left[len(left) // 2 :] + right, config, gap=gap)
    whole = left[len(left) // 2 :] + right
    end = 0
    for passage in found:
        assert end <= passage.left[0] < passage.left[1] <= len(left) or config.unit == "chars"  # one character may make several units
        end = passage.left[1]
        assert (passage.left[0], passage.right[0]) == (passage.runs[0][0][0], passage.runs[0][1][0])
        assert (passage.left[1], passage.right[1]) == (passage.runs[-1][0][1], passage.runs[-1][1][1])
        assert passage.words >= passage.shingles >= len(passage.runs) >= 1
        for one, other in passage.runs:
            if config.unit == "words":
                assert same(left[slice(*one)], whole[slice(*other)], config)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("kind", PROSE)
def test_a_text_is_one_passage_of_itself(kind, config):
    text = PROSE[kind]
    found, here = passages(text, text, config), locate(text, config)
    assert len(found) == (len(here.hashes) > 0)
    for passage in found:
        assert passage.left == passage.right == (here.spans[0, 0], here.spans[-1, 1])
        assert (passage.shingles, passage.words, len(passage.runs)) == (len(here.hashes), len(here.spans), 1)


def pieces(left, right, config, **options):
    return [(left[slice(*found.left)], right[slice(*found.right)], found.words) for found in passages(left, right, config, **options)]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("one two three four", "zero One, two; THREE!", [("one two three", "One, two; THREE", 3)]),
        ("a b c x y z", "x y z a b c", [("a b c", "a b c", 3), ("x y z", "x y z", 3)]),
        ("a b c d a b c", "a b c", [("a b c", "a b c", 3), ("a b c", "a b c", 3)]),
        ("我们的项目计划", "该项目计划书", [("项目计划", "项目计划", 4)]),
        ("see 项目计划 now", "项目计划 now!", [("项目计划 now", "项目计划 now", 5)]),
        ("😀 e\u0301te\u0301 one two", "😀😀 été one two", [("e\u0301te\u0301 one two", "été one two", 3)]),
        ("🚀 a b c 🚀", "𠀀 a b c", [("a b c", "a b c", 3)]),
        ("a b", "a b", [("a b", "a b", 2)]),
        ("a b", "a b c", []),
        ("", "a b c", []),
        ("a b c", "", []),
        ("", "", []),
    ],
)
def test_passages(left, right, expected):
    assert pieces(left, right, WORDS3) == expected


def test_runs_around_a_small_gap_are_one_passage():
    left, right = "a b c d e X f g h i", "a b c d e Y Z f g h i"
    (found,) = passages(left, right, WORDS3, gap=2)
    assert (found.left, found.right, found.shingles, found.words) == ((0, 19), (0, 21), 5, 9)
    assert [left[slice(*mine)] for mine, _ in found.runs] == ["a b c d e", "f g h i"]
    assert [right[slice(*theirs)] for _, theirs in found.runs] == ["a b c d e", "f g h i"]
    assert [words for *_, words in pieces(left, right, WORDS3, gap=1)] == [5, 4]
    assert len(passages("f g h a b c", "a b c f g h", WORDS3, gap=100)) == 2


def test_the_longest_has_what_several_want():
    """The middle words stand in both runs: the longer one keeps them, the other what is left."""
    assert pieces("a b c d e f g", "a b c d x d e f g x c d e f g", WORDS2, gap=0) == [("a b", "a b", 2), ("c d e f g", "c d e f g", 5)]


def test_ignored_shingles_are_in_no_run_and_are_marked():
    """The last words of the form with the first words after it are shingles that the form does not have."""
    form, mine, theirs = "describe the aims of the project here", "we will dig a very deep well", "we will dig a very deep hole"
    ignored = shingle([form], WORDS3).values
    left, right = f"{form}: {mine}", f"{form}. {theirs}"
    assert pieces(left, right, WORDS3)[0][2] == 13
    assert pieces(left, right, WORDS3, ignored=ignored) == [("project here: we will dig a very deep", "project here. we will dig a very deep", 8)]
    assert [left[slice(*span)] for span in template(locate(left, WORDS3), ignored)] == [form]
    assert template(locate(mine, WORDS3), ignored) == template(locate("", WORDS3), ignored) == []


def test_stretches_of_a_template_that_touch_are_one():
    ignored = shingle(["a b c", "d e f", "x y z"], WORDS3).values
    text = "a b c d e f g x y z"
    assert [text[slice(*span)] for span in template(locate(text, WORDS3), ignored)] == ["a b c d e f", "x y z"]


def test_a_negative_gap_is_refused():
    with pytest.raises(BadOption, match="^gap is -1; allowed: 0 or more$"):
        align(locate("a", WORDS1), locate("a", WORDS1), gap=-1)


def test_a_hundred_thousand_words_that_repeat_themselves():
    """Linear: where every shingle of one text is every shingle of the other, definitions by pairs of places would take 10^10 steps."""
    text = "again " * 100_000
    (found,) = passages(text, text, WORDS3)
    assert (found.words, found.shingles) == (100_000, 99_998)
