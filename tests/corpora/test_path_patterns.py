"""Patterns choose documents by path as ignore files leave them out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.ignore import parse_rule
from spanwise.corpora.path_patterns import path_matcher

IDS = ["README.md", "notes/a.md", "notes/old/b.md", "notes/old/c.log", "other/notes/d.txt", "other/[x].md"]


def chosen(*patterns):
    return [name for name in IDS if path_matcher(patterns)(name)]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ((), IDS),
        (("notes/**",), IDS[1:4]),
        (("/notes",), IDS[1:4]),
        (("./notes/*",), IDS[1:4]),
        (("notes/*.md",), [IDS[1]]),
        (("notes/",), IDS[1:5]),
        (("*.md",), [IDS[0], IDS[1], IDS[2], IDS[5]]),
        (("/*.md",), [IDS[0]]),
        (("**/old/*.log",), [IDS[3]]),
        (("notes/**/b.md",), [IDS[2]]),
        (("other", "*.log"), [IDS[3], *IDS[4:]]),
        (("/notes", "!old/"), [IDS[1]]),
        (("!old/", "/old/c.log"), [IDS[0], IDS[1], *IDS[4:]]),
        (("!notes/", "notes/old/c.log"), [IDS[0], IDS[3], IDS[5]]),
        (("[x].md",), []),
        ((r"\[x\].md",), [IDS[5]]),
        (("NOTES/**",), []),
        (("' OR 1=1 --",), []),
        (("%", "_"), []),
    ],
)
def test_patterns_choose(patterns, expected):
    assert chosen(*patterns) == expected


@pytest.mark.parametrize("pattern", ["", "/", "a//b", "x\\", "!"])
def test_what_is_no_pattern_is_named(pattern):
    with pytest.raises(ValueError, match="is no pattern of paths such as 'notes/"):
        path_matcher([pattern])


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_match_in_either_spelling(form):
    matches = path_matcher([unicodedata.normalize(form, "*ühle?/**")])
    assert matches(unicodedata.normalize("NFC", "Mühlen/a.txt"))
    assert matches(unicodedata.normalize("NFD", "Mühlen/a.txt"))


def test_a_path_full_of_near_misses_does_not_hang():
    matches = path_matcher(["*a" * 60 + "b", "**/*a*/" * 30 + "b"])
    assert not matches("/".join(["a" * 255] * 16))


parts = st.sampled_from(["a", "b", "ab", "*", "**", "a*", "?", "[ab]", "[!a]"])
patterns = st.builds(
    lambda negated, top, names, end: negated + top + "/".join(names) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)
paths = st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=4).map("/".join)


@given(st.lists(patterns, min_size=1, max_size=4), st.lists(paths, max_size=6))
def test_the_last_rule_that_matches_the_document_or_a_folder_above_it_decides(given_patterns, ids):
    rules = [parse_rule(pattern) for pattern in given_patterns]
    matches = path_matcher(given_patterns)
    for name in ids:
        names = name.split("/")
        expected = rules[0].negated
        for rule in rules:
            if any(rule.matches(names[:n], n < len(names)) for n in range(1, len(names) + 1)):
                expected = not rule.negated
        assert matches(name) is expected
