"""T23: no regular expression of the source is slow on any near-miss, and no question is slow or breaks.

Each pattern is run on texts of n and 2n characters made from its own pieces, so that it nearly matches again
and again, and then fails. Linear time doubles; 2.6 leaves room for the noise of a clock.
"""

from __future__ import annotations

import ast
import importlib
import random
import re
import string
import time
import tomllib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.library import Library

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
# How each way of using a pattern is measured; `match` starts at one place, the others at every place.
MEASURED = {
    "match": "match",
    "fullmatch": "fullmatch",
    "search": "search",
    **dict.fromkeys(("sub", "subn", "split", "findall", "finditer"), "findall"),
}
N = 20_000
GROWTH, LIMIT_S, NOISE_S, ATTEMPTS = 2.6, 0.05, 0.002, 5


Pattern = re.Pattern[str] | re.Pattern[bytes]


def patterns() -> dict[str, tuple[Pattern, set[str]]]:
    """Every pattern of the source by its place, and how it is used."""
    trees = {
        (path, f"{package}.{path.stem}"): ast.parse(path.read_text(encoding="utf-8"))
        for package, folder in SETUPTOOLS["package-dir"].items()
        for path in sorted((ROOT / folder).glob("*.py"))
    }
    used = methods(trees.values())
    found: dict[str, tuple[Pattern, set[str]]] = {}
    for (path, module), tree in trees.items():
        for name, call in calls(tree):
            if (pattern := compiled(call, module)) is not None:  # not one made from arguments
                how = used.get(name) if called(call) == "compile" else {MEASURED[called(call)]}
                place = f"{path.relative_to(ROOT)}:{call.lineno}"
                found[place] = pattern, how or set(MEASURED.values())
    return found


def methods(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """For each name, how a pattern of that name is used anywhere."""
    found: dict[str, set[str]] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=attr) if (
                attr in MEASURED
            ):
                found.setdefault(name, set()).add(MEASURED[attr])
    return found


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each call of a function of `re` that takes a pattern, with the name that it is given."""
    names = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr)) if attr in (
                *MEASURED,
                "compile",
            ):
                yield names.get(id(node), ""), node


def compiled(call: ast.Call, module: str) -> Pattern | None:
    """The pattern of a call, from its module's names; None when it needs a local one."""
    arguments = call.args if called(call) == "compile" else call.args[:1]
    try:
        values = [eval(ast.unparse(node), vars(importlib.import_module(module))) for node in arguments]
    except NameError:
        return None
    return re.compile(*values)


def called(call: ast.Call) -> str:
    """The name of the method that is called."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr


def near_misses(pattern: Pattern, n: int) -> Iterator[str]:
    """Texts of n characters made from the pattern's own pieces, each ending in what it cannot match."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    plain = re.sub(r"\\[A-Za-z]|[\\^$.|?*+()\[\]{}]", " ", source)
    literals = [*dict.fromkeys(re.findall(r"\w+|[^\w\s]", plain))][:12]
    plain_units = ["a", "A", "1", " ", "\n", "\t", "-", "'", ".", " |", "a ", "a1", "a\n", "<"]
    units = [*plain_units, *literals, *map("".join, pairwise(literals))]
    for unit in dict.fromkeys(units):
        repeated = (unit * (n // len(unit) + 1))[:n]
        yield repeated + "\x01"
        yield "".join(literals[:2]) + repeated + "\x01"


def seconds(pattern: Pattern, text: str, method: str) -> float:
    """The least of several runs: a clock errs upward only."""
    subject = text if isinstance(pattern.pattern, str) else text.encode("utf-8")
    best = float("inf")
    for _ in range(4):
        began = time.thread_time()
        getattr(pattern, method)(subject)
        best = min(best, time.thread_time() - began)
        if best < NOISE_S:
            break
    return best


def growth(pattern: Pattern, short: str, long: str, method: str) -> float:
    """How many times longer twice the length takes; measured again while it is over the limit.

    Noise that lasts through one measurement seldom comes back on the same text.
    """
    least = float("inf")
    for _ in range(ATTEMPTS):
        least = min(least, seconds(pattern, long, method) / seconds(pattern, short, method))
        if least <= GROWTH:
            break
    return least


def faults(pattern: Pattern, how: set[str], n: int = N) -> Iterator[str]:
    """What is too slow about a pattern; only what lasts longer than noise is measured at twice the length."""
    for short, long in zip(near_misses(pattern, n), near_misses(pattern, 2 * n), strict=True):
        for method in sorted(how):
            once = seconds(pattern, short, method)
            if once >= LIMIT_S and (once := seconds(pattern, short, method)) >= LIMIT_S:
                yield f"{method} takes {once:.3f} s on {short[:20]!r}…"
            elif once >= NOISE_S and (times := growth(pattern, short, long, method)) > GROWTH:
                yield f"{method} grows {times:.1f} times on {short[:20]!r}…"


def test_no_pattern_is_slow(record) -> None:
    found = patterns()
    assert len(found) >= 100
    slow = {place: fault for place, one in found.items() if (fault := next(faults(*one), None))}
    record("T23", "regular expressions over the limits", f"{len(slow)} of {len(found)}")
    assert slow == {}


PLANTED = [(r"(a+)+\Z", 20), (r"a*a*a*b", 120), (r"(?:\s*a?)*\n", 2000), (r"x.*?y.*?z", 2000)]


@pytest.mark.parametrize(("source", "n"), PLANTED)
def test_a_planted_slow_pattern_is_noticed(source: str, n: int) -> None:
    assert next(faults(re.compile(source), {"search"}, n), None)


OPERATORS = (
    "AND OR NOT NEAR/3 NEAR( \" ' '' * ( ) : ^ - + ~ \\ ;-- % _ ? "
    "DROP TABLE passages title: [[ ]] {1,9} the mill é 𝄞"
)
LONG = [unit * (4096 // len(unit)) for unit in ("a", "ab ", "9")]


def hostile_questions(count: int, seed: int) -> Iterator[str]:
    """Operators, quotes, brackets, stars, very long words, and any characters, at random."""
    chance = random.Random(seed)
    pieces = [*OPERATORS.split(" "), "\0", "\n", "\u202e", "\ud800", *LONG]
    letters = string.printable + "äßñЖ漢ぁ한"
    for _ in range(count):
        if chance.random() < 0.2:
            yield "".join(chance.choices(letters, k=chance.randrange(1, 200)))
        else:
            yield chance.choice(["", " "]).join(chance.choices(pieces, k=chance.randrange(1, 8)))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    index = tmp_path_factory.mktemp("index") / "sample"
    with spanwise.open(ROOT / "corpora" / "sample" / "docs", index) as library:
        library.sync(vectors=False)
        yield library


@pytest.mark.times(300, 10_000)
def test_any_question_is_answered_or_refused_in_time(sample, nightly, record, times) -> None:
    retriever, refused, worst = sample.retriever("bm25"), 0, 0.0
    for question in hostile_questions(times, seed=random.SystemRandom().randrange(2**32) if nightly else 23):
        began = time.thread_time()
        try:
            retriever.search([question], 10)
        except ValueError:
            refused += 1
        worst = max(worst, time.thread_time() - began)
    assert worst < 1
    record("T23", "hostile questions", f"{times:,}: {refused} refused, the slowest {worst * 1000:.0f} ms")
