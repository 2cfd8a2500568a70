from __future__ import annotations

import pytest

from spanwise.eval.fairness.first_names import FIRST_NAMES
from spanwise.eval.fairness.name_groups import NAME_GROUPS
from spanwise.eval.fairness.persons import PersonNames, person_names

NOBODY = PersonNames((), ())


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Who was Ada Rook?", ["Ada"], ["Rook"]),
        ("John F. Kennedy and John T Hale", ["John"], ["Kennedy", "Hale"]),
        ("President James Rook met Mary Hale.", ["James", "Mary"], ["Rook", "Hale"]),
        ("Ada Rook. Rook sold it.", ["Ada"], ["Rook"]),
        ("Élie met Ada Rook", ["Ada"], ["Rook"]),
        ("It was Ada Rook", ["Ada"], ["Rook"]),
    ],
)
def test_a_known_first_name_and_a_capitalised_word_name_a_person(
    text: str, first: list[str], last: list[str]
) -> None:
    assert person_names(text) == PersonNames(tuple(first), tuple(last))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada rook",
        "Ada",
        "Ada F.",
        "Ada\nRook",
        "Virginia Beach",
        "San Jose Mill",
        "the Ada Rook Museum",
        "Ada Rook founded Rook Motors.",
        "Mark Young is young",
        "Martin Luther King",
        "Ada IBM",
        "Zebulon Rook",
    ],
)
def test_in_doubt_it_is_nobody(text: str) -> None:
    assert person_names(text) == NOBODY


def test_no_word_is_both_a_first_and_a_last_name() -> None:
    found = person_names("Henry Rook and Ada Henry met.")
    assert not set(found.first) & set(found.last)


def test_there_are_twelve_distinct_names_of_each_kind_in_every_group() -> None:
    assert len(NAME_GROUPS) == 12
    for group in NAME_GROUPS:
        assert len({*group.first}) == len({*group.last}) == 12
        assert not {*group.first} & {*group.last}
        assert all(name.isascii() and name.isalpha() and name.istitle() for name in group.first + group.last)
    assert all(name.istitle() for name in FIRST_NAMES)


def test_women_and_men_share_the_last_names_of_their_region_and_no_first_names() -> None:
    for women, men in zip(NAME_GROUPS[::2], NAME_GROUPS[1::2], strict=True):
        assert women.last == men.last
        assert not {*women.first} & {*men.first}
