"""T23: no regular expression of the source is slow on any near-miss, and no question is slow or breaks.

Each pattern is run on texts of n and 2n characters made from its own pieces, so that it nearly matches again
and again, and then fails. Linear time doubles; 2.6 leaves room for the noise of a clock.
"""

import ast
import importlib
import random
import re
import string
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

import spanwise

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
# How each way of using a pattern is measured; `match` starts at one place, the others at every place.
MEASURED = {
    **{name: name for name in ("match", "fullmatch", "search")},
    **dict.fromkeys(("sub", "subn", "split", "findall", "finditer"), "findall"),
}
USE = re.compile(rf"\b(\w+)\.({'|'.join(MEASURED)})\b")
N = 20_000
GROWTH = 2.6
LIMIT_S = 0.05
NOISE_S = 0.002
ATTEMPTS = 5

Pattern = re.Pattern[str] | re.Pattern[bytes]


def patterns() -> dict[str, tuple[Pattern, set[str]]]:
    """Every pattern of the source by its place, and how it is used."""
    sources = {
        (path, f"{package}.{path.stem}"): path.read_text(encoding="utf-8")
        for package, folder in SETUPTOOLS["package-dir"].items()
        for path in sorted((ROOT / folder).glob("*.py"))
    }
    used: dict[str, set[str]] = defaultdict(set)
    for name, method in USE.findall("\n".join(sources.values())):
        used[name].add(MEASURED[method])
    by_place: dict[str, tuple[Pattern, set[str]]] = {}
    for (path, module), source in sources.items():
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr), args=arguments):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    assigned = re.match(r"\s*(\w+) = re\.", source.splitlines()[node.lineno - 1])
                    with suppress(NameError):  # made from arguments
                        if attr == "compile":
                            how = used[assigned[1]] if assigned else set[str]()
                            by_place[place] = compiled(arguments, module), how or set(MEASURED.values())
                        elif attr in MEASURED:
                            by_place[place] = compiled(arguments[:1], module), {MEASURED[attr]}
        named = vars(importlib.import_module(module)) if "re.compile" in source else {}
        for name, value in named.items():
            for number, pattern in enumerate(value if isinstance(value, list) else ()):
                if isinstance(pattern, re.Pattern):  # of a list that a loop makes
                    by_place[f"{path.relative_to(ROOT)}:{name}[{number}]"] = pattern, {"fullmatch"}
    return by_place


def compiled(arguments: list[ast.expr], module: str) -> Pattern:
    """The pattern made from expressions of a module."""
    names = vars(importlib.import_module(module))
    values = [eval(ast.unparse(argument), names) for argument in arguments]
    return re.compile(*values)


def near_misses(pattern: Pattern, n: int) -> Iterator[str]:
    """Texts of n characters made from the pattern's own pieces, each ending in what it cannot match."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    plain = re.sub(r"\\[A-Za-z]|[\\^$.|?*+()\[\]{}]", " ", source)
    literals = [*dict.fromkeys(re.findall(r"\w+|[^\w\s]", plain))][:12]
    plain_units = ["a", "A", "1", " ", "\n", "\t", "-", "'", ".", " |", "a ", "a1", "a\n", "<"]
    for unit in dict.fromkeys([*plain_units, *literals, *map("".join, pairwise(literals))]):
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


def faults(pattern: Pattern, how: set[str], n: int = N) -> Iterator[str]:
    """What is too slow about a pattern.

    Only what lasts longer than noise is measured at twice the length, and again while it is over the limit.
    """
    for short, long in zip(near_misses(pattern, n), near_misses(pattern, 2 * n), strict=True):
        for method in sorted(how):
            once = seconds(pattern, short, method)
            if once >= LIMIT_S and seconds(pattern, short, method) >= LIMIT_S:
                yield f"{method} takes {once:.3f} s on {short[:20]!r}…"
            elif once >= NOISE_S and all(
                seconds(pattern, long, method) > GROWTH * seconds(pattern, short, method)
                for _ in range(ATTEMPTS)
            ):
                yield f"{method} grows more than {GROWTH} times on {short[:20]!r}…"


def test_no_pattern_is_slow(record) -> None:
    by_place = patterns()
    assert len(by_place) >= 100
    slow = {}
    for place, (pattern, methods) in by_place.items():
        fault = next(faults(pattern, methods), None)
        if fault:
            slow[place] = fault
    record("T23", "regular expressions over the limits", f"{len(slow)} of {len(by_place)}")
    assert slow == {}


def test_a_planted_slow_pattern_is_noticed() -> None:
    planted = {r"(a+)+\Z": 20, r"a*a*a*b": 120, r"(?:\s*a?)*\n": 2000, r"x.*?y.*?z": 2000}
    for source, n in planted.items():
        assert next(faults(re.compile(source), {"search"}, n), None), source


OPERATORS = "AND OR NOT NEAR/3 NEAR( \" ' '' * ( ) : ^ - + ~ \\ ;-- % _ ? DROP TABLE [[ ]] {1,9} mill é 𝄞"


def hostile_questions(count: int, seed: int) -> Iterator[str]:
    """Operators, quotes, brackets, stars, very long words, and any characters, at random."""
    chance = random.Random(seed)
    long = [unit * (4096 // len(unit)) for unit in ("a", "ab ", "9")]
    pieces = [*OPERATORS.split(" "), "\0", "\n", "\u202e", "\ud800", *long]
    letters = string.printable + "äßñЖ漢ぁ한"
    for _ in range(count):
        if chance.random() < 0.2:
            yield "".join(chance.choices(letters, k=chance.randrange(1, 200)))
        else:
            yield chance.choice(["", " "]).join(chance.choices(pieces, k=chance.randrange(1, 8)))


@pytest.mark.times(300, 10_000)
def test_any_question_is_answered_or_refused_in_time(tmp_path, nightly, record, times) -> None:
    refused = 0
    slowest = 0.0
    with spanwise.open(ROOT / "corpora" / "sample" / "docs", tmp_path / "index") as library:
        library.sync(vectors=False)
        retriever = library.retriever("bm25")
        for question in hostile_questions(times, random.SystemRandom().randrange(2**32) if nightly else 23):
            began = time.thread_time()
            try:
                retriever.search([question], 10)
            except ValueError:
                refused += 1
            slowest = max(slowest, time.thread_time() - began)
    assert slowest < 1
    record("T23", "hostile questions", f"{times:,}: {refused} refused, the slowest {slowest * 1000:.0f} ms")
