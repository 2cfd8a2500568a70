"""In every format and for any text, passages quote their document exactly and leave out nothing."""

from contextlib import suppress
from itertools import pairwise

import pytest
from helpers.document_checks import check
from helpers.files import MAKERS
from hypothesis import HealthCheck, given, settings, strategies as st

from spanwise.corpora.decoding import TERMINAL
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import DocumentRejected
from spanwise.types import Document

pytestmark = pytest.mark.promise("T14")

SPACES = [*"\n\r \t\u2028\x85\f\0\x1d\x1e\x1f\ufeff\u200b", "\n\n", "\r\n"]
MARKUP = """# @## @
# One
@
---
@```
@~~~ @| a | b |
@> @- @1. @title: x@<b>@&amp;@a,b
1,2
@"@a\t@
Title
=====
@== Two
@\\section{a} b@\\begin{verbatim}
""".split("@")
LETTERS = "e\u0301@ \u0301@\u0301\u0327@\U0001f468\u200d\U0001f469@日本語。@ไทย@ﷺ".split("@")
WORDS = ["A word. ", "Dr. No said so! ", "longer " * 9, "x" * 99, "of 3.14 U.S. ", "mill-\ning "]
PIECES = [*SPACES, *MARKUP, *LETTERS, *WORDS]
ANY_CHARACTER = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(ANY_CHARACTER, max_size=9), max_size=40).map("".join)


def read(name: str, text: str) -> Document | None:
    """The document made from a text, or None if it cannot be read."""
    with suppress(DocumentRejected):
        document = parse(MAKERS[name](text), name)
        return None if isinstance(document, SkippedFile) else document
    return None


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_passages_are_exact_and_complete(name: str, text: str) -> None:
    document = read(name, text)
    if document:
        check(document)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.adoc", "a.tex"])
@given(text=TEXTS)
def test_plain_formats_keep_every_code_point(name: str, text: str) -> None:
    document = read(name, text)
    if document and document.media_type != "text/html":
        assert document.text == TERMINAL.sub("", text.removeprefix("\ufeff"))


@given(text=TEXTS)
def test_sentences_cover_the_text_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    covered = [(end, start) for (_, end), (start, _) in pairwise([(0, 0), *spans, (len(text), len(text))])]
    assert not any(text[end:start].strip() for end, start in covered)
    assert all(text[start:end].strip() for start, end in spans)
