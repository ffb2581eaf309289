"""Sketches written are the sketches read, by this package and by any reader of Parquet; what cannot be understood is refused by name."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinset.config import SCHEME, UNICODE, Config
from twinset.errors import BadInput, IncompatibleSketches
from twinset.sketch.minhash import MinHash
from twinset.sketch.storing import FORMAT, KEY, ROWS, from_table, load, save, schema, to_batch

pytestmark = pytest.mark.compiled

KINDS = ("exact", "8", "4")
ENDINGS = (".parquet", ".arrow")
SETS = [range(100), range(50, 200), [], [7], range(90)]
IDS = pa.array(["a", "中文", "", None, "e"])

both_endings = pytest.mark.parametrize("ending", ENDINGS)


def sketched(sets=SETS, **options):
    return MinHash(**{"bits": "1.5", "samples": 140, **options}).sketch_sets(sets)


def same(left, right):
    return (
        np.array_equal(left.words, right.words)
        and left.words.dtype == right.words.dtype
        and np.array_equal(left.sizes.stored, right.sizes.stored)
        and left.sizes.stored.dtype == right.sizes.stored.dtype
        and len(left.sizes) == len(right.sizes)
        and left.config == right.config
        and left.sizes.universe == right.sizes.universe
    )


def read(path):
    """The file as any other program reads it."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    return path


def stored(sketches=None):
    sketches = sketched() if sketches is None else sketches
    return pa.Table.from_batches([to_batch(sketches, pa.array(np.arange(len(sketches))))])


def about(table):
    return json.loads(table.schema.metadata[KEY])


def retold(table, **changes):
    """The table with other metadata; a change to None takes the entry away."""
    told = {name: value for name, value in (about(table) | changes).items() if value is not None}
    return table.replace_schema_metadata({KEY: json.dumps(told).encode()})


# Round trips


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", ["64", "1.5", "1/4", "1:0.5+2:0.25+4:0.25"])
@both_endings
def test_what_is_saved_is_loaded(tmp_path, ending, bits, kind):
    sketches = replace(sketched(bits=bits, sizes=kind), ids=IDS)
    sketches.save(tmp_path / f"sketches{ending}")
    found = load(tmp_path / f"sketches{ending}")
    assert same(found, sketches)
    assert found.ids.to_pylist() == IDS.to_pylist()
    assert np.array_equal(found.matrix(sketches).value, sketches.matrix().value)
    assert list(tmp_path.iterdir()) == [tmp_path / f"sketches{ending}"]


@pytest.mark.parametrize("kind", KINDS)
@both_endings
def test_loaded_sketches_do_all_that_sketches_do(tmp_path, ending, kind):
    """Their words may be a read-only view of the file."""
    sketches = sketched(bits="64", sizes=kind)
    save(sketches, tmp_path / f"s{ending}")
    found = load(str(tmp_path / f"s{ending}"))
    assert found.ids.to_pylist() == [0, 1, 2, 3, 4]
    assert same(found.merge(found[::-1]), sketches.merge(sketches[::-1]))
    assert same(found[[3, 0]], sketches[[3, 0]])
    assert np.array_equal(found.samples(), sketches.samples())
    assert np.array_equal(next(found.blocks())[2], next(sketches.blocks())[2])
    found[1:4].save(tmp_path / f"s{ending}")
    assert same(load(tmp_path / f"s{ending}"), sketches[1:4])
    assert load(tmp_path / f"s{ending}").ids.to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("kind", KINDS)
@both_endings
def test_a_universe_survives(tmp_path, ending, kind):
    sketches = sketched(family="permutations", universe=1000, sizes=kind)
    sketches.save(tmp_path / f"s{ending}")
    found = load(tmp_path / f"s{ending}")
    assert same(found, sketches)
    assert np.array_equal(found.sizes.counts(), sketches.sizes.counts())


