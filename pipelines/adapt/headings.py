"""Headings as questions for what stands below them; one of few words is asked with what it is part of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spanwise.types import Document, Heading, Passage

from ...index.analysis import Analyzer
from .made_question import MadeQuestion

ENOUGH = 3  # terms with which a heading says by itself what it is about
MOST_PASSAGES = 4  # below a heading that is a question for all of them
LONGEST = 200  # characters of a question
_NUMBERING = re.compile(r"^(?:[A-Z]?[\d.]+|[ivxIVX]+\.|[A-Za-z]\))\s+")


def heading_questions(
    document: Document, passages: Sequence[Passage], analyzer: Analyzer
) -> Iterator[MadeQuestion]:
    """The questions of a document, in order; `passages` are its own."""
    above: list[Heading] = []
    for at, heading in enumerate(document.headings):
        above = [one for one in above if one.level < heading.level]
        text = _question(heading, above[-1].text if above else document.title, analyzer)
        end = _section_end(document, at)
        answering = _below(passages, heading.start, end)
        if text and 1 <= len(answering) <= MOST_PASSAGES:
            line = document.text.find("\n", heading.start)
            stop = end if line < 0 else min(line, end)
            yield MadeQuestion(text, "heading", document.id, heading.start, stop, answering)
        above.append(heading)


def _question(heading: Heading, parent: str, analyzer: Analyzer) -> str | None:
    own, above = (_NUMBERING.sub("", " ".join(text.split())) for text in (heading.text, parent))
    n_terms = len(set(analyzer.question_terms(own)))
    if 0 < n_terms < ENOUGH and above and above != own:
        own, n_terms = f"{above}: {own}", n_terms + len(set(analyzer.question_terms(above)))
    return own if n_terms >= 2 and len(own) <= LONGEST else None


def _section_end(document: Document, at: int) -> int:
    level = document.headings[at].level
    after = (one.start for one in document.headings[at + 1 :] if one.level <= level)
    return next(after, len(document.text))


def _below(passages: Sequence[Passage], start: int, end: int) -> tuple[int, ...]:
    """The passages that hold a part of the section, the largest part first."""
    shares = [(min(one.end, end) - max(one.start, start), one.id) for one in passages]
    ordered = sorted((share for share in shares if share[0] > 0), key=lambda share: -share[0])
    return tuple(passage_id for _, passage_id in ordered)
