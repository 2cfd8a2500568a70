"""Questions changed so that their own passage no longer answers them.

    figures     a number of the question becomes another one of its article, or of the same length
    names       a name of the question becomes another one of its article
    opposites   a word becomes its opposite ("first", "last")
    negation    the first auxiliary verb is negated ("did", "didn't")

What replaces a number or a name is not in the passage, so that the passage cannot be about it. People made
unanswerable questions for SQuAD 2.0 in these ways among others (Rajpurkar et al., "Know What You Don't
Know", 2018, table 2: entity swap, antonym, negation).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from ..examples import ReaderExample
from .article import FIGURE, Article, proper_names

PAIRS = (
    "first last|oldest newest|largest smallest|biggest smallest|highest lowest|longest shortest"
    "|before after|north south|northern southern|east west|eastern western"
    "|early late|earlier later|began ended|start stop|started stopped|increase decrease"
    "|increased decreased|increases decreases|win lose|won lost|wins loses|always never|minimum maximum"
    "|majority minority|above below|upper lower|inside outside|include exclude|includes excludes"
    "|included excluded|allowed forbidden|accepted rejected|supported opposed|support oppose"
    "|supports opposes|public private|male female|modern ancient|best worst|higher lower|larger smaller"
    "|longer shorter|older younger|faster slower|stronger weaker|positive negative|common rare"
    "|major minor|cause prevent|caused prevented|causes prevents|gain lose|gained lost|built destroyed"
    "|open close|opened closed|possible impossible|success failure|successful unsuccessful|rise fall"
    "|rose fell|strength weakness|internal external|rural urban"
)
OPPOSITE: Mapping[str, str] = {
    one: other for pair in reversed(PAIRS.split("|")) for one, other in (pair.split(), pair.split()[::-1])
}
AUXILIARY = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should|can|will)\b")
IRREGULAR = {"can": "can't", "will": "won't"}
TRIES = 20  # to draw a number that the passage does not hold
LETTERED_WORD = re.compile(r"[a-z]+")

Change = Callable[[ReaderExample, Article, random.Random], str | None]


def other_figure(example: ReaderExample, article: Article, rng: random.Random) -> str | None:
    """The question with another number; None without a number that the passage holds, too."""
    held = [figure for figure in FIGURE.findall(example.question) if figure in example.passage]
    if not held:
        return None
    old = rng.choice(held)
    new = [one for one in article.figures if _is_like(one, old) and one not in example.passage]
    replacement = rng.choice(new) if new else _drawn_figure(old, example.passage, rng)
    return _replaced(example.question, old, replacement) if replacement else None


def other_name(example: ReaderExample, article: Article, rng: random.Random) -> str | None:
    """The question with another name; None without one that the passage holds, or one in its place."""
    held = [name for name in proper_names(example.question) if name in example.passage]
    if not held:
        return None
    old = rng.choice(held)
    title = {word.lower() for word in example.group.split("_")}
    new = [
        name
        for name in article.names
        if name.count(" ") == old.count(" ")
        and name not in example.passage
        and name not in example.question
        and not title & set(name.lower().split())
    ]
    return _replaced(example.question, old, rng.choice(new)) if new else None


def opposite(example: ReaderExample, article: Article, rng: random.Random) -> str | None:
    """The question with a word's opposite; None without such a word that the passage holds, too."""
    passage = set(LETTERED_WORD.findall(example.passage.lower()))
    asked = LETTERED_WORD.findall(example.question)
    held = [word for word in asked if word in passage and OPPOSITE.get(word, word) not in passage]
    return _replaced(example.question, old := rng.choice(held), OPPOSITE[old]) if held else None


def negated(example: ReaderExample, article: Article, rng: random.Random) -> str | None:
    """The question with its first auxiliary verb negated; None without one, or where it denies already.

    >>> mill = ReaderExample("q", "When did Ada buy the mill?", "Ada bought it in 1870.", 17, 21, "Mill")
    >>> negated(mill, Article([]), random.Random(0))
    "When didn't Ada buy the mill?"
    """
    match = AUXILIARY.search(example.question)
    if match is None or re.search(r"n't\b|n’t\b|\b(?:not|never|no)\b", example.question, re.IGNORECASE):
        return None
    verb = IRREGULAR.get(match[1], f"{match[1]}n't")
    return example.question[: match.start()] + verb + example.question[match.end() :]


CHANGES: Mapping[str, Change] = {
    "figures": other_figure,
    "names": other_name,
    "opposites": opposite,
    "negation": negated,
}


def _is_like(one: str, other: str) -> bool:
    """Whether two numbers look alike, so that a year is replaced by a year."""
    return len(one) == len(other) and one.isdigit() == other.isdigit() and one[0] == other[0]


def _drawn_figure(old: str, passage: str, rng: random.Random) -> str | None:
    for _ in range(TRIES):
        digits = [rng.choice("123456789") if one.isdigit() else one for one in old]
        if (new := "".join(digits)) not in passage:
            return new
    return None


def _replaced(text: str, old: str, new: str) -> str:
    return _whole(old).sub(lambda _: new, text, count=1)


def _whole(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(phrase)}\b")
