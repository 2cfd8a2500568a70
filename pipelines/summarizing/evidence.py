"""What a text may rest on: the sentences of passages without those that give orders or belong to nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from spanwise.types import Passage

from ...corpora.sentences import sentence_spans
from ...reader.support.check import Checker
from ...reader.support.orders import gives_orders, orders
from ...reader.support.topic import Content, on_topic, speaks_of_texts
from .citing import Piece, pieces_of

LONG_TITLE = 4  # terms with a meaning


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pieces that carry, their words, and the terms that stand only elsewhere: a text has none of these."""

    pieces: Sequence[Piece]
    texts: Sequence[str]
    refused: frozenset[str]


def evidence_of(question: str, passages: Sequence[Passage], checker: Checker) -> Evidence:
    """The sentences of passages that belong to them or to the question, and give no orders.

    Terms of the others, of titles that give orders, and of headings that belong to nothing are refused,
    unless the question or a sentence that carries has them too.
    """
    content = checker.content
    asked = frozenset(content(question))
    carried: list[Piece] = []
    aside: list[str] = []
    places: set[tuple[str, int, int]] = set()
    for passage in passages:
        kept, given = _parted(passage)
        titles = honest_titles(passage)
        aside += [*given, *(title for title in _titles(passage) if title not in titles)]
        texts = [piece.span.text for piece in kept]
        belongs = on_topic(texts, asked, bool(question), content)
        for piece, carries in zip(kept, belongs, strict=True):
            place = (piece.span.document_id, piece.span.start, piece.span.end)
            if not carries:
                aside.append(piece.span.text)
            elif place not in places:
                places.add(place)
                carried.append(piece)
        said = {term for text in texts for term in content(text)} | asked
        aside += [title for title in titles if _is_foreign(title, said, content)]
    texts = [piece.span.text for piece in carried]
    held = {term for text in texts for term in (*content(text), *checker.terms(text))}
    refused = frozenset(term for text in aside for term in content(text)) - held - asked
    return Evidence(carried, texts, refused)


def spans_to_choose(text: str, question: str, content: Content) -> list[tuple[int, int]]:
    """The spans of the sentences of a passage that may be quoted, in order.

    Not those that give orders; nor, for a question, those that belong neither to it nor to the passage, and
    without one those among them that speak of texts.
    """
    spans = sentence_spans(text)
    given = orders(text, spans)
    spans = [span for at, span in enumerate(spans) if at not in given]
    texts = [text[start:end] for start, end in spans]
    belongs = on_topic(texts, frozenset(content(question)), bool(question), content)
    rows = zip(spans, texts, belongs, strict=True)
    return [span for span, said, on in rows if on or not (question or speaks_of_texts(said))]


def text_without_orders(text: str) -> str:
    """The text as a generator is shown it: sentences that give orders are cut out."""
    spans = sentence_spans(text)
    for at in sorted(orders(text, spans), reverse=True):
        start, end = spans[at]
        text = text[:start] + text[end:]
    return text


def honest_titles(passage: Passage) -> list[str]:
    """The name of a passage's document and the headings above it, without those that give orders."""
    return [title for title in _titles(passage) if not gives_orders(_spoken(title))]


def n_orders(passages: Iterable[Passage]) -> int:
    """How many sentences of the passages, each place once, give orders to the reader."""
    given = set()
    for passage in passages:
        spans = sentence_spans(passage.text)
        given |= {(passage.document_id, passage.start + spans[at][0]) for at in orders(passage.text, spans)}
    return len(given)


def _parted(passage: Passage) -> tuple[list[Piece], list[str]]:
    """The pieces of a passage without the orders in it, and the words of these."""
    pieces = pieces_of([passage])
    spans = [(one.span.start - passage.start, one.span.end - passage.start) for one in pieces]
    given = orders(passage.text, spans)
    kept = [one for at, one in enumerate(pieces) if at not in given]
    return kept, [pieces[at].span.text for at in sorted(given)]


def _is_foreign(title: str, said: Set[str], content: Content) -> bool:
    """Whether a title is long, and speaks of texts or mostly of what its passage does not."""
    terms = frozenset(content(title))
    return len(terms) >= LONG_TITLE and (speaks_of_texts(title) or 2 * len(terms & said) < len(terms))


def _titles(passage: Passage) -> tuple[str, ...]:
    return (passage.document_id, *passage.heading)


def _spoken(title: str) -> str:
    """A title as a person reads it: the signs that stand for spaces in names of files are spaces."""
    return title.replace("_", " ").replace("-", " ").replace("/", ". ")
