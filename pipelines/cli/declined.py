"""What `ask` says below "not in these documents": what was searched, what came near, what stands nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from spanwise.types import Answer, AnswerSpan, Hit, MissingTerm, Passage

from ..declined import reasons
from ..status import LANGUAGE
from .show import place, show, visible, where_in_file

FIRST_CHARACTERS = 100
LONGEST_WORD = 20  # that is left out rather than broken


def show_declined(answer: Answer) -> None:
    """What a declined answer rests on, a few lines each."""
    show(f"  {searched(answer)}")
    for unknown in answer.missing_terms:
        show(f"  {visible(said_of(unknown, answer.question))}")
    for number, rejected in enumerate(answer.rejected):
        words = visible(" ".join(rejected.answer.text.split()))
        label = "nearest, but rejected" if number == 0 else "rejected, too"
        show(f"  {label}{confidence(rejected.answer)}: {words}")
        show((f"    {visible(answer_place(rejected.answer))}", "dim"))
        if why := "; ".join(reasons(rejected, answer.question)):
            show((f"    {visible(why)}", "dim"))
    if answer.nearest:
        show_nearest(answer.nearest)
    else:
        show("  no passage was found to read")
    show((f"  {LANGUAGE}", "dim"))


def show_nearest(hits: Sequence[Hit]) -> None:
    """Passages to look at where there is no answer: where each stands, and its first words."""
    show("  passages to look at:")
    for hit in hits:
        show((f"    {visible(place(hit.passage))}", "dim"))
        show(f"      {visible(first_words(hit.passage))}")


def first_words(passage: Passage) -> str:
    """How a passage begins, in one line, without headings that its place names already.

    >>> first_words(Passage(1, "a.md", 0, 25, "## The mill\\n\\nIt grinds rye.", heading=("The mill",)))
    'It grinds rye.'
    """
    lines = passage.text.splitlines()
    below = list(dropwhile(lambda line: line.strip(" #") in ("", *passage.heading), lines))
    words = " ".join(" ".join(below or lines).split())
    if len(words) <= FIRST_CHARACTERS:
        return words
    end = words.rfind(" ", FIRST_CHARACTERS - LONGEST_WORD, FIRST_CHARACTERS + 1)
    return (words[:end] if end > 0 else words[:FIRST_CHARACTERS]) + " …"


def searched(answer: Answer) -> str:
    """How much was searched and read."""
    passages, documents = f"{answer.passages_searched:,} passages", f"{answer.documents_searched:,} documents"
    return f"searched: {passages} of {documents}, of which the best {answer.passages_read} were read"


def said_of(unknown: MissingTerm, question: str) -> str:
    """That a word stands nowhere, and what it may have been meant for."""
    told = f'"{unknown.term.of(question)}" stands in none of the documents'
    if unknown.nearest is None:
        return told
    return f'{told}; did you mean "{unknown.nearest.text}" ({unknown.nearest.document_id})?'


def answer_place(answer: AnswerSpan) -> str:
    """Where an answer stands: file, label, page or line of its first character, heading path."""
    where = where_in_file(answer.page, answer.line, answer.label)
    heading = " > ".join(answer.passage.heading)
    return ", ".join([answer.span.document_id, where, *([heading] if heading else [])])


def confidence(answer: AnswerSpan) -> str:
    """The confidence, to be put behind something else; empty where none was fitted."""
    return "" if answer.confidence is None else f", confidence {answer.confidence:.0%}"
