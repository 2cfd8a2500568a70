"""Quotes are shown as plain text."""

import pytest

from spanwise.pipelines.plain_text import display, step_lines
from spanwise.types import Span


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[11 (local) days](https://a.b/c_(d)) off", "11 (local) days off"),
        ("**up to *16* weeks** of `a*b*c`, 2 * 3 * 4", "up to 16 weeks of a*b*c, 2 * 3 * 4"),
        ("the snake_case_word and __bold__ <b>here</b><br>now", "the snake_case_word and bold here now"),
        ("## Paid Time Off\n\n* 20 days\n* more", "Paid Time Off: 20 days; more"),
        ("| a | **b** |\n|---|---|\n| c | d |", "a | b | c | d"),
        ("| c | d |", "c | d"),
        ("days](https://a.b/c) and [more", "days and more"),
        ("weeks** of [leave][] in [May][1]", "weeks of leave in May"),
        ("```sh\nrun --x a_b_c\n```", "run --x a_b_c"),
        ("Say `{{ x }}` <%= y %> {% z %}to <name>", "Say {{ x }} to <name>"),
        ("3. May", "3. May"),
        ("# <%= title %>", "# <%= title %>"),
        ("a\n  b &amp; c", "a b & c"),
    ],
)
def test_markdown_is_shown_without_its_marks(source: str, shown: str) -> None:
    assert display(source, "docs/a.html.md.erb") == shown


def test_fifteen_steps_are_shown_and_the_others_counted() -> None:
    lines = step_lines([Span("a.md", 0, 5, "**a** `b`")] * 17)
    assert lines[14:] == ["15. a b", "and 2 more"]


def test_other_text_keeps_its_signs() -> None:
    assert display("- *a*  <b>\n{{ c }}", "a.txt") == "*a* <b> {{ c }}"
    assert display("a <% b %>c", "a.txt.erb") == "a c"
