"""A sentence with a hole as a question: what is missing is what would be asked for.

The hole takes what is most like an answer: of the runs of names, numbers and words of code the one with the
rarest term. Half of the questions are left as sentences, the others are their key words alone.

Source: Lee, Chang and Toutanova, "Latent Retrieval for Weakly Supervised Open Domain Question Answering",
ACL 2019, section 4 (inverse cloze task); the hole is ours: a question does not hold its answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import groupby

from ...index.analysis import Analyzer
from ...index.analysis.stop_words import ENGLISH

WORDS = 8, 40  # of a sentence that is taken
LONGEST = 400  # characters of it
LEAST_LEFT = 4  # words that are no stop words, beside the hole
_EDGE = "\"'“”‘’«»()[]{}<>*_`#|~.,;:!?…—–-=+"
_LETTERS = 0.6  # of the characters of a sentence, at least: tables and code have fewer
_OF_CODE = re.compile(r"[a-z][A-Z]|\w[_/]\w|::|\w\.\w|\d")

Rarity = Callable[[str], int]
"""How many passages hold a term."""


def cloze(sentence: str, analyzer: Analyzer, df: Rarity, rng: random.Random) -> str | None:
    """The question, or None for a sentence that is too short, too long, or no prose.

    The words of the hole stand nowhere in it, and the others in their order.
    """
    words = _words(sentence)
    if words is None:
        return None
    hole = set(_hole(words, analyzer, df))
    kept = [word for word in words if not hole.intersection(analyzer.terms(word))]
    telling = [word for word in kept if not _is_stop_word(word)]
    if len(set(analyzer.terms(" ".join(telling)))) < LEAST_LEFT:
        return None
    return " ".join(telling if rng.random() < 0.5 else kept)


def _words(sentence: str) -> list[str] | None:
    if len(sentence) > LONGEST or "|" in sentence:
        return None
    dense = "".join(sentence.split())
    if sum(c.isalpha() for c in dense) < _LETTERS * len(dense):
        return None
    words = [word for word in (each.strip(_EDGE) for each in sentence.split()) if word]
    fewest, most = WORDS
    return words if fewest <= len(words) <= most else None


def _hole(words: Sequence[str], analyzer: Analyzer, df: Rarity) -> list[str]:
    """The terms of the run, or of the single word where there is no run, that has the rarest of them."""
    named = [list(run) for is_name, run in groupby(enumerate(words), _is_name) if is_name]
    runs = named or [[(i, word)] for i, word in enumerate(words) if not _is_stop_word(word)]
    found = [analyzer.terms(" ".join(word for _, word in run)) for run in runs]
    found = [[term for term in terms if term not in ENGLISH] for terms in found]
    return min(filter(None, found), key=lambda terms: min(map(df, terms)), default=[])


def _is_name(placed: tuple[int, str]) -> bool:
    """Whether a word is a name, a number or code; the first of a sentence has a capital anyway."""
    at, word = placed
    return bool(_OF_CODE.search(word)) or word[1:].isupper() or (at > 0 and word[0].isupper())


def _is_stop_word(word: str) -> bool:
    return word.lower().replace("’", "'") in ENGLISH
