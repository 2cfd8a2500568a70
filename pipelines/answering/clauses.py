"""Clauses that a question names by their numbers: "§ 7(2)(b)", "section 4.3", "paragraph 2 of article 4".

The number of a clause stands at the start of a line, that of a part also after a stop. A clause ends at the
next number of its form, and where the clause around it ends.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from spanwise.types import Bounds, Document, Hit, Span, blanked

from ...corpora.sentences import trimmed
from ...index.analysis import Analyzer
from ..understanding.patterns import pattern, source, words
from ..understanding.question import Question
from ..understanding.spelling import FUNCTION_WORDS

NAMED = pattern("clauses.named")
SAYS = {*FUNCTION_WORDS, *words("clauses.says")}
WORD = source("clauses.word")
LABEL = re.compile(r"\w+(?:\.\w+)*")
# Before a number, with its signs, and after the next one, or instead of it: of a clause, and of a part.
CLAUSE = (
    r"^[ \t>*_#]*+",
    rf"{WORD}\s?{{0}}(?![\w.]*\w)|\(?{{0}}(?:[.):]+(?=\s)|(?=[*_]*\s+[A-Z]))",
    rf"(?!\.\d)(?=\W+(?:\d\W+)?[A-Z])|{WORD}\s?\d",
)
PART = (r"(?:\A[^(\n]{1,60}|^[ \t>*-]*+|(?<=[;:,.])\s+|\b(?:and|or)\s+)", r"\(?{0}[.)](?=\s)", r"(?=\s)")
NUMBER = re.compile(r"(\d+)|\b([ivx]+)\b|\b([a-z])\b")
FORMS = (r"\d+", "[ivx]+", "(?![ivx])[a-z]")
MAX_MARKS = 20  # places of a number in a document


def named_clauses(
    question: Question, hits: Iterable[Hit], document_of: Callable[[str], Document], analyzer: Analyzer
) -> list[tuple[int, Span]]:
    """The clause that a question names, in each document of the hits.

    Each with the number of other words that it asks for and that do not name the document; the lowest first.
    """
    labels = clause_labels(question.text)
    if not labels:
        return []
    rest = [token.word for token in analyzer.tokens(NAMED.sub(" ", question.text)) if token.word not in SAYS]
    clauses = []
    for document_id in dict.fromkeys(hit.passage.document_id for hit in hits):
        document = document_of(document_id)
        if bounds := clause_in(document, labels):
            names = {*analyzer.name_terms(document_id), *analyzer.terms(document.title)}
            n_others = len(set(map(analyzer.term, rest)) - names)
            clauses.append((n_others, Span(document_id, *bounds, document.text[slice(*bounds)])))
    return sorted(clauses, key=lambda clause: clause[0])


def clause_labels(question: str) -> list[str]:
    """The numbers of the clause that a question names, the outermost first.

    >>> clause_labels("What does paragraph (2)(b) of section 4.3 say?")
    ['4.3', '2', 'b']
    """
    named = list(NAMED.finditer(question))
    if named and " of " in question[named[0].end() : named[-1].start()]:
        named.reverse()
    return [label for each in named for label in LABEL.findall(each["labels"])]


def clause_in(document: Document, labels: Sequence[str]) -> Bounds | None:
    """The longest clause with these numbers, the outermost first; None where the document has none."""
    text = blanked(document.text, document.left_out)
    places = [(0, len(text))]
    for label in labels:
        form = CLAUSE if label is labels[0] else PART
        places = [place for bounds in places for place in _places(text, bounds, label, *form)]
    lengths = {end - start: (start, end) for start, end in reversed(places)}
    return trimmed(text, *lengths[max(lengths)]) if lengths else None


def _places(text: str, bounds: Bounds, label: str, before: str, mark: str, after: str) -> Iterator[Bounds]:
    """From each mark of a number to the next of its form."""
    first, end = bounds
    body = text[first:end]
    marks = re.finditer(f"{before}({mark.format(re.escape(label))})", body, re.M)
    for match in islice(marks, MAX_MARKS):
        form = NUMBER.sub(lambda number: FORMS[(number.lastindex or 1) - 1], re.escape(match[1]))
        form = form.replace(r"\.\d+", r"(?:\.\d+)?")
        following = re.compile(f"{before}({form}{after})", re.M).search(body, match.end())
        yield first + match.start(1), first + following.start() if following else end
