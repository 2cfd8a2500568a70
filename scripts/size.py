"""Prints the size of the project: tokens, modules, bodies, words, circles of imports, squeezed statements.

`python scripts/size.py` prints each figure with its limit and exits with 1 when one is exceeded.
`python scripts/size.py FOLDER` prints the tokens of a folder and each place in it that breaks a rule.
`python scripts/size.py --paths` prints how many of our files and functions run for a question.
Imports are read from the syntax tree; those for type checking count as well.
"""

import ast
import gc
import inspect
import io
import re
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
FOLDERS = (*PACKAGES, "benchmarks", "scripts", "examples")
PAGE = ROOT / "pipelines" / "server" / "page"
GENERATED = ("docs/api.md", "docs/cli.md", "CHANGELOG.md")
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER}
LONG_STRING = 200  # characters; a longer string counts one token per word, unless it is a docstring
MAX_BODY = 45  # lines of a function without its signature and docstring
NAMES_OF_NOTHING = {"one", "found", "at", "kept", "given"}
QUESTION = "Why is the Eskery Psalter shown for only one month in the year?"
MAX_PATHS = {"ask": (28, 9_000), "search by colbert": (22, 9_000)}  # files, calls
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value with its limit."""

    name: str
    value: float
    limit: float

    @property
    def is_within_limit(self) -> bool:
        """True when the value is at most the limit."""
        return self.value <= self.limit


def python_files(*folders: str) -> list[Path]:
    """The Python files of some folders, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def n_lines(path: Path) -> int:
    """The number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(source)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree, its root first."""
    return tuple(ast.walk(tree))


def n_tokens(source: str) -> int:
    """The number of names, operators and numbers, and of words in long strings that are no docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    tree = parsed(source)
    docstrings = {
        id(node.body[0].value)
        for node in nodes(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, *Function.__args__))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    words = sum(
        len(node.value.split())
        for node in nodes(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value) > LONG_STRING
        and id(node) not in docstrings
    )
    return words + sum(token.type in COUNTED for token in tokens)


def longest_body(tree: ast.AST) -> int:
    """The lines of the longest function of a module, without signature and docstring."""
    longest = 0
    for node in nodes(tree):
        if isinstance(node, Function):
            statements = node.body[1:] if ast.get_docstring(node) else node.body
            if statements:
                longest = max(longest, (statements[-1].end_lineno or 0) - statements[0].lineno + 1)
    return longest


def squeezed(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the source of each statement that holds several, and of each starred literal argument.

    A tuple that is assigned to a tuple holds several assignments, unless it swaps its values.
    """
    for node in nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if sorted(map(ast.unparse, targets)) != sorted(map(ast.unparse, values)):
                    yield node.lineno, ast.unparse(node)
            case ast.Call(args=arguments):
                for argument in arguments:
                    match argument:
                        case ast.Starred(
                            value=ast.Tuple() | ast.List() | ast.ListComp() | ast.GeneratorExp()
                        ):
                            yield node.lineno, ast.unparse(argument)


