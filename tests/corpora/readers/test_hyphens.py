"""A document's own words decide which hyphens at line ends belong."""

from __future__ import annotations

import pytest

from spanwise.corpora.readers.hyphens import rejoin


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("par-\nallel lines", "parallel\nlines"),
        ("a well-\nknown and well-known mill", "a well-known\nand well-known mill"),
        ("co-\noperate cooperate co-operate", "cooperate\ncooperate co-operate"),
        ("the coun-\ncil, which", "the council,\nwhich"),
        ("Jean-\nPaul and 1840-\n1850 and a -\nb", "Jean-\nPaul and 1840-\n1850 and a -\nb"),
        ("end-\n\nnext", "end-\n\nnext"),
        ("mill-\ning", "milling\n"),
    ],
)
def test_rejoin(page: str, expected: str) -> None:
    assert rejoin([page]) == [expected]


def test_words_of_other_pages_count() -> None:
    assert rejoin(["well-\nknown", "so well-known"])[0] == "well-known\n"


def test_a_word_broken_by_a_page_is_whole_on_the_first() -> None:
    assert rejoin(["the coun-", "cil, which met", "met-", "", "al"]) == [
        "the council,",
        "which met",
        "met-",
        "",
        "al",
    ]
