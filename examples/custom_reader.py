"""A reader of one's own: it answers questions for a date, a year or a time with the first one in a passage.

    python examples/custom_reader.py FOLDER "when was the bridge opened?"

A reader proposes; what is shown is chosen among all passages, with their place, by spanwise.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import spanwise
from spanwise.types import Passage, ScoredSpan, Span

MONTHS = "January February March April May June July August September October November December".split()
DATE = re.compile(rf"(?:\d{{1,2}} )?(?:{'|'.join(MONTHS)}) \d{{4}}|\b1\d{{3}}\b|\b20\d{{2}}\b")
WORD = re.compile(r"\w{4,}")
NO_ANSWER = 1.0  # a date counts when the words around it hold more than this of the question's


class Dates:
    """Scores a date by how many words of the question stand in its sentence."""

    digest = "dates, version 1"  # answers are remembered under this name; change it with the scores

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """For each question and each of its passages the best dates, best first."""
        return [
            [self._dates(question, passage)[:n_best] for passage in group]
            for question, group in zip(questions, passages, strict=True)
        ]

    def _dates(self, question: str, passage: Passage) -> list[ScoredSpan]:
        asked = words_of(question)
        found = []
        for match in DATE.finditer(passage.text):
            start, end = passage.start + match.start(), passage.start + match.end()
            span = Span(passage.document_id, start, end, match[0])
            shared = asked & words_of(sentence_around(passage.text, match.start()))
            found.append(ScoredSpan(span, passage, float(len(shared)), NO_ANSWER))
        return sorted(found, key=lambda one: -one.score)


def words_of(text: str) -> set[str]:
    """The longer words of a text in small letters."""
    return {word.lower() for word in WORD.findall(text)}


def sentence_around(text: str, at: int) -> str:
    """The text between the full stops around a place."""
    first, last = text.rfind(". ", 0, at) + 1, text.find(". ", at)
    return text[first : last if last >= 0 else len(text)]


def main(folder: str, question: str) -> None:
    """Print the date, and where it stands."""
    with spanwise.open(folder) as library:
        library.use_reader("dates", Dates())
        library.sync(vectors=False)
        answer = library.ask(question, retriever="bm25", reader="dates")
        if answer.best is None:
            print("not in these documents")
            return
        text = library.document(answer.best.short.document_id).text
        short = answer.best.short
        print(f"{text[short.start : short.end]}  ({short.document_id}, line {answer.best.line})")


if __name__ == "__main__":
    main(*sys.argv[1:])