def names_of_nothing(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each variable or parameter whose name does not say what it is.

    Fields of classes are left out: some are keys that programs read.
    """
    classes = [node for node in nodes(tree) if isinstance(node, ast.ClassDef)]
    fields = {id(part.target) for node in classes for part in node.body if isinstance(part, ast.AnnAssign)}
    for node in nodes(tree):
        if id(node) in fields:
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if name in NAMES_OF_NOTHING:
                yield node.lineno, name
            case ast.arg(arg=name) if name in NAMES_OF_NOTHING:
                yield node.lineno, name


def name_of(path: Path) -> str:
    """The name of a module relative to the project's root."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the project that a module imports; `from spanwise import errors` is spanwise.errors."""
    package = path.relative_to(ROOT).parts[:-1]
    names: list[tuple[str, ...]] = []
    for node in nodes(parsed(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [(alias.name,) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += [(f"{base}.{alias.name}", base) for alias in node.names]
    modules = set()
    for choices in names:  # a submodule first, else the module that holds the name
        for name in choices:
            short = name if name in known else name.removeprefix("spanwise.")
            if short in known:
                modules.add(short)
                break
    return modules - {name_of(path)}


def imports() -> dict[str, set[str]]:
    """The modules that each module imports, at any depth."""
    known = {name_of(path): path for path in python_files(*FOLDERS)}
    return {name: targets(path, known) for name, path in known.items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of the first circle of imports; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def n_words() -> int:
    """The words of all Markdown pages but the changelog, model cards, generated pages and documents."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("[!.]*/README.md")]
    left_out = {ROOT / name for name in GENERATED}
    return sum(len(re.findall(r"\S+", p.read_text(encoding="utf-8"))) for p in pages if p not in left_out)


def figures() -> list[Figure]:
    """All figures with their limits."""
    source = python_files(*FOLDERS)
    texts = [path.read_text(encoding="utf-8") for path in source]
    tests = [path.read_text(encoding="utf-8") for path in python_files("tests")]
    trees = [parsed(text) for text in texts]
    page = [path for path in PAGE.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    return [
        Figure("tokens of Python outside tests", sum(map(n_tokens, texts)), 289_990),
        Figure("modules without __init__", sum(path.name != "__init__.py" for path in source), 195),
        Figure("lines of the longest module", max(map(n_lines, source)), 500),
        Figure("lines of the longest body", max(map(longest_body, trees)), MAX_BODY),
        Figure("modules in a circle of imports", len(circle(imports())), 0),
        Figure("statements that hold several", sum(len(list(squeezed(tree))) for tree in trees), 0),
        Figure("names of nothing", sum(len(list(names_of_nothing(tree))) for tree in trees), 0),
        Figure("tokens of tests", sum(map(n_tokens, tests)), 187_870),
        Figure("words of Markdown pages", n_words(), 15_750),
        Figure("lines of the page", sum(map(n_lines, page)), 1_540),
    ]


def report(folder: str) -> None:
    """Print the tokens of a folder and each place that breaks a rule."""
    total = 0
    for path in python_files(folder):
        text = path.read_text(encoding="utf-8")
        tree = parsed(text)
        total += n_tokens(text)
        place = path.relative_to(ROOT)
        for line, source in sorted([*squeezed(tree), *names_of_nothing(tree)]):
            print(f"{place}:{line}: {source:.90}")
        if longest_body(tree) > MAX_BODY:
            print(f"{place}: a body of {longest_body(tree)} lines")
    print(f"{folder}: {total:,} tokens")


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """The calls of our functions in any thread, by file; each resumption of a generator counts."""
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no body of a module or class
            calls[frame.f_code.co_filename] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = tuple(f"{ROOT / folder}/" for folder in PACKAGES)
    return Counter({name: n for name, n in calls.items() if name.startswith(ours)})


def print_paths() -> None:
    """Print files and calls of a warm question and search over the sample corpus, without the cache."""
    sys.path.insert(0, str(ROOT))
    import spanwise

    docs = ROOT / "corpora/sample/docs"
    with tempfile.TemporaryDirectory() as folder, spanwise.open(docs, folder, cache=False) as library:
        library.sync()
        searches = {
            "ask": library.ask,
            "search by colbert": lambda question: library.search(question, retriever="colbert"),
        }
        for name, search in searches.items():
            search("when does the library open?")
            calls = calls_of(lambda search=search: search(QUESTION))
            for path, n in sorted(calls.items()):
                print(f"  {n:6,} {Path(path).relative_to(ROOT)}")
            max_files, max_calls = MAX_PATHS[name]
            print(f"{name}: {len(calls)} files <= {max_files}, {calls.total():,} calls <= {max_calls:,}")


def main() -> int:
    """Print the figures, or those of the folders that are named; 1 when a limit is exceeded."""
    if sys.argv[1:] == ["--paths"]:
        print_paths()
        return 0
    if folders := sys.argv[1:]:
        for folder in folders:
            report(folder)
        return 0
    gc.disable()  # it would look at millions of nodes again and again
    measured = figures()
    for figure in measured:
        mark = "" if figure.is_within_limit else "  !"
        print(f"{figure.name:33} {figure.value:9,.0f}  <= {figure.limit:,}{mark}")
    if modules := circle(imports()):
        print("circle:", *modules)
    return int(not all(figure.is_within_limit for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
