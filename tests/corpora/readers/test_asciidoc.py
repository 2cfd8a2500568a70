"""AsciiDoc is stored as source; its titles have one line or two and stand in no block."""

from __future__ import annotations

import pytest

from spanwise.corpora.readers.markup import read_asciidoc


def headings(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_asciidoc(source.encode(), "a.adoc").headings]


def test_titles_of_one_line() -> None:
    source = "= Book\n:author: Hale\n\n[[one]]\n== One ==\n\n=== The `git` *tool*\nwords\n\n== Two\n"
    assert headings(source) == [(1, "Book"), (2, "One"), (3, "The git tool"), (2, "Two")]


def test_titles_of_two_lines() -> None:
    assert headings("Book\n====\n\nOne\n---\n\nwords\n\nTwo here\n~~~~~~~~\n") == [
        (1, "Book"),
        (2, "One"),
        (3, "Two here"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "----\n== no\n----\n",
        "....\n== no\n\n== no\n....\n",
        "[source,ruby]\n----\n# no\n----\n",
        ".Name\n----\n== no\n----\n",
        "words and\n== no\n",
        "two lines of\na paragraph\n-----------\n",
        "== \n",
        "|===\n|a |b\n|===\n",
        "include::/etc/hostname[]\n",
    ],
)
def test_what_looks_like_a_title_and_is_none(source: str) -> None:
    assert headings(source) == []
    assert read_asciidoc(source.encode(), "a.adoc").text == source


def test_the_title_is_that_of_the_book() -> None:
    assert read_asciidoc(b"= The Mill\n\n== One\n", "a.adoc").title == "The Mill"
    assert read_asciidoc(b"=== Sub\n\n== One\n", "sub/notes.adoc").title == "notes"
