"""Small inputs after public bug reports about such programs: what is stored of them, and what is answered."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import spanwise
from spanwise.types import AnswerSpan

DATA = Path(os.environ.get("SPANWISE_DATA", "data"))
CASES = DATA.parent / "cases"
# Checks that fail: four expect what their file does not say, such as "12 %" for "12 per cent"; two of case 45
# take an amount per hour, or another amount, for the one that is asked; case 01 is declined with its clause.
FAILING = r"""
01-docx-clause-numbers: How long is the notice period in clause 3.2?
25-html-hidden-body: 640 kg
54-xlsx-number-formats: \+49 30 1234567
45-question-forms: How many sheets does the Heron print per minute?
45-question-forms: What weighs 11 tonnes?
70-name-only-in-path: What is Acme's discount?
70-name-only-in-path: What discount does Globex get?
"""


def checks(*kinds: str) -> list[Any]:
    """The checks of some kinds with their case; those that fail until later work are marked."""
    path = CASES / "checks.json"
    if not path.is_file():
        return [pytest.param("", {}, marks=pytest.mark.skip(reason="SPANWISE_DATA has no cases beside it"))]
    params = []
    for case, listed in json.loads(path.read_text(encoding="utf-8")).items():
        for check in listed["checks"]:
            name = f"{case}: {check.get('question') or check['right']}"
            marks = pytest.mark.xfail(strict=True) if name in FAILING.splitlines() else ()
            if check["check"] in kinds:
                params.append(pytest.param(case, check, id=name, marks=marks))
    return params


@pytest.fixture(scope="module")
def library_of(tmp_path_factory):
    """Opens the library of a case, indexed by words."""
    libraries: dict[str, spanwise.Library] = {}

    def opened(case: str) -> spanwise.Library:
        if case not in libraries:
            folder = tmp_path_factory.mktemp("case") / "docs"
            shutil.copytree(CASES / case / "docs", folder)
            libraries[case] = spanwise.open(folder)
            libraries[case].sync(vectors=False)
        return libraries[case]

    yield opened
    for library in libraries.values():
        library.close()


def matches(check: dict[str, str], text: str) -> bool:
    """True when the text has what is right, and nothing that is wrong."""
    is_wrong = "wrong" in check and re.search(check["wrong"], text, re.I)
    return bool(re.search(check["right"], text, re.I)) and not is_wrong


def quoted(best: AnswerSpan | None, check: dict[str, str]) -> str:
    """The part of an answer that a check reads; empty where none is given."""
    if best is None:
        return ""
    if check["check"] == "heading":
        return " ".join(best.heading[1:])
    return (
        best.span.readable if check.get("in") == "span" else f"{best.span.readable} {best.context.readable}"
    )


@pytest.mark.parametrize(("case", "check"), checks("text"))
def test_a_text_says_what_its_page_says(library_of, case, check):
    library = library_of(case)
    names = sorted({passage.document_id for passage in library.passages()})
    assert matches(check, "\n".join(library.document(name).text for name in names))


@pytest.mark.reliability
@pytest.mark.parametrize(("case", "check"), checks("ask", "heading"))
def test_an_answer_is_what_the_documents_say(library_of, case, check, monkeypatch):
    monkeypatch.delenv("SPANWISE_READER")  # as users ask
    answer = library_of(case).ask(check["question"], retriever="bm25")
    assert matches(check, quoted(answer.best, check))
