"""What holds for the repository as a whole: layers, public names, what an import costs, and what must not be in any file."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import twinset

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/twinset"
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

# What each part may import of twinset, besides itself. Order is the flow of ARCHITECTURE.md, from below.
LAYERS = {
    "kernels": set(),
    "errors": set(),
    "layout": {"errors"},
    "parallel": {"errors"},
    "rows": {"errors"},
    "config": {"errors", "layout"},
    "documents": {"kernels", "errors", "config", "parallel"},
    "estimate": {"errors", "layout"},
    "sketch": {"kernels", "errors", "layout", "parallel", "rows", "config", "documents", "estimate"},
    "search": {"kernels", "errors", "layout", "parallel", "rows", "config", "documents", "estimate", "sketch"},
    "pairing": {"errors", "parallel", "rows", "config", "documents", "estimate", "sketch", "search"},
    "grouping": {"kernels", "errors", "pairing"},
    "passages": {"kernels", "errors", "config", "documents"},
    "comparing": {"config", "documents", "rows", "sketch"},
    "planning": {"estimate", "sketch"},
    "pipeline": {"errors", "config", "parallel", "documents", "estimate", "sketch", "search", "pairing", "grouping", "passages", "kernels"},
    "report": {"errors", "layout", "documents", "estimate", "comparing", "passages", "pipeline"},
    "studies": {"kernels", "layout", "config", "documents", "estimate", "sketch", "search"},
    "cli": {"errors", "config", "documents", "comparing", "planning", "pipeline", "report"},
    "__main__": {"cli"},
}
LIGHT = {"numpy", "numba", "llvmlite", "pyarrow", "scipy", "matplotlib"}
COMMANDS = [[], ["compare"], ["scan"], ["dedup"], ["sketch"], ["plan"]]


def imports(path):
    """Every module that a file names in an import, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module if node.module != "twinset" else f"twinset.{node.names[0].name}"


def part_of(module):
    return module.split("/")[0].removesuffix(".py")


@pytest.mark.parametrize("module", [module for module in MODULES if module != "__init__.py"])
def test_imports_point_down_the_flow(module):
    used = {name.split(".")[1] for name in imports(SOURCE / module) if name.startswith("twinset.")} - {"__version__"}
    assert used - {part_of(module)} <= LAYERS[part_of(module)]


def test_kernels_import_numpy_and_numba_only():
    for module in MODULES:
        if part_of(module) == "kernels":
            assert {name.split(".")[0] for name in imports(SOURCE / module)} <= {"numpy", "numba", "llvmlite", "functools", "typing", "twinset"}, module


def test_only_the_rim_touches_files():
    for module in MODULES:
        if part_of(module) in ("kernels", "estimate", "layout", "config", "rows", "comparing", "planning"):
            assert not {"pathlib", "os", "io", "tempfile", "pyarrow.parquet"} & set(imports(SOURCE / module)), module


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(["twinset", *command]))
def test_help_loads_no_compiler(command):
    code = f"import sys\nfrom twinset.cli import app\ntry: app({[*command, '--help']!r})\nexcept SystemExit: print('LOADED', *({LIGHT!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_importing_twinset_loads_nothing():
    code = f"import sys, twinset\nprint(*({LIGHT | {'typer', 'rich'}!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_every_public_name_is_there_and_explains_itself():
    for name in twinset.__all__:
        assert name.startswith("__") or getattr(twinset, name).__doc__, name
    assert dir(twinset) == twinset.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        twinset.nothing  # noqa: B018


def test_files_and_functions_are_short():
    for module in MODULES:
        text = (SOURCE / module).read_text(encoding="utf-8")
        assert text.count("\n") <= 450, module
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{module}: {node.name}"


def test_no_file_names_an_address():
    """Neither registries nor download addresses: what is installed is named, and where from is the machine's business."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in tracked:
        if name != "LICENSE" and Path(name).suffix in ("", ".py", ".md", ".toml", ".txt", ".csv") and (ROOT / name).exists():
            assert not re.search(r"\b(https?|ftp)://", (ROOT / name).read_text(encoding="utf-8", errors="replace")), name


def test_the_version_is_one():
    assert f'version = "{twinset.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## {twinset.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
