"""reStructuredText is stored as source; its titles are those that docutils would see."""

from __future__ import annotations

import pytest

from spanwise.corpora.readers.markup import read_rst

BOOK = "=====\nBook\n=====\n\nwords\n\nOne\n===\n\n.. _two:\nTwo\n---\ntext\n\nThree\n~~~~~\n\nFour\n====\n"


def headings(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_rst(source.encode(), "a.rst").headings]


def test_levels_follow_the_order_of_the_styles() -> None:
    assert headings(BOOK) == [(1, "Book"), (2, "One"), (3, "Two"), (4, "Three"), (2, "Four")]


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
    assert read_rst(source.encode(), "a.rst").text == source


def test_markup_is_not_part_of_a_title() -> None:
    source = "The |x| of :class:`Mill <m>` in ``code`` and *more*\n" + "=" * 60
    assert headings(source) == [(1, "The x of Mill in code and more")]
