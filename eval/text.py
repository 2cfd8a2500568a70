"""Comparison of texts: whether a passage contains an answer."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def match_tokens(text: str) -> list[str]:
    """The tokens of a text in lower case and NFD, as DPR compares texts.

    Runs of letters, numbers and marks are words; separators and control characters only separate; any other
    character is a token of its own. Accents and punctuation count, unlike in the SQuAD normal form.
    Source: facebookresearch/DPR, SimpleTokenizer and has_answer.

    >>> match_tokens("Paris, in 1887.")
    ['paris', ',', 'in', '1887', '.']
    """
    tokens: list[str] = []
    word = ""
    for character in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(character)[0]
        if kind in "LNM":
            word += character
            continue
        if word:
            tokens.append(word.lower())
            word = ""
        if kind not in "ZC":
            tokens.append(character)
    if word:
        tokens.append(word.lower())
    return tokens


def match_text(text: str) -> str:
    """The tokens with a space before, between and after them: `match_text(a) in match_text(b)` compares.

    >>> match_text("born in 1887.") in match_text("Ada was born in 1887. She")
    True
    """
    return f" {' '.join(match_tokens(text))} "


def contains_tokens(passage_tokens: Sequence[str], answer_tokens: Sequence[str]) -> bool:
    """True when the answer's tokens occur in the passage one after the other; False without tokens."""
    return bool(answer_tokens) and f" {' '.join(answer_tokens)} " in f" {' '.join(passage_tokens)} "


def has_answer(passage: str, answers: Sequence[str]) -> bool:
    """True when any of the answers occurs in the passage, whole token by whole token.

    >>> has_answer("Obama was born in Hawaii.", ["hawaii"]), has_answer("Hawaiian music", ["hawaii"])
    (True, False)
    """
    tokens = match_tokens(passage)
    return any(contains_tokens(tokens, match_tokens(answer)) for answer in answers)
