"""Prints the size of the project: tokens, modules, bodies, words, circles of imports, squeezed statements.

`python scripts/size.py` prints each figure with its limit and exits with 1 when one is exceeded.
`python scripts/size.py FOLDER` prints the tokens of a folder and each place in it that breaks a rule.
`python scripts/size.py --rules` prints the patterns and words of each room. They have no limit alone.
`python scripts/size.py --paths` prints how many of our files and functions run for a question. No limit.

A limit stands 3 % above its figure and is a round number. Lower it at the end of a change that makes things
smaller. Raise it only on purpose, and say so in the commit.

Tokens are names, operators, numbers, and words of long strings. Each alternative of a pattern and each word
of a list is a token too, in Python and in data files, except in the readers of formats. A pattern is a raw
string, an argument of `re`, a constant within a pattern, or a string with "|" between words. Words of a list
are split from a string, are items of a tuple, list, set or dict, or are in a constant of plain words.

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
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
FOLDERS = (*PACKAGES, "benchmarks", "scripts", "examples")
READERS = ROOT / "corpora" / "readers"
PAGE = ROOT / "pipelines" / "server" / "page"
GENERATED = ("docs/api.md", "docs/cli.md", "CHANGELOG.md")
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER}
LONG_STRING = 200  # characters; a longer string counts one token per word, unless it is a docstring
MAX_BODY = 46  # lines of a function without its signature and docstring
NAMES_OF_NOTHING = {"one", "found", "at", "kept", "given"}
QUESTION = "Why is the Eskery Psalter shown for only one month in the year?"
AIR = 0.03  # by which a limit stands above its figure, as a share of the figure
ROOMS = ("answering", "understanding", "tables", "the rest")
RULES = ("patterns", "alternatives", "list words", "compared numbers")
RE_FUNCTIONS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
RAW = re.compile(rb"(?:r[bf]?|[bf]r)[\"']", re.I)
MARK = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]|[()|]", re.S)  # an escape, a set, a group, "|"
PLAIN_WORDS = re.compile(r"[^\sA-Z,;:?!(){}<>=|\\]+(?:[\s|]+[^\sA-Z,;:?!(){}<>=|\\]+)*")
WORDS_WITH_BAR = re.compile(r"\w\|\w")
MIN_WORDS = 3  # of a constant that is a list of words
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value with its limit; infinity without one."""

    name: str
    value: float
    limit: float

    @property
    def is_within_limit(self) -> bool:
        """True when the value is at most the limit."""
        return self.value <= self.limit

    def __str__(self) -> str:
        """A line with the limit's distance from the value, and "!" when the limit is exceeded."""
        line = f"{self.name:33} {self.value:9,.0f}"
        if self.limit == inf:
            return f"{line}  (old count, no limit)"
        air = self.limit / self.value - 1 if self.value else 0.0
        mark = "  !" if not self.is_within_limit else "  lower the limit" if round(air, 3) > AIR else ""
        return f"{line}  <= {self.limit:7,} {air:+7.1%}{mark}"


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


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The docstrings of a module, its classes and functions."""
    return {
        node.body[0].value
        for node in nodes(tree)
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }


def n_tokens(source: str, counted_otherwise: Collection[ast.AST] = ()) -> int:
    """The number of names, operators and numbers, and of words in long strings that are no docstrings.

    Of strings that are counted otherwise, no words.
    """
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    left_out = docstrings(parsed(source)).union(counted_otherwise)
    strings = [node for node in nodes(parsed(source)) if isinstance(node, ast.Constant)]
    texts = [node.value for node in strings if isinstance(node.value, str) and node not in left_out]
    words = sum(len(text.split()) for text in texts if len(text) > LONG_STRING)
    return words + sum(token.type in COUNTED for token in tokens)


def n_alternatives(pattern: str) -> int:
    """The alternatives of all groups of a pattern, or of a part of one; 1 without "|".

    `re`'s own parser is not asked: it reads `is|it` as `i[st]`.

    >>> [n_alternatives(pattern) for pattern in ("of", "(?:a|an|the) [|]", "on|in", "(?:is|it) (?:a|b)")]
    [1, 3, 2, 4]
    """
    n_bars = 0
    n_groups = 0  # that have a bar
    is_barred = [False]
    for mark in MARK.findall(pattern):
        if mark == "(":
            is_barred.append(False)
        elif mark == ")" and len(is_barred) > 1:
            is_barred.pop()
        elif mark == "|":
            n_bars += 1
            n_groups += not is_barred[-1]
            is_barred[-1] = True
    return n_bars + max(1, n_groups)


def literals(tree: ast.AST) -> dict[ast.AST, str]:
    """The text of each string that is no docstring; values within it are blanks."""
    left_out = docstrings(tree)
    texts: dict[ast.AST, str] = {}
    for node in nodes(tree):
        match node:
            case ast.JoinedStr(values=parts):
                left_out.update(parts)
                texts[node] = "".join(str(p.value) if isinstance(p, ast.Constant) else " " for p in parts)
            case ast.Constant(value=str() | bytes() as text) if node not in left_out:
                texts[node] = text if isinstance(text, str) else text.decode("latin-1")
    return texts


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of a module's constants by name."""
    values: dict[str, ast.expr] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[name], value=value) | ast.AnnAssign(target=name, value=value) if value:
                values[ast.unparse(name)] = value
    return values


