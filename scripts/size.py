"""Prints the size of the project: lines, tokens, modules, words, import cycles.

`python scripts/size.py` prints each figure with its limit and exits with 1 when one is exceeded.
Imports are read from the syntax tree; imports for type checking alone do not count.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
FOLDERS = (*PACKAGES, "benchmarks", "scripts", "examples")
PAGE = ROOT / "pipelines" / "server" / "page"
GENERATED = ("docs/api.md", "docs/cli.md", "CHANGELOG.md")
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER}
SMALL = 60  # lines; a smaller module with a single importer has to justify itself


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value with its limit; `at_least` turns the comparison round."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def is_kept(self) -> bool:
        """True when the value is within its limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def python_files(*folders: str) -> list[Path]:
    """The Python files of some folders, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def n_lines(path: Path) -> int:
    """The number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def n_tokens(path: Path) -> int:
    """The number of names, operators and numbers of a Python file."""
    readline = io.StringIO(path.read_text(encoding="utf-8")).readline
    return sum(token.type in COUNTED for token in tokenize.generate_tokens(readline))


def name_of(path: Path) -> str:
    """The name of a module relative to the project's root."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Each import statement, at any depth, but for those below `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from statements(child)


def targets(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the project that a module imports."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted = [(alias.name,) for alias in node.names]
        else:
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *((node.module or "").split(".") if node.module else [])])
            wanted = [(f"{base}.{alias.name}", base) for alias in node.names]
        for names in wanted:  # a submodule first, else the module that holds the name
            short = [name.removeprefix("spanwise.") for name in names]
            found |= set(next(([name] for name in short if name in known), []))
    return found - {name_of(path)}


def imports() -> dict[str, set[str]]:
    """The modules that each module imports."""
    known = {name_of(path): path for path in python_files(*FOLDERS)}
    return {name: targets(path, known) for name, path in known.items()}


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of the first circle of imports; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def small_single(graph: dict[str, set[str]]) -> list[str]:
    """Modules under 60 lines that exactly one other module imports."""
    known = {name_of(path): path for path in python_files(*FOLDERS)}
    importers = {name: [other for other in graph if name in graph[other]] for name in known}
    return [
        name
        for name, path in known.items()
        if path.name != "__init__.py" and n_lines(path) < SMALL and len(importers[name]) == 1
    ]


def n_words() -> int:
    """The words of all Markdown pages but the changelog, model cards, generated pages and documents."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    left_out = {ROOT / name for name in GENERATED}
    return sum(len(re.findall(r"\S+", p.read_text(encoding="utf-8"))) for p in pages if p not in left_out)


def figures() -> list[Figure]:
    """All figures with their limits."""
    source, tests = python_files(*FOLDERS), python_files("tests")
    graph = imports()
    lengths = [n_lines(path) for path in source]
    modules = [n for n, path in zip(lengths, source, strict=True) if path.name != "__init__.py"]
    page = [path for path in PAGE.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    return [
        Figure("lines of Python outside tests", sum(lengths), 37_500),
        Figure("tokens of Python outside tests", sum(n_tokens(path) for path in source), 300_000),
        Figure("modules", len(source), 220),
        Figure("lines of the longest module", max(lengths), 500),
        Figure("median lines of a module", median(modules), 100, at_least=True),
        Figure("modules under 60 lines with one importer", len(small_single(graph)), 5),
        Figure("modules in an import cycle", len(cycle(graph)), 0),
        Figure("lines of tests", sum(n_lines(path) for path in tests), 21_500),
        Figure("words of Markdown pages", n_words(), 15_500),
        Figure("lines of the page", sum(n_lines(path) for path in page), 1_400),
    ]


def main() -> int:
    """Print the figures; 1 when a limit is exceeded."""
    found = figures()
    for figure in found:
        sign = ">=" if figure.at_least else "<="
        print(
            f"{figure.name:41} {figure.value:9,.0f}  {sign} {figure.limit:,}{'' if figure.is_kept else '  !'}"
        )
    graph = imports()
    if found_cycle := cycle(graph):
        print("cycle:", *found_cycle)
    if "--small" in sys.argv:
        print("small:", *small_single(graph), sep="\n  ")
    return int(not all(figure.is_kept for figure in found))


if __name__ == "__main__":
    sys.exit(main())
