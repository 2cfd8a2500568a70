"""What the source never does: run data as code, build SQL from strings, grow beyond its limits."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.promise("T9")

ROOT = Path(__file__).parent.parent
FOLDERS = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
RUNS_DATA = re.compile(
    r"((pickle|cPickle|dill|cloudpickle|marshal|shelve)(\..*)?|(torch|joblib|yaml)\.load|pandas\.read_pickle"
    r"|yaml\.(unsafe|full)_load|(builtins\.)?(eval|exec|compile|__import__))"
)
SQL_CALLS = {"execute", "executemany", "executescript", "query", "execute_returning_dicts"}
Check = Callable[[ast.AST], Iterator[str]]


def unsafe(tree: ast.AST) -> Iterator[str]:
    """Each import or call through which a file could run code; a model's `.eval()` is none of them."""
    for node in ast.walk(tree):
        names: list[str] = []
        match node:
            case ast.Import(names=imported):
                names = [alias.name for alias in imported]
            case ast.ImportFrom(module=str(module), level=0, names=imported):
                names = [f"{module}.{alias.name}" for alias in imported]
            case ast.Call(func=ast.Attribute(attr="eval"), args=args, keywords=keywords) if args or keywords:
                yield ast.unparse(node)
            case ast.Call(func=function):
                names = [ast.unparse(function)]
            case ast.keyword(arg="allow_pickle" | "trust_remote_code" as name, value=value):
                if ast.unparse(value) != "False":
                    yield name
        yield from filter(RUNS_DATA.fullmatch, names)


def built_sql(tree: ast.AST) -> Iterator[str]:
    """Each SQL call whose statement is put together from strings instead of binding parameters."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=attr), args=[statement, *_]) if attr in SQL_CALLS:
                if any(map(is_built, ast.walk(statement))):
                    yield ast.unparse(node)


def is_built(part: ast.AST) -> bool:
    match part:
        case ast.FormattedValue() | ast.BinOp(op=ast.Mod() | ast.Add()):
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "join" | "replace")):
            return True
    return False


@pytest.mark.parametrize("check", [unsafe, built_sql])
def test_the_source_runs_no_data_and_builds_no_sql(check: Check) -> None:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > 100
    by_path = {path: list(check(ast.parse(path.read_text(encoding="utf-8")))) for path in paths}
    assert {path: calls for path, calls in by_path.items() if calls} == {}


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (unsafe, "import pickle"),
        (unsafe, "from pickle import loads"),
        (unsafe, "from torch import load"),
        (unsafe, "torch.load(path, weights_only=True)"),
        (unsafe, "np.load(path, allow_pickle=True)"),
        (unsafe, "yaml.load(text)"),
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


@pytest.fixture(scope="module")
def size() -> ModuleType:
    """The script that measures the source."""
    spec = importlib.util.spec_from_file_location("size", ROOT / "scripts/size.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["size"] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "n_squeezed", "n_names"),
    [
        ("a, b = x, y", 1, 0),
        ("self.a, self.b = x, y", 1, 0),
        ("f(*(g(x) for x in xs), y)", 1, 0),
        ("f(*[x, y])", 1, 0),
        ("one = x", 0, 1),
        ("def f(at): return at", 0, 1),
        ("for found in x: pass", 0, 1),
        ("a, b = b, a", 0, 0),
        ("a[i], a[j] = a[j], a[i]", 0, 0),
        ("a, b = f(x)", 0, 0),
        ("f(*xs)", 0, 0),
        ("x.found = x", 0, 0),
        ("class A:\n    found: int", 0, 0),
    ],
)
def test_squeezed_statements_and_names_of_nothing_are_counted(
    size: ModuleType, line: str, n_squeezed: int, n_names: int
) -> None:
    tree = ast.parse(line)
    assert len(list(size.squeezed(tree))) == n_squeezed
    assert len(list(size.names_of_nothing(tree))) == n_names


def test_a_long_string_counts_its_words_and_a_docstring_none(size: ModuleType) -> None:
    words = "word " * 50
    assert size.n_tokens(f'"""{words}"""\n') == 0
    assert size.n_tokens(f'SQL = """{words}"""\n') == 2 + 50
    assert size.n_tokens('SQL = "a few words"\n') == 2


def test_a_circle_of_imports_is_found(size: ModuleType) -> None:
    assert size.circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(size.circle({"a": {"b"}, "b": {"a"}})) == {"a", "b"}


def test_the_longest_body_has_no_signature_and_no_docstring(size: ModuleType) -> None:
    source = 'def f(\n    x,\n):\n    """Doc."""\n    a = 1\n    return a\n'
    assert size.longest_body(ast.parse(source)) == 2


def test_the_limits_of_size_hold() -> None:
    done = subprocess.run([sys.executable, "scripts/size.py"], cwd=ROOT, capture_output=True, text=True)
    print(done.stdout)  # how far each figure is from its limit
    assert done.returncode == 0, done.stdout