def pattern_literals(source: str, texts: Mapping[ast.AST, str]) -> set[ast.AST]:
    """The strings of a module that are patterns or parts of one."""
    tree = parsed(source)
    lines = source.encode().split(b"\n")
    pending: list[ast.AST] = []
    for node in nodes(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[pattern, *_]):
                pending += [pattern] * (name in RE_FUNCTIONS)
            case ast.Constant() | ast.JoinedStr() if node in texts:
                is_raw = RAW.match(lines[node.lineno - 1], node.col_offset)
                if is_raw or WORDS_WITH_BAR.search(texts[node]):
                    pending.append(node)
    by_name = constants(tree)
    reached: set[ast.AST] = set()
    while pending:
        for node in nodes(pending.pop()):
            reached.add(node)
            if isinstance(node, ast.Name) and node.id in by_name:
                pending.append(by_name.pop(node.id))
    return {node for node in reached.intersection(texts) if texts[node] != "|"}  # that joins alternatives


def n_plain(text: str) -> int:
    """The words of a text of plain words: in lower case, without punctuation; 0 of any other text."""
    return len(re.split(r"[\s|]+", text.strip())) if PLAIN_WORDS.fullmatch(text.strip()) else 0


def listed_words(tree: ast.Module, texts: Mapping[ast.AST, str]) -> dict[ast.AST, int]:
    """The number of words of each string of a module that lists words. Types and `__all__` list none."""
    counts: dict[ast.AST, int] = {}
    listed: list[ast.AST | None] = []
    no_lists: set[ast.AST] = set()
    for node in nodes(tree):  # a node before its parts
        match node:
            case ast.Subscript(slice=no_list) | ast.Assign(targets=[ast.Name(id="__all__")], value=no_list):
                no_lists.add(no_list)
            case ast.Call(func=ast.Attribute(value=text, attr="split"), args=arguments) if text in texts:
                separators = [texts[argument] for argument in arguments if argument in texts]
                counts[text] = len(texts[text].split(separators[0] if separators else None))
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if node not in no_lists:
                words = [item for item in items if not isinstance(item, ast.Starred)]
                if texts.keys() >= set(words):
                    listed += words
            case ast.Dict(keys=keys, values=values):
                listed += [*keys, *values]
    counts |= {
        word: n_plain(texts[word]) or 1 for word in listed if isinstance(word, ast.Constant) and word in texts
    }
    for node in chain.from_iterable(map(nodes, constants(tree).values())):
        if node in texts and node not in counts and n_plain(texts[node]) >= MIN_WORDS:
            counts[node] = n_plain(texts[node])
    return counts


