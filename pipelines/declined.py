"""What a declined question is told: the section that it names, and its unknown words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanwise.types import Hit, MissingTerm, Passage, QuestionTerm, Span

from ..corpora.sentences import sentence_spans
from ..index.analysis import STOP_WORDS, Analyzer
from ..index.lexical import LivePostings
from ..index.snapshot import Snapshot
from .candidates import passage_span

# Words of questions that, like stop words, say nothing of their topic; the index searches by them.
FUNCTION_WORDS = STOP_WORDS | frozenset(
    "much many more most few less least lot long often get gets got getting give gives go let make take tell "
    "show explain describe find say says mean know need want like please us one ones thing things".split()
)
SENTENCES = 2  # of a section

Words = dict[str, QuestionTerm]
"""Each term of a question, and the word that it is first made from."""


def question_words(question: str, analyzer: Analyzer, instead: Mapping[int, str] | None = None) -> Words:
    """The terms of a question without function words, unless nothing else is left; in its order.

    `instead` are the words that are searched for others, by the place of these.

    >>> list(question_words("How much did the mills, the mill?", Analyzer()).values())
    [QuestionTerm(start=17, end=22)]
    """
    tokens = analyzer.tokens(question)
    words: Words = {}
    for token in [one for one in tokens if one.word not in FUNCTION_WORDS] or tokens:
        word = (instead or {}).get(token.start, token.word)
        words.setdefault(analyzer.term(word), QuestionTerm(token.start, token.end))
    return words


def unknown_words(words: Words, postings: LivePostings) -> tuple[MissingTerm, ...]:
    """The words that no passage of the index holds."""
    df = postings.statistics(words).df
    return tuple(MissingTerm(word) for term, word in words.items() if not df[term])


def topic_section(
    words: Words, read: Sequence[Hit], snapshot: Snapshot, analyzer: Analyzer
) -> tuple[Span, Passage] | None:
    """The first sentences of the section that a topic names: its heading holds every word of the question.

    The shortest such heading wins, then one inside a passage that was read, then the better hit.
    """
    named = []
    for passage in (hit.passage for hit in read):
        headings = snapshot.document(passage.document_id).headings
        inside = [
            (at, one.text) for one in headings if 0 <= (at := one.start - passage.start) < len(passage.text)
        ]
        for start, heading in [*((-1, text) for text in passage.heading[-1:]), *inside]:
            own = set(analyzer.terms(heading))
            end = min((other for other, _ in inside if other > max(start, 0)), default=len(passage.text))
            if words.keys() <= own:
                named.append((len(own), start < 0, heading, passage, max(start, 0), end))
    for _, _, heading, passage, start, end in sorted(named, key=lambda one: one[:2]):
        spans = [(start + a, start + b) for a, b in sentence_spans(passage.text[start:end])]
        below = [(a, b) for a, b in spans if passage.text[a:b].strip(" #\n") != heading][:SENTENCES]
        if below:
            return passage_span(passage, below[0][0], below[-1][1]), passage
    return None
