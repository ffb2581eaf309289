"""Files at addresses: fetched, deduplicated and delivered through Arrow's file systems, of which the local one stands for all."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinset.documents.remote import is_address, staged
from twinset.errors import BadInput

TEXTS = ["one two three four five six", "One, two: three four five SIX!", "something else altogether, in other words"]


@pytest.fixture
def store(tmp_path):
    """The address of a store that holds in/a.parquet."""
    (tmp_path / "store/in").mkdir(parents=True)
    pq.write_table(pa.table({"id": ["x", "y", "z"], "text": TEXTS}), tmp_path / "store/in/a.parquet")
    return (tmp_path / "store").as_uri()


@pytest.fixture
def here(tmp_path):
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def dedup(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "twinset", "dedup", *arguments, "--json"], cwd=folder, capture_output=True, text=True)


@pytest.mark.compiled
def test_from_an_address_to_an_address(store, here):
    done = dedup(here, f"{store}/in/a.parquet", "-o", f"{store}/out/b.parquet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["removed"] == 1
    assert pq.read_table(here.parent / "store/out/b.parquet")["id"].to_pylist() == ["x", "z"]
    assert not list(here.iterdir())


@pytest.mark.compiled
def test_a_folder_at_an_address_to_a_file_here(store, here):
    done = dedup(here, f"{store}/in", "-o", "out.parquet")
    assert done.returncode == 0, done.stderr
    assert pq.read_table(here / "out.parquet")["id"].to_pylist() == ["x", "z"]
    assert [path.name for path in here.iterdir()] == ["out.parquet"]


def test_what_is_fetched_stays_after_an_error_and_is_not_fetched_again(store, here):
    out, seen = str(here / "out.parquet"), []
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), staged([f"{store}/in/a.parquet"], out) as at:  # noqa: PT012 - the error has to come inside
            (name,) = at.sources
            seen.append((name, (here / name).stat().st_mtime_ns))
            raise KeyboardInterrupt
    assert seen[0] == seen[1]
    with staged([f"{store}/in/a.parquet"], out) as at:
        assert pq.read_table(at.sources[0]).num_rows == 3
    assert not at.folder.exists()


def test_what_is_not_there(store, here):
    with pytest.raises(BadInput, match="does not exist"), staged([f"{store}/nothing.parquet"], str(here / "out.parquet")):
        pass


def test_an_unknown_kind_of_address_is_one_line(here):
    done = dedup(here, "gopher://rows/a.parquet", "-o", "b.parquet")
    assert done.returncode == 2
    assert done.stderr.startswith("twinset: gopher://rows/a.parquet is not an address")
    assert done.stderr.count("\n") == 1
    assert not list(here.iterdir())


def test_paths_stay_paths():
    assert not is_address("C:/rows.parquet")
    with staged(["a.parquet"], "out.parquet", ["b.parquet"]) as at:
        assert (at.sources, at.against, str(at.out)) == (["a.parquet"], ["b.parquet"], "out.parquet")
        assert not at.folder.exists()