def rules_of(source: str) -> tuple[Counter[str], set[ast.AST]]:
    """The rules in a module: a count for each of `RULES`; and the nodes of its patterns and lists.

    A string that is both counts as what has more of them.
    """
    tree = parsed(source)
    texts = literals(tree)
    words = listed_words(tree, texts)
    patterns = {node: n_alternatives(texts[node]) for node in pattern_literals(source, texts)}
    alternatives = {node: n for node, n in patterns.items() if n > words.get(node, 0)}
    rules = Counter(
        {
            "patterns": len(alternatives),
            "alternatives": sum(alternatives.values()),
            "list words": sum(n for node, n in words.items() if node not in alternatives),
            "compared numbers": sum(map(n_compared_numbers, nodes(tree))),
        }
    )
    return rules, set(chain.from_iterable(map(nodes, [*patterns, *words])))


def n_compared_numbers(node: ast.AST) -> int:
    """The numbers written in a comparison; 0 for any other node."""
    operands = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    plain = [operand.operand if isinstance(operand, ast.UnaryOp) else operand for operand in operands]
    return sum(isinstance(part, ast.Constant) and type(part.value) in {int, float} for part in plain)


def data_rules(value: Any, key: str = "") -> Counter[str]:
    """The rules in a table of a data file: its patterns and words; the `for` lines count nothing."""
    match value:
        case dict():
            return sum((data_rules(part, key) for key, part in value.items()), Counter())
        case list():
            return sum((data_rules(part, key) for part in value), Counter())
        case str() if key in {"pattern", "patterns"}:
            return Counter({"patterns": 1, "alternatives": n_alternatives(value)})
        case str() if key != "for":
            return Counter({"list words": len(value.split())})
    return Counter()


def room_of(path: Path) -> str:
    """The room of `ROOMS` that a file lies in."""
    return path.parent.name if path.parent.name in ROOMS else ROOMS[-1]


def measured_rules() -> tuple[dict[str, Counter[str]], int]:
    """The rules of each room, and all tokens with them."""
    rooms: dict[str, Counter[str]] = {room: Counter() for room in ROOMS}
    total = 0
    for path in python_files(*FOLDERS):
        source = path.read_text(encoding="utf-8")
        rules, counted = rules_of(source)
        is_reader = path.is_relative_to(READERS)
        total += n_tokens(source, () if is_reader else counted)
        if not is_reader:
            rooms[room_of(path)] += rules
    for path in (ROOT / "pipelines").rglob("*.toml"):
        rooms[room_of(path)] += data_rules(tomllib.loads(path.read_text(encoding="utf-8")))
    return rooms, total + sum(rules["alternatives"] + rules["list words"] for rules in rooms.values())


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
        Figure("tokens and rules outside tests", measured_rules()[1], 336_000),
        Figure("tokens of Python outside tests", sum(map(n_tokens, texts)), inf),  # the old count
        Figure("modules without __init__", sum(path.name != "__init__.py" for path in source), 216),
        Figure("lines of the longest module", max(map(n_lines, source)), 510),
        Figure("lines of the longest body", max(map(longest_body, trees)), MAX_BODY),
        Figure("modules in a circle of imports", len(circle(imports())), 0),
        Figure("statements that hold several", sum(len(list(squeezed(tree))) for tree in trees), 0),
        Figure("names of nothing", sum(len(list(names_of_nothing(tree))) for tree in trees), 0),
        Figure("tokens of tests", sum(map(n_tokens, tests)), 210_000),
        Figure("words of Markdown pages", n_words(), 17_100),
        Figure("lines of the page", sum(map(n_lines, page)), 1_735),
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
            print(f"{name}: {len(calls)} files, {calls.total():,} calls")


def print_rules() -> None:
    """Print the rules of each room."""
    print(" " * 13, "  ".join(RULES))
    for room, rules in measured_rules()[0].items():
        print(f"{room:13}", "  ".join(f"{rules[name]:{len(name)},}" for name in RULES))


def main() -> int:
    """Print the figures, or those of the folders that are named; 1 when a limit is exceeded."""
    if sys.argv[1:] == ["--paths"]:
        print_paths()
        return 0
    if sys.argv[1:] == ["--rules"]:
        print_rules()
        return 0
    if folders := sys.argv[1:]:
        for folder in folders:
            report(folder)
        return 0
    gc.disable()  # it would look at millions of nodes again and again
    measured = figures()
    for figure in measured:
        print(figure)
    if modules := circle(imports()):
        print("circle:", *modules)
    return int(not all(figure.is_within_limit for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