@pytest.mark.parametrize("rows", [0, 1, ROWS, ROWS + 1])
@both_endings
def test_any_number_of_rows(tmp_path, ending, rows):
    """Whole batches, a piece of one, and none at all. Sizes alternate, so that codes of 4 bits would show a shift."""
    values = np.arange(rows + rows // 2, dtype=np.uint64)
    offsets = np.cumsum([0, *([1, 2] * rows)[:rows]], dtype=np.int64)
    sketches = MinHash(bits="1", samples=64, sizes="4").sketch_sets((values[: offsets[-1]], offsets))
    sketches.save(tmp_path / f"s{ending}")
    assert same(load(tmp_path / f"s{ending}"), sketches)
    assert read(tmp_path / f"s{ending}").num_rows == rows


@pytest.mark.parametrize("first", [0, 1, 3, 5])
def test_a_slice_of_a_table_is_the_slice_of_its_sketches(first):
    for kind in KINDS:
        sketches = sketched(sizes=kind)
        assert same(from_table(stored(sketches).slice(first)), sketches[first:])
        pieces = pa.concat_tables([stored(sketches[:first]), stored(sketches[first:])])
        assert same(from_table(pieces), sketches)


# The file itself


@pytest.mark.parametrize("kind", KINDS)
@both_endings
def test_any_program_can_read_the_table(tmp_path, ending, kind):
    """Little-endian words, one size or one code to a row, and the whole configuration in the metadata."""
    sketches = sketched(sizes=kind)
    sketches.save(tmp_path / f"s{ending}")
    table = read(tmp_path / f"s{ending}")
    assert table.schema.names == ["id", "sketch", "size"]
    assert [[int.from_bytes(row[at : at + 8], "little") for at in range(0, len(row), 8)] for row in table["sketch"].to_pylist()] == sketches.words.tolist()
    sizes = sketches.sizes.stored if kind == "exact" else sketches.sizes.codes()
    assert table["size"].to_pylist() == sizes.tolist()
    assert table.schema.field("size").type == (pa.int64() if kind == "exact" else pa.uint8())
    config = sketches.config
    assert about(table) == {"format": FORMAT, "scheme": SCHEME, "unicode": UNICODE, "fingerprint": config.fingerprint, "config": config.to_dict()}
    assert table.schema.remove_metadata() == schema(config, pa.int64()).remove_metadata()


def test_columns_that_others_add_do_no_harm(tmp_path):
    sketches = sketched()
    more = stored(sketches).append_column("url", pa.array(["example.org"] * 5)).select(["url", "size", "sketch", "id"])
    assert same(load(write(more, tmp_path / "s.parquet")), sketches)


# Refusals


@both_endings
@pytest.mark.parametrize(
    ("name", "value", "allowed"), [("format", FORMAT + 1, FORMAT), ("scheme", SCHEME + 1, SCHEME), ("scheme", None, SCHEME), ("unicode", "16.0.0", repr(UNICODE))]
)
def test_sketches_of_other_rules_are_refused(tmp_path, ending, name, value, allowed):
    path = write(retold(stored(), **{name: value}), tmp_path / f"s{ending}")
    with pytest.raises(IncompatibleSketches, match=f"^the sketches were made under {name} {value!r}; allowed: {allowed}, or sketch the documents again$"):
        load(path)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (None, "'config'"),
        ({**Config().to_dict(), "salt": 1}, "unexpected keyword argument 'salt'"),
        ({**Config().to_dict(), "samples": 0}, "samples is 0; allowed: 1 to 16777216"),
        ({**Config().to_dict(), "family": "sha1"}, "family is 'sha1'"),
        ({**Config().to_dict(), "seed": "x"}, "'str'"),
        ([1], "must be a mapping"),
    ],
)
def test_a_configuration_that_is_not_one_is_refused(tmp_path, config, said):
    path = write(retold(stored(), config=config), tmp_path / "s.parquet")
    with pytest.raises(BadInput, match=f"^{path}: the configuration is not understood .*{said}.*; allowed: one that this version of twinset writes$"):
        load(path)


def test_sketches_of_another_length_than_configured_are_refused(tmp_path):
    path = write(retold(stored(), config=Config(bits="8", samples=64).to_dict()), tmp_path / "s.parquet")
    with pytest.raises(BadInput, match=r"the sketch column has type fixed_size_binary\[\d+\]; allowed under the stored configuration: 64 bytes$"):
        load(path)


@both_endings
def test_a_table_of_something_else_is_refused(tmp_path, ending):
    plain = pa.table({"id": [1], "text": ["a"]})
    for table, names in ((plain, "id, text"), (stored().drop(["size"]), "id, sketch"), (stored().replace_schema_metadata({}), "id, sketch, size")):
        path = write(table, tmp_path / f"s{ending}")
        with pytest.raises(BadInput, match=f"^{path}: columns {names} are not stored sketches; allowed: a file that `twinset sketch`, Sketches.save or Fingerprints.save wrote$"):
            load(path)


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.9, "all but one byte"])
@both_endings
def test_a_truncated_file_is_refused(tmp_path, ending, keep):
    path = tmp_path / f"s{ending}"
    sketched().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] if isinstance(keep, str) else whole[: int(len(whole) * keep)])
    with pytest.raises(BadInput, match=f"^{path} cannot be read as .*; allowed: "):
        load(path)


@both_endings
def test_a_file_that_is_no_table_is_refused(tmp_path, ending):
    path = tmp_path / f"s{ending}"
    path.write_bytes(b"id,text\n1,hello world\n" * 50)
    with pytest.raises(BadInput, match=f"^{path} cannot be read as .*; allowed: "):
        load(path)
    with pytest.raises(BadInput, match=f"^{tmp_path} is a directory; allowed: a Parquet or Arrow file$"):
        load(tmp_path)
    with pytest.raises(BadInput, match="none.parquet does not exist; allowed: a Parquet or Arrow file$"):
        load(tmp_path / "none.parquet")


@pytest.mark.parametrize("name", ["s.txt", "s", "folder.parquet", "absent/s.parquet"])
def test_where_nothing_can_be_written_nothing_is_left(tmp_path, name):
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(BadInput, match=f"{name} (ends in '.*'|is a directory|cannot be written .*); allowed"):
        sketched().save(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.parquet"]


@both_endings
def test_a_disk_that_runs_full_leaves_the_file_that_was_there(tmp_path, ending):
    """As a limit on the size of a file, which makes the same error half-way through the write."""
    resource = pytest.importorskip("resource")
    path, small, large = tmp_path / f"s{ending}", sketched(), sketched([[row] for row in range(300)], bits="64", samples=1024)
    small.save(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(BadInput, match=f"^{path} cannot be written .*; allowed: a disk with room$"):
            large.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert same(load(path), small)
    assert list(tmp_path.iterdir()) == [path]
