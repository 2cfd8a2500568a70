"""Does a passage hold an answer? The string match behind "top-k accuracy" of open-domain QA.

The normaliser is that of the DPR evaluation: NFD, then tokens that are either a run of letters, numbers and
marks or one single other visible character, then lower case. Nothing is dropped and nothing is stemmed, so
accents and punctuation count: on purpose not the SQuAD normal form, and the two must not be mixed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def match_tokens(text: str) -> list[str]:
    """The tokens that are compared, in order, in lower case and NFD.

    General categories L, N and M make words; Z (separators) and C (controls, unassigned) only separate;
    any other character is a token of its own.
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
    """The tokens with a space before, between and after them: a text holds another if its form does.

    >>> match_text("born in 1887.") in match_text("Ada was born in 1887. She")
    True
    """
    return f" {' '.join(match_tokens(text))} "


def contains_tokens(passage_tokens: Sequence[str], answer_tokens: Sequence[str]) -> bool:
    """True when the answer's tokens stand in the passage one after the other.

    An answer without tokens is nowhere (DPR itself finds it everywhere). Tokens must not hold spaces.
    """
    if not answer_tokens:
        return False
    return f" {' '.join(answer_tokens)} " in f" {' '.join(passage_tokens)} "


def has_answer(passage: str, answers: Sequence[str]) -> bool:
    """True when any of the answers occurs in the passage, whole token by whole token.

    >>> has_answer("Obama was born in Hawaii.", ["hawaii"]), has_answer("Hawaiian music", ["hawaii"])
    (True, False)
    """
    tokens = match_tokens(passage)
    return any(contains_tokens(tokens, match_tokens(answer)) for answer in answers)
