"""Plain text and markup are stored unchanged; headings are the titles that their programs show."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.passages import split
from spanwise.corpora.readers import markup

read_asciidoc = documents_of(markup.read_asciidoc)
read_rst = documents_of(markup.read_rst)
read_tex = documents_of(markup.read_tex)
read_text = documents_of(markup.read_text)

READERS = {"txt": read_text, "rst": read_rst, "adoc": read_asciidoc, "tex": read_tex}
BOOK = "=====\nBook\n=====\n\nwords\n\nOne\n===\n\n.. _two:\nTwo\n---\ntext\n\nThree\n~~~~~\n\nFour\n====\n"
WORDS = "Many words stand here before it. " * 3


def headings(kind: str, source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in READERS[kind](source.encode(), "a").headings]


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("rst", BOOK, [(1, "Book"), (2, "One"), (3, "Two"), (4, "Three"), (2, "Four")]),
        (
            "rst",
            "The |x| of :class:`Mill <m>` in ``code`` and *more*\n" + "=" * 60,
            [(1, "The x of Mill in code and more")],
        ),
        (
            "adoc",
            "= Book\n:author: Hale\n\n[[one]]\n== One ==\n\n=== The `git` *tool*\nwords\n\n== Two\n",
            [(1, "Book"), (2, "One"), (3, "The git tool"), (2, "Two")],
        ),
        ("adoc", "Book\n====\n\nOne\n---\n\nTwo\n~~~\n", [(1, "Book"), (2, "One"), (3, "Two")]),
        ("tex", r"\part{One}\section*{Two} \paragraph[x]{Three}", [(1, "One"), (2, "Two"), (3, "Three")]),
        ("tex", r"\section{The \emph{old} {mill}~\& \$5\footnote{no}}", [(1, "The old mill & $5")]),
        ("tex", r"50\% \section{Yes}", [(1, "Yes")]),
        ("tex", r"\title{The Mill}\section{One {\bf {two}}}", [(1, "The Mill"), (2, "One two")]),
    ],
)
def test_headings_have_levels_and_words(kind: str, source: str, expected: list[tuple[int, str]]) -> None:
    assert headings(kind, source) == expected


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("rst", "two lines of\na paragraph\n-----------\n"),
        ("rst", "=====  =====\nA      B\n=====  =====\n"),
        ("rst", ".. include:: /etc/hostname\n"),
        ("adoc", "----\n== no\n----\n"),
        ("adoc", "|===\n|a |b\n|===\n"),
        ("adoc", "include::/etc/hostname[]\n"),
        ("tex", r"% \section{no}"),
        ("tex", r"\iffalse \section{no} \fi"),
        ("tex", "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}"),
        ("tex", r"\input{/etc/hostname}"),
        ("txt", "= no\r\n\0\r\n"),
    ],
)
def test_other_lines_are_not_headings_and_the_text_is_the_source(kind: str, source: str) -> None:
    assert headings(kind, source) == []
    assert READERS[kind](source.encode(), "a").text == source


@pytest.mark.parametrize(
    ("kind", "source", "title"),
    [
        ("txt", "\n\n The mill \nwords", "The mill"),
        ("txt", "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n", "Hello there."),
        ("txt", "2024-05-02 03:11:07 started\n2024-05-02 03:12:40 retry\n", "notes"),
        ("adoc", "= The Mill\n\n== One\n", "The Mill"),
        ("adoc", "=== Sub\n\n== One\n", "Sub"),
        ("tex", r"\title{The \textbf{Mill}}\section{One}", "The Mill"),
    ],
)
def test_the_title_is_the_top_heading_or_the_first_line(kind: str, source: str, title: str) -> None:
    assert READERS[kind](source.encode(), "sub/notes.x").title == title


@pytest.mark.parametrize(
    ("kind", "block"),
    [
        ("rst", ".. code-block:: python\n\n    x = 1\n\n    y = 2. And more words here."),
        ("rst", "=====  =====\nA one  B two\n=====  =====\nC one  D two\n\nE one  F two\n=====  ====="),
        ("adoc", "----\nx = 1\n\ny = 2. And more words here.\n----"),
        ("adoc", "|===\n|A one |B two\n\n|C one |D two\n|==="),
        ("tex", "\\begin{tabular}{ll}\nA & one. Two\\\\\n\nB & two\n\\end{tabular}"),
    ],
)
def test_code_and_tables_stay_whole(kind: str, block: str) -> None:
    document = READERS[kind](f"{WORDS}\n\n{block}\n\n{WORDS}".encode(), "a")
    assert any(block in passage.text for passage in split(document, words=24, overlap=0))
