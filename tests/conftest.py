"""Before any test: stale compiled kernels are dropped; without the compiler, tests that need it are skipped."""

from contextlib import suppress
from pathlib import Path

import numba
import pytest

KERNELS = Path(__file__).parents[1] / "src/twinset/kernels"


def drop_stale(folder):
    """Numba's cache watches a kernel's own file only, not the kernels that it calls: forget what was compiled before the newest of them was written."""
    newest = max(file.stat().st_mtime for file in folder.glob("*.py"))
    for file in (folder / "__pycache__").glob("*.nb[ic]"):
        with suppress(FileNotFoundError):  # another run may do the same
            if file.stat().st_mtime < newest:
                file.unlink()


def pytest_configure(config):
    config.addinivalue_line("markers", "compiled: calls the machine operations of kernels/vector.py, blocks.py and probing.py, which exist in compiled code only")
    drop_stale(KERNELS)


def pytest_collection_modifyitems(items):
    """NUMBA_DISABLE_JIT=1 runs the kernels as plain Python, to count their coverage. What needs the compiler is skipped: shingles, minima, agreement, and all above them.

    The kernels of normalising, packing, merging, overlap and the study families run either way.
    """
    if numba.config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.skip(reason="needs compiled code: vector operations have no plain form"))
