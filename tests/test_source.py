"""What the source never does: run data as code, build SQL from strings."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
    "packages"
]
FOLDERS = ["spanwise", *sorted({package.split(".")[1] for package in _PACKAGES if "." in package})]
SOURCE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

RUN_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
LOADERS = {
    "torch.load",
    "joblib.load",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
    "pandas.read_pickle",
}
BUILTINS = {"eval", "exec", "compile", "__import__"}
SQL_CALLS = {"execute", "executemany", "executescript", "query", "execute_returning_dicts"}


def unsafe(tree: ast.AST) -> Iterator[str]:
    """Each import or call through which a file could run code; a model's `.eval()` is none of them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (f"import {a.name}" for a in names if a.name.split(".")[0] in RUN_DATA)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                full = {f"{module}.{alias.name}" for alias in names}
                yield from sorted(full & LOADERS | {module for _ in full if module.split(".")[0] in RUN_DATA})
            case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
                yield f"{name}()"
            case ast.Call(func=ast.Attribute()) if ast.unparse(node.func) in LOADERS | {
                "builtins.eval",
                "builtins.exec",
            }:
                yield f"{ast.unparse(node.func)}()"
            case ast.Call(func=ast.Attribute(attr="eval"), args=args, keywords=keywords) if args or keywords:
                yield "eval() with arguments"
            case ast.keyword(arg="allow_pickle", value=value) if ast.unparse(value) != "False":
                yield "allow_pickle"
            case ast.keyword(arg="trust_remote_code", value=value) if ast.unparse(value) != "False":
                yield "trust_remote_code"


def built_sql(tree: ast.AST) -> Iterator[str]:
    """Each SQL call whose statement is put together from strings instead of binding parameters."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=attr), args=[statement, *_]) if attr in SQL_CALLS:
                if any(_is_built(part) for part in ast.walk(statement)):
                    yield ast.unparse(node)


def _is_built(part: ast.AST) -> bool:
    match part:
        case ast.JoinedStr(values=values):
            return any(isinstance(value, ast.FormattedValue) for value in values)
        case (
            ast.BinOp(op=ast.Mod() | ast.Add())
            | ast.Call(func=ast.Attribute(attr="format" | "join" | "replace"))
        ):
            return True
    return False


Check = Callable[[ast.AST], Iterator[str]]


@pytest.mark.promise("T9")
@pytest.mark.parametrize("check", [unsafe, built_sql])
def test_the_source_is_free_of_it(check: Check) -> None:
    found = {path: list(check(ast.parse(path.read_text(encoding="utf-8")))) for path in SOURCE}
    assert {str(path.relative_to(ROOT)): calls for path, calls in found.items() if calls} == {}


@pytest.mark.promise("T9")
@pytest.mark.parametrize(
    ("check", "line"),
    [
        (unsafe, "import pickle"),
        (unsafe, "from pickle import loads"),
        (unsafe, "from torch import load"),
        (unsafe, "torch.load(path, weights_only=True)"),
        (unsafe, "np.load(path, allow_pickle=True)"),
        (unsafe, "yaml.load(text)"),
        (unsafe, "joblib.load(path)"),
        (unsafe, "eval(text)"),
        (unsafe, "exec(text)"),
        (unsafe, "frame.eval('a + b')"),
        (unsafe, "AutoModel.from_pretrained(name, trust_remote_code=True)"),
        (built_sql, "db.execute(f'SELECT * FROM {table}')"),
        (built_sql, "db.execute('SELECT * FROM %s' % table)"),
        (built_sql, "db.query('SELECT * FROM ' + table)"),
        (built_sql, "db.execute('SELECT * FROM {}'.format(table))"),
    ],
)
def test_a_planted_offence_is_noticed(check: Check, line: str) -> None:
    assert len(list(check(ast.parse(line)))) == 1
