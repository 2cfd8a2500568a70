"""Finds the quotes in an answer that somebody or a model wrote, and the words of a document that each has.

Words are found as they stand ("exact"); or without regard to white space, markup, quotation marks, hyphens
and case ("folded"); or in part ("partial"): at least MIN_SHARE of them in order, with at most MAX_GAP other
words between two of them, among them every number, name and negation of the quote, and no further negation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from spanwise.types import CheckedQuote, Document, QuoteMatch

from ...corpora.passages import passages_at
from ...index.analysis import STOP_WORDS
from ...reader.written import NEGATION, WORD, names
from ...retrieval.protocol import Retriever

MIN_SHARE = 0.75
MAX_GAP = 2  # words
MIN_PARTIAL = 4  # words of a quote that may be found in part
N_PASSAGES = 20  # in which a quote is looked for
AROUND = 2  # times the length of a quote, read on both sides of a passage
NEEDED = 1 << 16  # the weight of a number, name or negation beside other words
_KEPT = re.compile(r"(?<!\w)[-−](?=\d)|(?<=\d)[.,](?=\d)|[%$€£¥°+<>=]|[^\W_]")
_BODY = r"(?:[^{0}\n]|\n(?!\s*\n)){{2,2000}}"
_QUOTE = re.compile(
    r"(?:^[^\S\n]*>.*\n?)+"  # a block quote of Markdown
    + "".join(f"|{marks[0]}{_BODY.format(marks)}{marks[1]}" for marks in ('""', "“”", "„“", "«»")),
    re.MULTILINE,
)
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.\.\.)[\])]?")


@dataclass(frozen=True, slots=True)
class FoundWords:
    """Words of a quote in a text.

    match: how they were found.
    start, end: their place, in code points.
    """

    match: QuoteMatch
    start: int
    end: int


def check_quotes(
    text: str, retriever: Retriever, document_of: Callable[[str], Document]
) -> list[CheckedQuote]:
    """The quotes in a text in their order; of several places the best match in the best passage counts."""
    quotes = list(quotes_in(text))
    rankings = retriever.search([quote for _, quote in quotes], N_PASSAGES) if quotes else []
    checked = []
    for (start, quote), hits in zip(quotes, rankings, strict=True):
        result = CheckedQuote(quote, start)
        reach = AROUND * len(quote)
        windows = []
        for hit in hits:
            document = document_of(hit.passage.document_id)
            first = max(0, hit.passage.start - reach)
            windows.append((document, first, document.text[first : hit.passage.end + reach]))
        for kind in get_args(QuoteMatch):
            places = (
                (document, first, words)
                for document, first, window in windows
                if (words := find_words(quote, window, kind))
            )
            if place := next(places, None):
                document, first, words = place
                [passage] = passages_at(document, [(first + words.start, first + words.end)])
                result = CheckedQuote(quote, start, kind, passage)
                break
        checked.append(result)
    return checked


def find_words(quote: str, text: str, kind: QuoteMatch) -> FoundWords | None:
    """The first place of a quote in a text by one kind of match; the fullest one for "partial".

    >>> find_words("built in 1811", "It was **built\\nin** 1811.", "folded")
    FoundWords(match='folded', start=9, end=24)
    >>> find_words("built in 1811", "It was built in 1812.", "partial")
    """
    if kind == "partial":
        return _in_part(quote, text)
    words = quote
    letters = text
    places: Sequence[int] = range(len(text))
    if kind == "folded":
        words, _ = _folded(quote)
        letters, places = _folded(text)
    number = letters.find(words) if words else -1
    while number >= 0:
        first = places[number]
        end = places[number + len(words) - 1] + 1
        if not (text[first - 1 : first].isalnum() or text[end : end + 1].isalnum()):
            return FoundWords(kind, first, end)
        number = letters.find(words, number + 1)
    return None


def quotes_in(answer: str) -> Iterator[tuple[int, str]]:
    """The place and the words of each quote in a text: in quotation marks, or a block quote of Markdown.

    What is left out ("…") divides a quote into parts, which are quotes of their own.

    >>> list(quotes_in('He says “the mill … burned” twice.'))
    [(9, 'the mill'), (20, 'burned')]
    """
    for match in _QUOTE.finditer(answer):
        is_block = match[0].lstrip().startswith(">")
        body = re.sub(r"(?m)^[^\S\n]*>", " ", match[0]) if is_block else match[0][1:-1]
        first = match.start() if is_block else match.start() + 1
        begin = 0
        for end, after in [*((gap.start(), gap.end()) for gap in _LEFT_OUT.finditer(body)), (len(body), 0)]:
            part = body[begin:end]
            if words := part.strip():
                start = begin if is_block else begin + part.index(words)
                yield first + start, " ".join(words.split()) if is_block else words
            begin = after


def _folded(text: str) -> tuple[str, list[int]]:
    """The letters, digits and signs of a text in lower case, and the place of each."""
    letters: list[str] = []
    places: list[int] = []
    for match in _KEPT.finditer(text):
        folded = match[0].casefold().replace("−", "-")
        letters.append(folded)
        places += [match.start()] * len(folded)
    return "".join(letters), places


def _in_part(quote: str, text: str) -> FoundWords | None:
    asked = [match[0].casefold() for match in WORD.finditer(quote)]
    if len(asked) < MIN_PARTIAL:
        return None
    certain = {word.casefold() for word in names(quote, STOP_WORDS.__contains__)}
    certain |= {match[0].casefold() for match in NEGATION.finditer(quote)}
    weights = [1 + NEEDED * (word in certain or any(map(str.isdigit, word))) for word in asked]
    words = list(WORD.finditer(text))
    chains: list[dict[int, tuple[int, int]]] = []  # for each word of the text: weight and first word by asked
    best = (0, 0, 0)
    for place, word in enumerate(words):
        before = [chain.items() for chain in chains[-1 - MAX_GAP :]]
        chain: dict[int, tuple[int, int]] = {}
        for i, wanted in enumerate(asked):
            if wanted == word[0].casefold():
                ending = [value for items in before for earlier, value in items if earlier < i]
                weight, first = max(ending, key=lambda value: value[0], default=(0, place))
                chain[i] = (weight + weights[i], first)
                best = max(best, (weight + weights[i], first, place), key=lambda value: value[0])
        chains.append(chain)
    weight, first, last = best
    n_needed = sum(value > 1 for value in weights)
    if weight // NEEDED < n_needed or weight % NEEDED < math.ceil(MIN_SHARE * len(asked)):
        return None
    part = FoundWords("partial", words[first].start(), words[last].end())
    n_negations = sum(1 for _ in NEGATION.finditer(text, part.start, part.end))
    return part if n_negations <= sum(1 for _ in NEGATION.finditer(quote)) else None
