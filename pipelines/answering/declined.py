"""What a declined question is told: the section that it names."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Hit, Passage, Span

from ...corpora.sentences import sentence_spans
from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from .candidates import passage_span
from .spelling import FUNCTION_WORDS

SENTENCES = 2  # of a section


def content_terms(question: str, analyzer: Analyzer) -> set[str]:
    """The terms of a question without function words, unless nothing else is left.

    >>> content_terms("How much did the mills, the mill?", Analyzer())
    {'mill'}
    """
    tokens = analyzer.tokens(question)
    content = [token for token in tokens if token.word not in FUNCTION_WORDS]
    return {analyzer.term(token.word) for token in content or tokens}


def adds_words(text: str, terms: set[str], analyzer: Analyzer) -> bool:
    """True unless all terms of the text are among `terms`, those of the question."""
    return not terms >= set(analyzer.terms(text))


def topic_section(
    terms: set[str], read: Sequence[Hit], snapshot: Snapshot, analyzer: Analyzer
) -> tuple[Span, Passage] | None:
    """The first sentences of the section that a topic names: its heading holds every word of the question.

    The shortest such heading wins, then one inside a passage that was read, then the better hit.
    """
    named, names = [], {hit.passage.document_id for hit in read}
    headings = {name: snapshot.document(name).headings for name in names}
    for passage in (hit.passage for hit in read):
        inside = [
            (at, one.text)
            for one in headings[passage.document_id]
            if 0 <= (at := one.start - passage.start) < len(passage.text)
        ]
        for start, heading in [*((-1, text) for text in passage.heading[-1:]), *inside]:
            own = set(analyzer.terms(heading))
            end = min((other for other, _ in inside if other > max(start, 0)), default=len(passage.text))
            if terms <= own:
                named.append((len(own), start < 0, heading, passage, max(start, 0), end))
    for _, _, heading, passage, start, end in sorted(named, key=lambda one: one[:2]):
        spans = [(start + a, start + b) for a, b in sentence_spans(passage.text[start:end])]
        below = [(a, b) for a, b in spans if passage.text[a:b].strip(" #\n") != heading][:SENTENCES]
        if below:
            return passage_span(passage, below[0][0], below[-1][1]), passage
    return None
