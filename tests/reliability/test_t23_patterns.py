"""T23: no regular expression of the source or its data is slow on any near-miss, and no question breaks.

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
from typing import Any

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
REFERENCE = re.compile(r"\{([A-Za-z_]\w*)\}")
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


def entries(table: dict[str, Any]) -> Iterator[tuple[str, list[str], list[str]]]:
    """The name, the patterns and the words of each entry of a data file, at any depth."""
    for name, entry in table.items():
        if isinstance(entry, dict):
            single = [entry["pattern"]] if isinstance(entry.get("pattern"), str) else []
            words = entry.get("words", [])
            listed = words.split() if isinstance(words, str) else words
            if single or listed or "patterns" in entry:
                yield name, [*single, *entry.get("patterns", [])], listed
            else:
                yield from entries(entry)


def data_patterns(folder: Path) -> dict[str, re.Pattern[str]]:
    """Every pattern of the data files in a folder by its place; `{name}` stands for another entry's text."""
    by_place: dict[str, re.Pattern[str]] = {}
    for path in sorted(folder.rglob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        texts = {name: [*patterns, *map(re.escape, words)] for name, patterns, words in entries(table)}
        for name, patterns, _ in entries(table):
            for number, text in enumerate(patterns):
                place = f"{path.relative_to(folder)}:{name}[{number}]"
                by_place[place] = re.compile(expanded(text, texts), re.I)
    return by_place


def expanded(text: str, texts: dict[str, list[str]]) -> str:
    """A pattern with the texts of other entries in the place of their names."""
    return REFERENCE.sub(lambda name: f"(?:{'|'.join(expanded(t, texts) for t in texts[name[1]])})", text)


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


def slow_patterns(by_place: dict[str, tuple[Pattern, set[str]]]) -> dict[str, str]:
    """The first fault of each slow pattern by its place."""
    found = {place: next(faults(pattern, how), "") for place, (pattern, how) in by_place.items()}
    return {place: fault for place, fault in found.items() if fault}


def test_no_pattern_is_slow(record) -> None:
    by_place = patterns()
    assert len(by_place) >= 100
    slow = slow_patterns(by_place)
    record("T23", "regular expressions over the limits", f"{len(slow)} of {len(by_place)}")
    assert slow == {}


def test_no_pattern_of_a_data_file_is_slow(record) -> None:
    by_place = data_patterns(ROOT / "pipelines")
    slow = slow_patterns({place: (pattern, set(MEASURED.values())) for place, pattern in by_place.items()})
    record("T23", "regular expressions in data files over the limits", f"{len(slow)} of {len(by_place)}")
    assert slow == {}


DATA = r"""
[time.month]
for = "the names of months"
words = "may june"

[time.date]
for = "a day of a month"
pattern = '\d{1,2} {month}'

[slow]
for = "a pattern that backtracks"
patterns = ['{date}+', '(?:{spaces}a?)*\n']

[spaces]
for = "a part of a pattern"
pattern = '\s*'
"""


def test_patterns_of_a_data_file_are_read_with_what_they_refer_to(tmp_path: Path) -> None:
    (tmp_path / "understanding").mkdir()
    (tmp_path / "understanding" / "patterns.toml").write_text(DATA, encoding="utf-8")
    by_place = data_patterns(tmp_path)
    assert [place.partition(":")[2] for place in by_place] == ["date[0]", "slow[0]", "slow[1]", "spaces[0]"]
    date, many, slow, _ = by_place.values()
    assert date.pattern == r"\d{1,2} (?:may|june)"
    assert many.fullmatch("3 May12 june")
    assert next(faults(slow, {"search"}, 2000), None)


def test_a_planted_slow_pattern_is_noticed() -> None:
    planted = {r"(a+)+\Z": 22, r"a*a*a*b": 120, r"(?:\s*a?)*\n": 2000, r"x.*?y.*?z": 2000}
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
