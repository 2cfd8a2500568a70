"""The folders and the rooms of `pipelines` import in one direction; all are installed below `spanwise`."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

import pytest

import spanwise

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]

# A folder may import itself, the folders listed here, and the contract.
MAY_IMPORT = {
    "pipelines": {"retrieval", "reader", "index", "models", "corpora", "eval"},
    "retrieval": {"index", "models", "eval"},
    "reader": {"models", "eval"},
    "index": set(),
    "models": set(),
    "corpora": set(),
    "eval": set(),
}
# The staircase of `pipelines`, from the top. A room, a folder or a module, may import itself, the rooms that
# are listed here, and whatever these may import. A room may be missing from the tree.
NEXT_ROOMS = {
    "cli": {"server", "mcp", "adapters", "training"},
    "server": {"open"},
    "mcp": {"open"},
    "adapters": {"open"},
    "training": {"evaluation"},
    "evaluation": {"open"},
    "open": {"cluster"},
    "cluster": {"library"},
    "library": {"answering"},
    "answering": {"understanding", "tables", "parsing", "json_records"},
    "tables": {"understanding"},
    "understanding": {"plain_text"},
    "parsing": {"folders"},
    "json_records": {"plain_text"},
    "plain_text": set(),
    "folders": set(),
    "__init__": {"moved"},
    "moved": set(),
}
# Imports up the staircase: a module and the room that it imports. No new ones; remove those that are gone.
UPWARD = {
    ("answering.summarize", "library"),
    ("json_records", "answering"),
}
CONTRACT = {
    f"spanwise.{name}"
    for name in (
        "types",
        "documents",
        "options",
        "search_results",
        "written",
        "errors",
        "postponed",
        "version",
    )
}


def imports_of(source: str, package: str) -> Iterator[tuple[ast.stmt, str]]:
    """Each import statement with the full name of the import, relative ones resolved in `package`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from ((node, f"{module}.{alias.name}") for alias in node.names)


def offences(source: str, package: str) -> list[str]:
    """A message for each import of a module of `package` that its folder does not allow."""
    folder = package.split(".")[1]
    allowed = MAY_IMPORT[folder] | {folder}
    messages = []
    for node, name in imports_of(source, package):
        parts = name.split(".")
        if parts[0] in MAY_IMPORT:
            messages.append(f"line {node.lineno}: {name} is spelled without `spanwise.`")
        elif parts[0] == "spanwise" and ".".join(parts[:2]) not in CONTRACT:
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            if parts[1] not in allowed:
                messages.append(f"line {node.lineno}: {folder} may not import {name}")
            elif not relative:
                messages.append(f"line {node.lineno}: {name} is not imported relatively")
    return messages


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_folder_imports_only_what_lies_below_it(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        package = ".".join(["spanwise", *path.parent.relative_to(ROOT).parts])
        assert offences(path.read_text(encoding="utf-8"), package) == [], path


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("spanwise.retrieval", "from ..reader.spans import Spans"),
        ("spanwise.models", "import spanwise.index.store"),
        ("spanwise.pipelines", "from spanwise.index.store import Store"),
        ("spanwise.pipelines", "import index"),
        ("spanwise.corpora", "def late():\n    from ..pipelines import sync"),
    ],
)
def test_an_import_against_the_direction_is_noticed(package: str, line: str) -> None:
    assert len(offences(line, package)) == 1


def rooms_below(room: str) -> set[str]:
    """The rooms that a room may import."""
    return NEXT_ROOMS[room].union(*map(rooms_below, NEXT_ROOMS[room]))


def upward_imports(source: str, module: str) -> set[tuple[str, str]]:
    """The module, named relative to `pipelines`, with each room that it imports and that is not below it."""
    room, *rest = module.split(".")
    package = ".".join(["spanwise", "pipelines", room] if rest else ["spanwise", "pipelines"])
    names = (name.split(".") for _, name in imports_of(source, package))
    imported = {parts[2] for parts in names if parts[:2] == ["spanwise", "pipelines"] and len(parts) > 2}
    return {(module, other) for other in imported - rooms_below(room) - {room}}


def test_imports_go_up_the_staircase_only_where_they_are_known_to() -> None:
    pipelines = ROOT / "pipelines"
    upward: set[tuple[str, str]] = set()
    for path in pipelines.rglob("*.py"):
        module = ".".join(path.relative_to(pipelines).with_suffix("").parts)
        upward |= upward_imports(path.read_text(encoding="utf-8"), module)
    assert upward == UPWARD


@pytest.mark.parametrize(
    ("module", "line", "room"),
    [
        ("library.status", "from ..open import open", "open"),
        ("answering.ask", "def late():\n    from ..training.reader import train_reader", "training"),
        ("tables.finder", "from ..answering import ask", "answering"),
        ("understanding.question", "from ..tables.table import Table", "tables"),
        ("plain_text", "from .parsing import pool", "parsing"),
        ("server.app", "from ..mcp import serve", "mcp"),
    ],
)
def test_an_import_up_the_staircase_is_noticed(module: str, line: str, room: str) -> None:
    assert upward_imports(line, module) == {(module, room)}


def test_imports_down_the_staircase_are_allowed() -> None:
    lines = "from ..understanding import patterns\nfrom ..tables.finder import found\nfrom ..folders import x"
    assert upward_imports(lines, "answering.ask") == set()
    assert upward_imports(lines, "server.app") == set()


@pytest.mark.parametrize("path", sorted((ROOT / "spanwise").glob("*.py")), ids=lambda path: path.name)
def test_the_public_face_imports_the_standard_library_at_once_and_pipelines_later(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    at_once = ast.parse(source).body
    for node, name in imports_of(source, "spanwise"):
        top, second = [*name.split("."), ""][:2]
        late = node not in at_once
        here = ".".join([top, second]) in CONTRACT or (late and second == "pipelines")
        assert here if top == "spanwise" else top in sys.stdlib_module_names, (node.lineno, name)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "spanwise" / "adapters").glob("*.py")), ids=lambda path: path.name
)
def test_an_adapter_imports_public_names_and_its_framework(path: Path) -> None:
    public = {f"spanwise.{name}" for name in spanwise.__all__}
    for node, name in imports_of(path.read_text(encoding="utf-8"), "spanwise.adapters"):
        assert path.name != "__init__.py", (node.lineno, name)
        top, second = [*name.split("."), ""][:2]
        is_allowed = f"{top}.{second}" in public | CONTRACT or second == "adapters"
        assert is_allowed if top == "spanwise" else top not in MAY_IMPORT, (node.lineno, name)


def test_packages_in_pyproject_are_those_in_the_tree() -> None:
    tree = {"spanwise": "spanwise", "spanwise.adapters": "spanwise/adapters"}
    for folder in MAY_IMPORT:
        for init in (ROOT / folder).rglob("__init__.py"):
            path = init.parent.relative_to(ROOT)
            tree[".".join(["spanwise", *path.parts])] = path.as_posix()
    assert SETUPTOOLS["package-dir"] == tree
    assert sorted(SETUPTOOLS["packages"]) == sorted(tree)
    assert "py-modules" not in SETUPTOOLS


def test_package_data_are_lists_of_patterns_in_packages() -> None:
    assert set(SETUPTOOLS["package-data"]) <= set(SETUPTOOLS["packages"])
    assert all(isinstance(patterns, list) for patterns in SETUPTOOLS["package-data"].values())
