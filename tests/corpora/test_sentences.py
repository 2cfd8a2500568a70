"""Sentences end after English sentences, and at the stops of other scripts."""

import pytest

from spanwise.corpora.sentences import cut_before, sentence_spans, trimmed


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Ames and Mrs. Low met.", "They spoke."],
        ["It costs $3.50 in the U.S. and more abroad.", "Why?"],
        ["J. R. R. Tolkien wrote it.", "See Fig. 3 of No. 5, e.g. on p. 7."],
        ["No.", "That is wrong."],
        ["She works for Acme Inc. in Kent.", "He left Acme Inc.", "It failed."],
        ['"Really?" he asked.', '"Yes."', "(Nobody laughed.)", "Then..."],
        ["In 1840 it burned.", "1841 was quiet."],
        ["The U.S. Army came.", "We love Washington D.C.", "It rains."],
        ["Built by Hale.[3]", "Sold by Low.[4][5]", "Done!"],
        ["Version 2.0.1 of foo.rs is out.", "Get it at www.example.org today."],
    ],
)
def test_english_text_is_split_after_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_full_width_stops_need_no_space() -> None:
    assert sentences("他来了。我走了！「好。」他说。") == ["他来了。", "我走了！", "「好。」", "他说。"]
    assert sentences("यह एक वाक्य है। यह दूसरा है।") == ["यह एक वाक्य है।", "यह दूसरा है।"]


def test_wrapped_lines_are_one_sentence() -> None:
    text = "The mill by the river was founded\nby Thomas Hale in 1840 and stood\nuntil the flood."
    assert sentences(text) == [text]


def test_blank_lines_headings_items_and_rows_end_sentences() -> None:
    parts = ["# The mill", "It was old", "- first", "- second\n  item", "1. third", "| a | b |", "| c | d |"]
    assert sentences("\n".join([parts[0], "", *parts[1:]])) == parts


def test_a_short_line_before_a_capital_ends_a_block() -> None:
    text = "2 Methods\nWe trained the model on all of the paragraphs that\nwe had. It worked."
    assert sentences(text)[0] == "2 Methods"


@pytest.mark.parametrize(
    "lines",
    [
        ["12/03/2024, 09:17 - Emil: I can, after four", "12/03/2024, 09:18 - Rosa: Great, thank you"],
        ["[00:00:15] Agnes: how heavy is it", "[00:00:17] Ruben: forty-two tonnes"],
        ["192.0.2.7 GET /menu.html", "192.0.2.9 GET /lost.html"],
        ["LOG_LEVEL=warn", "TIMEOUT_SECONDS=45"],
    ],
)
def test_each_entry_of_a_log_a_chat_or_settings_stands_alone(lines: list[str]) -> None:
    assert sentences("\n".join(lines)) == lines


def test_lines_of_code_stand_alone() -> None:
    assert sentences("```\nlet a = 1;\n\nlet b = 2;\n```\nDone. Yes.") == [
        "```",
        "let a = 1;",
        "let b = 2;",
        "```",
        "Done.",
        "Yes.",
    ]


@pytest.mark.parametrize("unit", [".", ".' ", "[1]", "\n", "。", "a ", "|", "```\n", "(", "A. ", "\r", "- "])
def test_long_runs_take_linear_time(unit: str) -> None:
    assert sentence_spans(unit * (200_000 // len(unit)) + "x")  # would take hours otherwise


@pytest.mark.parametrize(
    ("text", "n_sentences"),
    [
        ("item,price,bought\nTV,649,2021-03-02\nNAS,389,2020-11-11\n", 3),
        ("a, b, c\nd, e, f", 1),
        ("Some 1,000,000 men\nand 2,000,000 more", 1),
    ],
)
def test_rows_of_a_table_in_text_are_sentences_and_lines_with_commas_are_not(
    text: str, n_sentences: int
) -> None:
    assert len(sentence_spans(text)) == n_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [("  a b\n", (2, 5)), (" \t\n", (0, 0)), ("\u2028x\x85", (1, 2)), (" a  \u0301b ", (1, 6))],
)
def test_white_space_of_every_kind_is_trimmed(text: str, expected: tuple[int, int]) -> None:
    assert trimmed(text, 0, len(text)) == expected


def test_a_cut_keeps_a_character_and_its_marks_together() -> None:
    assert cut_before("\u0301" * 99, 0, 4) == 34
    assert cut_before("a" + "\u0301" * 9 + "b", 0, 4) == 10
    assert cut_before("abe\u0301\u0327d", 0, 4) == 2
