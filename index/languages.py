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
from unicodedata import combining, normalize

import numpy as np

from spanwise.types import Document, Passage

from .analysis import ENGLISH, LANGUAGE, PLAIN_WORDS, STOP_WORDS, Analyzer, folded, plain_words
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

# Function words and verbs of questions, without accents. Those after the bar are also English words, or are
# frequent in names.
_GERMAN = """
    wer wem wie wo wann warum weshalb welche welcher welchen welchem woher wohin wozu wieviel wieviele ich
    wir ihr mich mir sich mein das ein eine einen einem jemand etwas ist sind werden wurde habe haben kann
    konnen darf durfen muss gibt gilt kostet kommt steht liegt dauert bekomme hast hat heisst bedeutet
    lasst beschreibe und nicht fur fuer zum zur bei auf nach noch schon uber wenn
    | der die den dem des du sie es was im in am an zu mit aus bis hier alle viel unter
"""
_FRENCH = """
    qui que quoi quel quelle quels quand combien pourquoi lequel je tu vous nous elle mon une cette quelqu
    est sont suis avons avez peut peux puis dois doit faut existe coute ferme trouve decris expliquez dis dans
    avec sous deja toutes
    | ou comment il on te se me moi le la les l un des du de d j t au aux en ma mes son sa ce qu y ont a
    as ai va fait faire par pour sur plus donne montre liste
"""
_SPANISH = """
    que quien cual cuales como cuando donde adonde cuanto cuantos cuantas esta eso hacer hace hacen tengo
    tiene tienen tenemos puedo puede pueden podrias debo desde antes pasa existe abren significa necesito
    cuesta funciona dime muestra enumera
    | es el la los las un una de del al en con por para si no se mi me te he hay ha has fue son este hasta
    cerca ya va a
"""
_POLISH = """
    kto kogo komu co czego czym czy gdzie skad dokad kiedy jak jaki jaka jakie jakim jakiego ktory ktore
    ktorym ktorej ile dlaczego mam macie moge mozna byla trzeba zostal kosztuje trwa oznacza dziala robic
    prosze wymien opisz pokaz powiedz dla przez juz
    | jest sa sie w i z na od po pod za o ten ta te ma mi tu to do by on
"""
_FOREIGN = [
    [frozenset(words.split()) for words in language.split("|")]
    for language in (_GERMAN, _FRENCH, _SPANISH, _POLISH)
]


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


def is_english(question: str) -> bool:
    """False for a question in another script, or in German, French, Spanish or Polish, also without accents.

    Their function words are signs, English ones are signs against them. Names and titles have too few.

    >>> is_english("Wo ist der Schluessel?"), is_english("El Paso, error E4012")
    (False, True)
    """
    plain = "".join(c for c in normalize("NFKD", folded(question)) if not combining(c))
    letters = list(filter(str.isalpha, plain))
    if "\u00bf" in plain or sum(letter > "\u024f" for letter in letters) > max(1, len(letters) / 2):
        return False
    words = PLAIN_WORDS.findall(plain.replace("'", " ").replace("\u0142", "l"))
    is_asked = "?" in plain
    for certain, possible in _FOREIGN:
        sure = certain.intersection(words)
        if sure or (is_asked and possible.issuperset(words[:1])):
            n_signs = sum(2 + (len(word) > 4) for word in sure)  # a longer word is enough
            n_signs += len(possible.intersection(words) - STOP_WORDS) + is_asked
            english = STOP_WORDS.intersection(words) - (possible if sure else {"a", "on"})
            if n_signs - 3 * len(english) >= 3:
                return False
    return True


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
