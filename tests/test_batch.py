"""A batch against a store on disk finds what the same batch against the same fingerprints in memory does."""

import numpy as np
import pytest
from test_blocks import pairs
from test_volatile import NORMAL, sketched

from twinset.errors import BadInput, BadOption, IncompatibleSketches
from twinset.search.batch import Store, blocks_batch, volatile_batch
from twinset.search.blocks import Blocks
from twinset.search.volatile import Volatile

pytestmark = pytest.mark.compiled


@pytest.fixture(params=[64, 128])
def filled(request, tmp_path):
    """500 fingerprints added in three batches, and 100 more to ask for."""
    data = sketched(600, request.param, copies=6)
    store = Store(tmp_path / "store", data.fingerprint)
    for first, last in ((0, 250), (250, 260), (260, 500)):
        store.append(data[first:last])
    return store, data[:500], data[500:]


@pytest.mark.parametrize("table", [True, False])
def test_blocks(filled, table):
    store, stored, batch = filled
    assert len(store) == 500
    assert pairs(blocks_batch(store, batch, table=table)) == pairs(Blocks(stored).query(batch))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("probes", [0, 5, 10**6])
def test_volatile(filled, probes, threads):
    store, stored, batch = filled
    expected = pairs(Volatile(stored, flips=NORMAL, probes=probes, header_bits=5).query(batch))
    assert pairs(volatile_batch(store, batch, flips=NORMAL, probes=probes, header_bits=5, threads=threads)) == expected


def test_first_stops_at_a_match(filled):
    store, stored, batch = filled
    every = pairs(volatile_batch(store, batch, flips=NORMAL, probes=9))
    found = pairs(volatile_batch(store, batch, flips=NORMAL, probes=9, first=True))
    assert set(found) <= set(every)
    assert [left for left, _ in found] == sorted({left for left, _ in every})
    seen = []
    easy = stored[:20]
    assert len(volatile_batch(store, easy, flips=NORMAL, probes=0, first=True, progress=lambda done, total: seen.append(done))) == 20
    assert seen[-1] <= 250  # all are matched in the first file, and the rest is not read


def test_files_are_sorted_and_whole(filled):
    store, stored, _ = filled
    chunks = list(store.chunks(64))
    assert [len(chunk.numbers) for chunk in chunks] == [64, 64, 64, 58, 10, 64, 64, 64, 48]
    numbers = np.concatenate([chunk.numbers for chunk in chunks])
    assert np.array_equal(np.sort(numbers), np.arange(500))
    assert np.array_equal(np.concatenate([chunk.words for chunk in chunks]), stored.words[numbers])
    for chunk in chunks:
        assert (np.diff((chunk.words[:, 0] >> np.uint64(32)).astype(np.int64)) >= 0).all()
    assert not list(store.folder.glob("*.partial"))


def test_a_store_is_opened_again(filled):
    store, stored, batch = filled
    again = Store(store.folder, stored.fingerprint)
    again.append(batch)
    assert len(again) == len(store) == 600
    with pytest.raises(IncompatibleSketches, match="holds fingerprints"):
        Store(store.folder, "other")


def test_wrong_batches_are_refused(filled, tmp_path):
    store, _, batch = filled
    other = sketched(10, 192 - batch.bits)
    with pytest.raises(IncompatibleSketches):
        store.append(other)
    with pytest.raises(BadOption, match="probes is -1"):
        volatile_batch(store, batch, flips=NORMAL, probes=-1)
    with pytest.raises(BadInput, match="no projections"):
        volatile_batch(store, sketched(10, batch.bits, keep=False), flips=NORMAL, probes=1)


def test_what_is_no_store_is_refused_and_other_files_are_let_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is a file"):
        Store(tmp_path / "file", "x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "fingerprint.json").write_text("{")
    with pytest.raises(BadInput, match="is not understood"):
        Store(tmp_path / "broken", "x")
    store = Store(tmp_path / "store", "x")
    (tmp_path / "store" / "notes.npy").write_bytes(b"")
    assert (len(store), list(store.chunks(10))) == (0, [])
