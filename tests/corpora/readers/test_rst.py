"""reStructuredText is stored as source; its titles are those that docutils would see."""

from __future__ import annotations

import pytest

from spanwise.corpora.passages import split
from spanwise.corpora.readers.rst import read

BOOK = "=====\nBook\n=====\n\nwords\n\nOne\n===\n\n.. _two:\nTwo\n---\ntext\n\nThree\n~~~~~\n\nFour\n====\n"


def headings(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(source.encode(), "a.rst").headings]


def test_levels_follow_the_order_of_the_styles() -> None:
    assert headings(BOOK) == [(1, "Book"), (2, "One"), (3, "Two"), (4, "Three"), (2, "Four")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_offsets_hold_for_every_line_end(end: str) -> None:
    document = read(BOOK.replace("\n", end).encode(), "a.rst")
    assert [document.text[h.start :][: len(h.text)] for h in document.headings] == [
        h.text for h in document.headings
    ]
    assert document.title == "Book"


@pytest.mark.parametrize(
    "source",
    [
        "two lines of\na paragraph\n-----------\n",
        "long title\n==\n",
        "    Code\n    ====\n",
        "above\n\n-----\n\nbelow\n",
        "=====  =====\nA      B\n=====  =====\n",
        "+---+\n| a |\n+---+\n",
        ".. include:: /etc/hostname\n",
    ],
)
def test_what_looks_like_a_title_and_is_none(source: str) -> None:
    assert headings(source) == []
    assert read(source.encode(), "a.rst").text == source


def test_markup_is_not_part_of_a_title() -> None:
    source = "The |x| of :class:`Mill <m>` in ``code`` and *more*\n" + "=" * 60
    assert headings(source) == [(1, "The x of Mill in code and more")]


def test_code_and_tables_stay_whole() -> None:
    words = "Many words stand here before it. " * 3
    code = ".. code-block:: python\n\n    x = 1\n\n    y = 2. And more words here."
    table = "=====  =====\nA one  B two\n=====  =====\nC one  D two\n\nE one  F two\n=====  ====="
    passages = split(
        read(f"{words}\n\n{code}\n\n{words}\n\n{table}\n".encode(), "a.rst"), words=24, overlap=0
    )
    assert any(code in passage.text for passage in passages)
    assert any(table in passage.text for passage in passages)
