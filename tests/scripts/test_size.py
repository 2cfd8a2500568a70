"""The size of the project: alternatives of patterns and words of lists, in Python and in data files."""

import tomllib
from math import inf

import pytest
import size


@pytest.mark.parametrize(
    ("pattern", "n"),
    [
        ("of", 1),
        ("on|in|at", 3),
        ("(?:a|an|the) (?:is|it)", 5),
        (r"[|] \| (?:a|b)", 2),
        ("unclosed (?:a|b", 2),
        ("a) opened elsewhere|b", 2),
    ],
)
def test_each_alternative_counts_one(pattern: str, n: int) -> None:
    assert size.n_alternatives(pattern) == n


@pytest.mark.parametrize(
    ("source", "patterns", "alternatives", "words"),
    [
        ('re.compile("a|b")', 1, 2, 0),
        ('re.sub("a", "b c", text)', 1, 1, 0),
        ('x = r"(?:a|b)"', 1, 2, 0),
        ('x = rf"{y}(?:a|b)"', 1, 2, 0),
        ('PART = "on |in "\nx = re.compile(f"{PART}|a")', 2, 4, 0),
        ('PART = "on|in"', 1, 2, 0),
        ('re.compile("|".join(NAMES))', 0, 0, 0),
        ('x = "a b c".split()', 0, 0, 3),
        ('x = "a b|c".split("|")', 0, 0, 2),
        ('x = f(("A b", "c"))', 0, 0, 2),
        ('x = {"a": 1, "b c": "d e"}', 0, 0, 5),
        ('WORDS = f("a b c")', 0, 0, 3),
        ("x = [r'(a|b) (c|d)', r'd']", 1, 4, 1),
        ('x: Literal["a", "b"]', 0, 0, 0),
        ('__all__ = ["a", "b"]', 0, 0, 0),
        ('"""A pattern a|b."""', 0, 0, 0),
        ('raise ValueError("no such file or folder")', 0, 0, 0),
    ],
)
def test_patterns_and_lists_are_counted(source: str, patterns: int, alternatives: int, words: int) -> None:
    rules, _ = size.rules_of(source)
    assert (rules["patterns"], rules["alternatives"], rules["list words"]) == (patterns, alternatives, words)


@pytest.mark.parametrize(
    ("source", "n"), [("x > 0.5", 1), ("-1 <= x < 2", 2), ("x == True", 0), ("x = 2", 0)]
)
def test_numbers_in_comparisons_are_counted(source: str, n: int) -> None:
    assert size.rules_of(source)[0]["compared numbers"] == n


def test_a_data_file_counts_as_the_same_rules_in_python_and_its_reasons_count_nothing() -> None:
    text = """
    [months]
    for = "what a month is called"
    words = "may june"
    [dates.iso]
    for = "a date"
    patterns = ["{months}|[0-9]", "a"]
    [dates.year]
    pattern = "19|20"
    """
    assert size.data_rules(tomllib.loads(text)) == {"patterns": 3, "alternatives": 5, "list words": 2}


def test_a_long_list_of_words_counts_once() -> None:
    source = f'WORDS = """{"word " * 50}""".split()\n'
    rules, counted = size.rules_of(source)
    assert rules["list words"] == 50
    assert size.n_tokens(source, counted) == size.n_tokens('WORDS = "".split()')


@pytest.mark.parametrize(
    ("limit", "end"), [(103, "+3.0%"), (110, "lower the limit"), (99, "-1.0%  !"), (inf, "no limit)")]
)
def test_a_figure_says_how_far_it_is_from_its_limit(limit: float, end: str) -> None:
    assert str(size.Figure("tokens", 100, limit)).endswith(end)
