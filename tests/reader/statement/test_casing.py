"""Questions in small letters get the capitals of the evidence, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.statement import as_written

EVIDENCE = [
    "Two bridges over the Varrow",
    "The Weir Bridge was opened by Ada Rook. Mills stood at each bridge, and Rust’s crabs, an iPhone.",
    "In Ely: Every mill of the FDA stood still.",
]


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("when was the weir bridge opened", "When was the Weir Bridge opened?"),
        ("who opened the bridge?", "Who opened the bridge?"),
        ("what did ada rook, the miller, open?", "What did Ada Rook, the miller, open?"),
        ("what is rust's iphone", "What is Rust's iPhone?"),
        ("where does the fda stand in ely?", "Where does the FDA stand in Ely?"),
        ("how many mills are there every day?", "How many mills are there every day?"),
        ("Who opened the weir bridge", "Who opened the weir bridge"),
        ("name the bridge", "Name the bridge"),
        ("in what town is the fda", "In what town is the FDA?"),
        ("who?", "Who?"),
        ("", ""),
        ("  ", "  "),
    ],
)
def test_names_are_those_that_the_evidence_raises(question: str, written: str) -> None:
    assert as_written(question, EVIDENCE) == written


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_only_capitals_spaces_and_the_mark_change(question: str, evidence: list[str]) -> None:
    written = as_written(question, evidence)
    same = "".join(written.split()).casefold().removesuffix("?")
    assert same == "".join(question.split()).casefold().removesuffix("?")
