"""Config: defaults, checks, and a fingerprint that every field and every rule behind it changes."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from twinset import config as module
from twinset.config import FAMILIES, MAX_SHINGLE, MAX_UNIVERSE, SIZES, Config
from twinset.errors import BadLayout, BadOption
from twinset.layout import parse

DEFAULTS = {
    "bits": "1.5",
    "samples": 1024,
    "shingle": "words:5",
    "case": False,
    "space": True,
    "seed": 42,
    "family": "production",
    "universe": 0,
    "sizes": "exact",
}
PERMUTATIONS = Config(family="permutations", universe=100)
CHANGES = [
    {"bits": "1"},
    {"bits": "1.5=1:0.75+3:0.25"},
    {"samples": 512},
    {"shingle": "words:4"},
    {"shingle": "chars:5"},
    {"case": True},
    {"space": False},
    {"seed": 43},
    *({"family": family} for family in FAMILIES if family not in ("production", "permutations")),
    {"sizes": "8"},
    {"sizes": "4"},
]


def test_defaults():
    assert Config().to_dict() == DEFAULTS
    assert Config(**DEFAULTS) == Config()


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_the_fingerprint_changes_with_every_field(change):
    assert Config(**change).fingerprint != Config().fingerprint


def test_fingerprints_are_all_different_and_every_field_was_tried():
    tried = [Config(), PERMUTATIONS, replace(PERMUTATIONS, universe=101), *(Config(**change) for change in CHANGES)]
    assert len({config.fingerprint for config in tried}) == len(tried)
    assert {name for change in CHANGES for name in change} | {"universe"} == {option.name for option in fields(Config)}


@pytest.mark.parametrize(("name", "value"), [("SCHEME", module.SCHEME + 1), ("UNICODE", "16.0.0")])
def test_the_fingerprint_changes_with_the_rules_behind_it(monkeypatch, name, value):
    before = Config().fingerprint
    monkeypatch.setattr(module, name, value)
    assert Config().fingerprint != before


def test_the_fingerprint_is_pinned():
    """Sketches on disk carry it. A change of a default or of SCHEME changes it on purpose: then pin the new one."""
    assert Config().fingerprint == "50679dedd594da1e"


def test_the_fingerprint_is_the_same_in_another_process():
    """Whatever the hash seed of that process is."""
    script = "from twinset.config import Config; print(Config(seed=7, case=True).fingerprint)"
    other = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    assert other.stdout.strip() == Config(seed=7, case=True).fingerprint
    assert len(other.stdout.strip()) == 16


def test_equal_configurations_have_equal_fingerprints_and_survive_json():
    config = Config(bits="3/4", samples=100, shingle="chars:7", space=False, seed=2**64 - 1, sizes="4")
    again = Config(**json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert again.fingerprint == config.fingerprint


def test_numbers_stand_for_their_text_in_bits_and_sizes():
    assert Config(bits=1.5, sizes=8) == Config(bits="1.5", sizes="8")
    assert Config(bits=64).fingerprint == Config(bits="64").fingerprint


def test_a_configuration_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Config().seed = 1


def test_layout_unit_and_width():
    config = Config(bits="1/2", samples=70, shingle="chars:12")
    assert config.layout == parse("1/2", 70)
    assert (config.unit, config.width) == ("chars", 12)
    assert (Config().unit, Config().width) == ("words", 5)
    assert Config(shingle=f"words:{MAX_SHINGLE}").width == MAX_SHINGLE


@pytest.mark.parametrize("option", [option.name for option in fields(Config)])
def test_every_option_has_a_help_text(option):
    text = Config.help(option)
    assert text.endswith(".")
    assert text[0].isupper() or text[0] == "'"


def test_help_names_what_is_allowed():
    assert all(family in Config.help("family") for family in FAMILIES)
    assert Config.help("samples") == "Samples in a sketch."


@pytest.mark.parametrize(
    "shingle", ["", "words", "words:", "words:0", f"words:{MAX_SHINGLE + 1}", "words:1234567", "lines:3", "words:5 ", "Words:5", "words:-1", "words:1.5", "chars:٣", "words:5\n"]
)
def test_a_bad_shingle_is_refused(shingle):
    with pytest.raises(BadOption, match=rf"^shingle is .*; allowed: 'words:W' or 'chars:K' with a number from 1 to {MAX_SHINGLE}$"):
        Config(shingle=shingle)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(BadOption, match=rf"^seed is {seed}; allowed: 0 to 2\^64 - 1$"):
        Config(seed=seed)
    assert Config(seed=2**64 - 1).seed == 2**64 - 1


def test_an_unknown_family_is_refused():
    with pytest.raises(BadOption, match=f"^family is 'sha1'; allowed: {', '.join(FAMILIES)}$"):
        Config(family="sha1")


@pytest.mark.parametrize("sizes", ["16", "none", 2])
def test_an_unknown_kind_of_sizes_is_refused(sizes):
    with pytest.raises(BadOption, match=f"^sizes is '{sizes}'; allowed: {', '.join(SIZES)}$"):
        Config(sizes=sizes)


@pytest.mark.parametrize(("family", "universe"), [("permutations", 0), ("permutations", -5), ("permutations", MAX_UNIVERSE + 1), ("production", 10), ("modular", -1)])
def test_a_universe_belongs_to_permutations_alone(family, universe):
    with pytest.raises(BadOption, match=f"^universe is {universe}; allowed: 1 to {MAX_UNIVERSE} with family 'permutations', 0 with any other$"):
        Config(family=family, universe=universe)
    assert Config(family="permutations", universe=MAX_UNIVERSE).universe == MAX_UNIVERSE


def test_a_bad_layout_is_refused_at_once():
    with pytest.raises(BadLayout, match=r"layout '0\.5' is not a number of bits"):
        Config(bits=0.5)
    with pytest.raises(BadLayout, match="cannot divide 1001 samples"):
        Config(samples=1001)
