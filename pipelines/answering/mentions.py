"""Lists and counts of the documents that mention some words: complete, and without a model.

A document mentions words if its text has their content words next to each other, in their order, as terms
of the analyzer: case and endings do not matter, nor do signs and line ends. Between two the text may also
have the stop words that the words have there. Stop words at the ends are ignored; words that are all stop
words must all be there. Front matter, names and what is left out do not count. Where none has them like
this, words with signs inside and identifiers are looked for in one piece, and identifiers in pieces, too.
Then words on the two sides of an "or" are looked for apart.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from spanwise.types import Answer, AnswerSpan, Computed, Document, MentioningDocument, blanked

from ...corpora.passages import passages_at
from ...corpora.sentences import sentence_spans
from ...index.analysis import STOP_WORDS, Analyzer, Token
from ...index.protocol import Ids
from ...index.snapshot import Snapshot
from ...reader.spans import enclosing_sentences
from ...retrieval.protocol import Retriever
from ..understanding.question import Question
from .ask import N_NEAREST, Answerer, AnswerTrace, placed_span
from .filters import Selection
from .model_answers import ModelAnswerer

MAX_PLACES = 5  # of a document that are shown
REACH = 1_000  # characters around a place: of its sentence, and of words that two passages share
N_HITS = 20  # passages among which documents are near in meaning
MAX_IDENTIFIER = 60  # characters of an identifier that is looked for in pieces
MAX_PIECE = 30  # characters of a piece
WORD_END = re.compile(r"\W")
OR = re.compile(r"\sor\s")
SIGNS_INSIDE = re.compile(r"(?<=\w)[-‑/.](?=\w)")


def answered(questions: Sequence[str | Question], asker: Answerer | ModelAnswerer) -> list[AnswerTrace]:
    """The answer to each question as `ask` gives it: a list of documents, or what the asker answers."""
    built_in = asker.built_in if isinstance(asker, ModelAnswerer) else asker
    asked = [Question.of(question, built_in.snapshot, built_in.analyzer) for question in questions]
    others = [question for question in asked if not question.listed_words]
    rest = iter(asker.trace(others) if others else ())
    traces = []
    for question in asked:
        if question.listed_words:
            answer = mentions(question, built_in.snapshot, built_in.analyzer, built_in.selection)
            traces.append(AnswerTrace(answer, question.spelling, (), (), (), None))
        else:
            traces.append(next(rest))
    return traces


def mentions(
    question: Question,
    snapshot: Snapshot,
    analyzer: Analyzer,
    selection: Selection | None,
    retriever: Retriever | None = None,
) -> Answer:
    """All documents that mention the words of a question, which may be the words alone.

    With a retriever also the other documents that it ranks above one of them.
    """
    began = time.perf_counter()
    spelling = question.spelling
    words = question.listed_words or question.text
    scope = selection.scope if selection else None
    among = selection.passage_ids if selection else None
    listed = partial(_listed, snapshot=snapshot, analyzer=analyzer, among=among)
    documents = listed(words, question.is_quoted)
    parts = OR.split(words)
    if not documents and not question.is_quoted and len(parts) > 1:
        documents = _joined([listed(part, False) for part in parts])
    hits = retriever.search([words], N_HITS, among)[0] if retriever else ()
    computed = Computed(
        operation="count" if question.is_count else "list",
        value=_number_of(documents),
        cells=tuple(place.span for each in documents for place in each.places),
        first=documents[0].places[0] if documents else None,
        words=words,
        documents=documents,
        near=_near([hit.passage.document_id for hit in hits], {each.document_id for each in documents}),
    )
    return Answer(
        question=spelling.question,
        documents_searched=scope.documents if scope else snapshot.n_documents,
        passages_searched=scope.passages if scope else snapshot.n_passages,
        retriever="mentions",
        timings_ms={"list": (time.perf_counter() - began) * 1000},
        scope=scope,
        searched_for=spelling.searched_for,
        understood=spelling.understood,
        left_out=snapshot.left_out,
        computed=computed,
    )


def _listed(
    words: str, is_exact: bool, snapshot: Snapshot, analyzer: Analyzer, among: Ids | None
) -> tuple[MentioningDocument, ...]:
    """The documents that mention the words in the first form that any document has."""
    forms = _forms(words, snapshot, analyzer)
    listed = (tuple(_mentioning(form, is_exact, snapshot, analyzer, among)) for form in forms)
    return next(filter(None, listed), ())


def _joined(lists: Iterable[Sequence[MentioningDocument]]) -> tuple[MentioningDocument, ...]:
    """The documents of several lists, by id; of one in several the places of the first ones."""
    joined: dict[str, MentioningDocument] = {}
    for each in chain.from_iterable(lists):
        before = joined.setdefault(each.document_id, each)
        if before is not each:
            places = (*before.places, *each.places)[:MAX_PLACES]
            joined[each.document_id] = replace(before, count=before.count + each.count, places=places)
    return tuple(joined[document_id] for document_id in sorted(joined))


def _number_of(documents: Sequence[MentioningDocument]) -> str:
    """The number of different documents, and of copies, in words."""
    n_copies = sum(bool(each.copy_of) for each in documents)
    n_documents = len(documents) - n_copies
    copies = f" and {n_copies:,} cop{'ies' if n_copies > 1 else 'y'}" if n_copies else ""
    return f"{n_documents:,} document{'s' * (n_documents != 1)}{copies}"


def _near(ranking: Sequence[str], mentioning: Set[str]) -> tuple[str, ...]:
    """The other documents above the last one that mentions the words; the first ones where none does."""
    last = max((rank for rank, name in enumerate(ranking) if name in mentioning), default=N_NEAREST)
    return tuple(name for name in dict.fromkeys(ranking[:last]) if name not in mentioning)


def _forms(words: str, snapshot: Snapshot, analyzer: Analyzer) -> Iterator[str]:
    """The words as they are, in one piece, and in the fewest pieces that are terms of the index."""
    yield words
    joined = SIGNS_INSIDE.sub("", words)
    if joined != words:
        yield joined
    compact = "".join(token.word for token in analyzer.tokens(words))
    if len(compact) > MAX_IDENTIFIER or not any(map(str.isdecimal, compact)):
        return
    yield compact
    pieces = {
        compact[start:end] for end in range(len(compact) + 1) for start in range(max(0, end - MAX_PIECE), end)
    }
    df = snapshot.postings().statistics({analyzer.term(piece) for piece in pieces}).df
    fewest: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(compact) + 1):
        ways = [
            (*before, compact[start:end])
            for start, before in enumerate(fewest)
            if before is not None and df.get(analyzer.term(compact[start:end]), 0)
        ]
        fewest.append(min(ways, key=len, default=None))
    if fewest[-1] is not None:
        yield " ".join(fewest[-1])


def _mentioning(
    words: str, is_exact: bool, snapshot: Snapshot, analyzer: Analyzer, among: Ids | None
) -> Iterator[MentioningDocument]:
    """The documents that mention the words, by id; only passages that hold all terms are read.

    Exact words count in no other form than a plural of the last one, and with all words between and beside
    them.
    """
    tokens = analyzer.tokens(words)
    content = [token for token in tokens if token.word not in STOP_WORDS] or tokens
    if not tokens:
        return
    form = (lambda word: word) if is_exact else analyzer.term
    pattern = _pattern(tokens, tokens if is_exact else content, form, "s?" if is_exact else "")
    by_language = [[each.term(token.word) for token in content] for each in analyzer.by_language]
    ids = np.unique(np.concatenate([*map(snapshot.postings().passages_with, by_language)]))
    if among is not None:
        ids = np.intersect1d(ids, among)
    bounds: dict[str, list[int]] = {}
    originals: dict[str, str] = {}  # by digest
    for document_id, *edges in snapshot.places(ids.tolist()):
        bounds.setdefault(document_id, []).extend(edges)
    for document_id, edges in sorted(bounds.items()):
        document = snapshot.document(document_id)
        text = blanked(document.text, document.left_out)
        end = WORD_END.search(text, max(edges) + REACH)
        first = min(edges)
        read = analyzer.tokens(text[first : end.start() if end else None])
        terms = "".join(f" {form(token.word)}" for token in read)
        matches = list(pattern.finditer(f"{terms} "))
        places = []
        for match in matches[:MAX_PLACES]:
            number = terms.count(" ", 0, match.start())
            last = read[number + match[0].count(" ") - 1]
            places.append(_place(document, text, first + read[number].start, first + last.end))
        if places:
            original = originals.setdefault(document.sha256, document_id)
            copy_of = original if original != document_id else ""
            yield MentioningDocument(document_id, len(matches), tuple(places), copy_of)


def _pattern(
    tokens: Sequence[Token], content: Sequence[Token], form: Callable[[str], str], ending: str
) -> re.Pattern[str]:
    """Matches the terms from the first content word to the last one, each after a space."""
    parts = [
        f" {term}" if token in content else f"(?: {term})?+"
        for token in tokens[tokens.index(content[0]) : tokens.index(content[-1]) + 1]
        for term in [re.escape(form(token.word))]
    ]
    return re.compile("".join([*parts, ending, "(?= )"]))


def _place(document: Document, text: str, start: int, end: int) -> AnswerSpan:
    """A mention with its sentence, at most REACH characters on each side, and its place."""
    first = max(0, start - REACH)
    sentences = sentence_spans(text[first : end + REACH])
    left, right = enclosing_sentences(sentences, start - first, end - first)
    [sentence] = passages_at(document, [(first + left, first + right)])
    span = sentence.span(start - sentence.start, end - sentence.start)
    context = sentence.span(0, len(sentence.text))
    return placed_span(lambda _: document, AnswerSpan(span, context, sentence))
