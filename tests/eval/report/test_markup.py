from __future__ import annotations

import pytest
from markupsafe import Markup

from spanwise.eval.report.markup import element, shown
from spanwise.eval.report.visible import visible


def test_text_and_attributes_cannot_become_markup() -> None:
    made = element("text", ["</text><script>"], class_='"><script>')
    assert made == '<text class="&#34;&gt;&lt;script&gt;">&lt;/text&gt;&lt;script&gt;</text>'


def test_what_is_markup_stays_as_it_is() -> None:
    assert element("g", [Markup("<b>x</b>"), "&"]) == "<g><b>x</b>&amp;</g>"


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200f", "\x00", "\x1b", "\x7f", "\u200b", "\ud800"]
)
def test_characters_that_mislead_are_made_visible(character: str) -> None:
    for given in (visible(f"a{character}b"), element("text", [f"a{character}b"]), shown(f"a{character}b")):
        assert character not in given
        given.encode("utf-8")


def test_line_feeds_and_letters_of_any_script_stay() -> None:
    assert visible("Ærø\n\t日本 🙂") == "Ærø\n\t日本 🙂"


def test_numbers_are_short() -> None:
    assert element("line", x1=1 / 3, y1=100.0, x2=0) == '<line x1="0.33" y1="100" x2="0"></line>'
