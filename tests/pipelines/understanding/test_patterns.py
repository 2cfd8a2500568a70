"""The file of patterns and word lists: what entries give, and that each is explained and used."""

import re
from pathlib import Path

from spanwise.pipelines import understanding
from spanwise.pipelines.understanding import patterns

ROOM = Path(understanding.__file__).parent
ENTRIES = {
    "time.month": {"words": "may june a.m."},
    "time.phrases": {"phrases": "at noon|by night", "map": [["noon", "12"]]},
    "time.date": {"pattern": ["[0-9]{1,2} ", "(?:{time.month})"], "any_case": True},
    "time.between": {"pattern": "(?:{day})-{time.date}"},
}


def test_references_resolve_to_words_patterns_and_parts(monkeypatch):
    monkeypatch.setattr(patterns, "entries", lambda: ENTRIES)
    assert patterns.pattern("time.date").fullmatch("12 A.M.")
    assert patterns.source("time.between", day="x|y") == r"(?:x|y)-[0-9]{1,2} (?:may|june|a\.m\.)"
    assert patterns.words("time.phrases") == ("at noon", "by night")
    assert patterns.mapping("time.phrases") == {"noon": "12"}


def test_a_missing_entry_matches_nothing():
    assert not any(patterns.pattern("a.b").search(text) for text in ("", "a.b", "(?!)"))
    assert (patterns.words("a.b"), patterns.mapping("a.b")) == ((), {})


def test_every_entry_says_what_it_is_for_and_is_used_and_every_name_is_an_entry():
    code = "".join(path.read_text(encoding="utf-8") for path in ROOM.parent.rglob("*.py"))
    rules = (ROOM / patterns.FILE).read_text(encoding="utf-8")
    entries = patterns.entries()
    assert all(entry["for"] for entry in entries.values())
    named = {*re.findall(r'\b(?:words|mapping|source|pattern)\("(\w+\.\w+)"', code)}
    named |= {name for name in patterns.REFERENCE.findall(rules) if "." in name} - {"family.entry"}
    assert named - entries.keys() == set()
    families = re.findall(r'family\("(\w+)"\)', code)
    assert {name for name in entries.keys() - named if name.split(".")[0] not in families} == set()
