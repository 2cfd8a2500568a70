"""The language of a text, and the languages of the passages of an index, as codes of ISO 639.

A naive Bayes classifier over byte n-grams tells them. Source: Lui and Baldwin, "langid.py: An Off-the-shelf
Language Identification Tool", ACL 2012. A text that is surely English by its stop words needs none of it.
"""

from __future__ import annotations

import lzma
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from spanwise.types import Document, Passage

from .analysis import ENGLISH, LANGUAGE, STOP_WORDS, Analyzer, plain_words
from .schema import indexed_text

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

    from .live_postings import StatisticsSource

STEMMED = frozenset(
    "ar ca cs da de el eo es et eu fa fi fr ga hi hu hy id it lt ne nl no pl pt ro ru sr sv ta tr".split()
)
MIN_WORDS = 5
MIN_CONFIDENCE = 0.7  # tables, code and lists of names have less
MIN_STOP_WORDS = (
    0.2  # of English prose: a share of its words; of 2,640 paragraphs in 11 languages at most 0.15
)
MIN_SHARE = 0.01  # of the passages; fewer are enough if they are `MIN_PASSAGES`
MIN_PASSAGES = 10
_SAMPLED = 2_000  # characters of the start, and of the middle


def language_of(text: str) -> str:
    """The code of the language of a text; that of English if it is unsure, or if no stemmer knows it.

    >>> language_of("Der Schlüssel zum Keller liegt bei der Nachbarin.")
    'de'
    """
    middle = len(text) // 2
    sample = f"{text[:_SAMPLED]} {text[middle : middle + _SAMPLED]}"
    words = plain_words(sample)
    n_english = sum(word in STOP_WORDS for word in words)
    if len(words) < MIN_WORDS or n_english >= MIN_STOP_WORDS * len(words):
        return ENGLISH
    language, _ = _identifier().classify(sample)
    return language if language in STEMMED else ENGLISH


def stored_terms(document: Document, passages: Sequence[Passage], analyzer: Analyzer) -> Iterator[list[str]]:
    """The terms that an index stores for each passage of a document, by its language."""
    terms_of = analyzer.in_languages(language_of(document.text)).passage_terms
    return (terms_of(indexed_text(passage)) for passage in passages)


def languages_of(postings: StatisticsSource) -> tuple[str, ...]:
    """English, and each language of enough live passages, see `MIN_SHARE`; the most frequent first."""
    marks = {language: LANGUAGE + language for language in STEMMED}
    statistics = postings.statistics(marks.values())
    counts = {language: statistics.df[mark] for language, mark in marks.items()}
    enough = max(1, min(MIN_PASSAGES, MIN_SHARE * statistics.n_docs))
    frequent = {language: n for language, n in counts.items() if n >= enough}
    frequent[ENGLISH] = statistics.n_docs - sum(counts.values())
    return tuple(sorted(frequent, key=lambda language: (-frequent[language], language)))


@cache
def _identifier() -> LanguageIdentifier:
    """The classifier; its library would write a file to load it, which the limits of a parser may forbid."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    with np.load(BytesIO(lzma.decompress((MODEL_DIR / MODEL_FILE).read_bytes()))) as model:
        return LanguageIdentifier(
            model["ptc"],
            model["pc"],
            model["classes"].tolist(),
            array("I", model["nextmove"].tobytes()),
            model["out_feat"].tolist(),
            tk_row=model["nextmove_row"].tolist(),
            norm_probs=True,
            min_confidence=MIN_CONFIDENCE,
        )
