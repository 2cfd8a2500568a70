"""Cuts fall between paragraphs, sentences, lines and words, in this order, and cover the text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.cuts import WORD_WEIGHT, cut, mark, weight
from spanwise.corpora.sentences import sentence_spans


def pieces(text: str, words: int, whole: list[tuple[int, int]] | None = None) -> list[str]:
    spans = cut(text, sentence_spans(text), whole or [], words * WORD_WEIGHT)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    return [text[start:end] for start, end in spans]


def test_paragraphs_come_first() -> None:
    assert pieces("One two. Three four.\n\nFive six seven.", 5) == [
        "One two. Three four.\n\n",
        "Five six seven.",
    ]


def test_then_sentences_then_words() -> None:
    assert pieces("One two. Three four five. Six.", 3) == ["One two. ", "Three four five. ", "Six."]
    assert pieces("a b c d e f g h", 4) == ["a b c d ", "e f g h"]


def test_lines_come_before_words() -> None:
    assert pieces("a b c\nd e f\ng h i", 4) == ["a b c\n", "d e f\n", "g h i"]


def test_runts_join_their_neighbour() -> None:
    assert pieces("a " * 10 + "b", 10) == ["a " * 10 + "b"]


def test_whole_pieces_are_not_cut() -> None:
    text = "Some words. | a b |\n| c d |\nMore words here."
    start = text.index("|")
    assert "| a b |\n| c d |" in "\n".join(pieces(text, 7, [(start, text.rindex("|") + 1)]))


def test_a_giant_token_is_cut_by_characters() -> None:
    assert {len(piece) for piece in pieces("x" * 800, 10)} == {80}
    assert max(map(len, pieces("漢" * 100, 10))) <= 20


def test_pieces_of_white_space_are_not_doubled() -> None:
    text = "0 0 0 0000mill- ing # # \x0b0\n\n0 0 0\n0000mill-\ning # # \x0b0"
    assert "".join(pieces(text, 8)) == text


def test_the_marked_copy_has_the_length_of_the_text() -> None:
    text = " One.  Two\u2028three\x1d four. \u0301他来了。我走了。\n\n\nEnd\r\n"
    copy = mark(text, sentence_spans(text), [])
    assert len(copy) == len(text)
    assert copy.count("\x1d") == 1


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 9))
def test_cuts_cover_any_text(text: str, words: int) -> None:
    if text:
        assert "".join(pieces(text, words)) == text


def test_words_weigh_alike_up_to_eight_characters() -> None:
    assert weight("a bb\nccc") == 3 * WORD_WEIGHT
    assert weight("x" * 80) == 10 * WORD_WEIGHT
    assert weight("漢字") == WORD_WEIGHT
    assert weight(" \n\t") == 0
