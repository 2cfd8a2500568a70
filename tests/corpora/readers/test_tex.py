"""TeX is stored as source; headings are LaTeX's sectioning commands outside comments and verbatim text."""

from __future__ import annotations

import pytest

from spanwise.corpora.readers.markup import read_tex


def headings(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_tex(source.encode(), "a.tex").headings]


def test_the_highest_kind_that_is_there_is_level_one() -> None:
    assert headings(r"\section{One} \subsection*{Two} \paragraph[x]{Three}") == [
        (1, "One"),
        (2, "Two"),
        (3, "Three"),
    ]
    assert headings(r"\part{A}\section{B}") == [(1, "A"), (2, "B")]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (r"The \emph{old} mill", "The old mill"),
        (r"A {B {C}} D\label{sec:x}", "A B C D"),
        (r"Cost~\& \$5\footnote{no}", "Cost & $5"),
        ("two\n  lines % no }\n", "two lines"),
        (r"the $x^2$ law", "the $x^2$ law"),
    ],
)
def test_commands_are_not_part_of_a_heading(argument: str, words: str) -> None:
    assert headings(rf"\section{{{argument}}} text") == [(1, words)]


@pytest.mark.parametrize(
    "source",
    [
        r"% \section{no}",
        "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}",
        r"\section{no end",
        r"\section{}",
        r"\sectionmark{no}",
        r"\input{/etc/hostname}",
        "\\begin{lstlisting}\n\\section{no}",
    ],
)
def test_what_looks_like_a_heading_and_is_none(source: str) -> None:
    assert headings(source) == []
    assert read_tex(source.encode(), "a.tex").text == source


def test_an_escaped_percent_sign_starts_no_comment() -> None:
    assert headings(r"50\% \section{Yes}") == [(1, "Yes")]


def test_title() -> None:
    assert read_tex(rb"\title{The \textbf{Mill}}\section{One}", "a.tex").title == "The Mill"
    assert read_tex(rb"\section{One}", "sub/notes.tex").title == "notes"
