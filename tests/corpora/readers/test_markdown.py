"""Markdown is stored unchanged; its headings are those of CommonMark."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.readers import markup

read_markdown = documents_of(markup.read_markdown)


def headings(source: str) -> list[tuple[int, str, str]]:
    """Level, words and the source at the offset of each heading."""
    document = read_markdown(source.encode(), "notes.md")
    return [(h.level, h.text, document.text[h.start :].splitlines()[0]) for h in document.headings]


def title(source: str) -> str:
    return read_markdown(source.encode(), "sub/notes.md").title


def test_atx_and_setext_headings_are_found() -> None:
    assert headings("# One #\n\ntext\n\nTwo\n*words*\n---\n   ### `T` [bar](u) &amp; ![alt](i.png)\n") == [
        (1, "One", "# One #"),
        (2, "Two words", "Two"),
        (3, "T bar & alt", "   ### `T` [bar](u) &amp; ![alt](i.png)"),
    ]


@pytest.mark.parametrize(
    "source", ["```\n# no\n```", "    # no", "> # no", "- # no", "<div>\n# no\n</div>", "#no", "text\n# \n"]
)
def test_similar_lines_are_no_headings(source: str) -> None:
    assert headings(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("---\ntitle: The mill\n---\n# Top", "The mill"),
        ("---\ndate: 1840\n...\n# <%= title %>\n\n# Top", "Top"),
        ("words\n\n## Sub\n\n# Top\n\nwords", "Top"),
        ("# First\n\n# Second", "First"),
        ("## Fees\n\n45 EUR\n\n# Top", "Fees"),
        ("- date: 1840\n\n# Summary\n\n# Motivation", "notes"),
        ("", "notes"),
    ],
)
def test_the_title_is_that_of_front_matter_or_the_top_heading(source: str, expected: str) -> None:
    assert title(source) == expected
