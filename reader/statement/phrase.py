"""The answer as a part of a sentence: with its article, its preposition or the noun that was counted."""

from __future__ import annotations

import re

from .asked import Asked
from .inflection import has_form, is_noun, is_only_adjective, is_plural, parts_of_speech
from .standing import Standing
from .words import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    NUMBER_WORDS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    joined,
    words_of,
)

MOST_WORDS = 30  # of an answer
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_WEEKDAY = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_ANSWER_YEAR = re.compile(
    r"(?:(?:early|late|mid|spring|summer|autumn|fall|winter)[ -](?:of )?)?"
    r"(?:1\d|20)\d\d(?: (?:AD|BC|CE|BCE))?"
)
_ANSWER_MONTH = re.compile(rf"(?:(?:early|late|mid)[ -])?(?:{_MONTH})(?:,? (?:of )?\d{{4}})?")
_ANSWER_PERIOD = re.compile(
    r"(?:(?:early|late|mid)[ -])?(?:\d{3,4}s|\d{1,2}(?:st|nd|rd|th)[ -]century)(?: (?:AD|BC|CE|BCE))?"
)
_ANSWER_DAY = re.compile(
    rf"(?:(?:{_WEEKDAY}),? ?)?"
    rf"(?:(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH}))"
    rf"(?:,? \d{{3,4}})?|{_WEEKDAY}"
)
_ANSWER_CLOCK = re.compile(r"noon|midnight|\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.)", re.IGNORECASE)
_SCALES = frozenset("hundred thousand million billion trillion dozen half".split())
_OF_ITSELF = frozenset(
    "ago later earlier today yesterday tomorrow annually daily weekly monthly yearly now".split()
)
_TIME_LEADS = frozenset("in on at during around by".split())
_PLACE_LEADS = frozenset(
    "in at on near along under outside inside across throughout within off between".split()
)
_CLAUSE_LEADS = frozenset("because due".split())
_OPENING_TIME = frozenset("when while until before after once since as".split())
_ANSWER_NUMBER = re.compile(r"[£$€¥]?\d[\d,.]*(?:%|st|nd|rd|th)?")
_ANSWER_MONEY = re.compile(r"[£$€¥] ?\d")
_CURRENCIES = frozenset("dollars pounds euros yen cents".split())
_ANSWER_SHARE = re.compile(r"\d ?%|\bper ?cent\b")
QUALITIES = frozenset("nationality color colour religion ethnicity language".split())
_UNITS = frozenset(
    "year years month months day days week weeks hour hours minute minutes m km cm mm ft feet foot inch "
    "inches mile miles metre metres meter meters kilometre kilometres kilometer kilometers yard yards".split()
)


def noun_phrase(asked: Asked, answer: str, stands: Standing) -> str | None:
    """The answer with its article; None where it is no noun phrase, or only a part of one.

    A part that the noun of the question completes, as "Romantic" does "what era", is completed by it.
    """
    words = answer.split()
    first = words[0].lower()
    unfit = first in PREPOSITIONS or first in ADVERBS or first in PRONOUNS or first in POSSESSIVES
    if unfit or stands.cut or is_clause(answer):
        return None
    if asked.noun in QUALITIES:
        return answer
    said = answer if first in ARTICLES or not stands.article else f"{stands.article} {answer}"
    if stands.followed:
        return f"{said} {stands.followed}" if asked.head and stands.followed == asked.head[-1].core else None
    return said if _is_noun_like(words) else None


def _is_noun_like(words: list[str]) -> bool:
    """Whether nothing speaks against a noun phrase: no verb first, no adjective, participle or verb last."""
    first, last = words[0], words[-1]
    if last.islower() and (is_only_adjective(last) or _is_only_verb(last)):
        return False
    if not first.islower() or not _is_only_verb(first) or has_form(first, "VBG"):
        return True
    return has_form(first, "VBN") and len(words) > 1 and words[1] not in PREPOSITIONS | ARTICLES


def _is_only_verb(word: str) -> bool:
    known = parts_of_speech(word)
    return "VERB" in known and "NOUN" not in known and "ADJ" not in known and not has_form(word, "VBG")


def is_clause(answer: str) -> bool:
    """Whether a verb of its own makes the answer more than a noun phrase."""
    words = [word.core for word in words_of(answer) if not word.quoted]
    return any(word in AUXILIARIES and word not in ("might", "will", "can") for word in words) or words[
        :1
    ] == ["that"]


def led(asked: Asked, answer: str, stands: Standing) -> str | None:
    """The answer as an adjunct: with the preposition of the question, else its own, else one of its type."""
    first = answer.split()[0].lower()
    if asked.lead and asked.kind != "time":
        return _led_by(asked.lead, asked, answer, stands)
    if asked.kind == "time":
        return _time(asked, answer, first, stands)
    if asked.kind == "place":
        return _place(answer, first, stands)
    if asked.kind == "reason":
        return _reason(answer, first, stands)
    if asked.kind == "manner":
        return _manner(answer, first, stands)
    if asked.kind == "often":
        return answer if first in ("every", "once", "twice") or answer.split()[-1].lower() in _OFTEN else None
    return None


_OFTEN = _OF_ITSELF | {"times", "hourly", "year", "month", "week", "day"}


def _led_by(lead: str, asked: Asked, answer: str, stands: Standing) -> str | None:
    first = answer.split()[0].lower()
    if first == lead:
        return answer
    if first in PREPOSITIONS or asked.noun in (
        "way",
        "ways",
        "extent",
        "reason",
        "reasons",
        "manner",
        "order",
    ):
        return None
    said = noun_phrase(asked, answer, stands)
    if said is None:
        return None
    if asked.noun == "age" and _ANSWER_NUMBER.fullmatch(answer):
        return f"{lead} age {answer}"
    return f"{lead} {said}"


def _time(asked: Asked, answer: str, first: str, stands: Standing) -> str | None:
    last = answer.split()[-1].lower()
    if (
        first in PREPOSITIONS
        or first in _OPENING_TIME
        or last in _OF_ITSELF
        or first in ("every", "last", "next")
    ):
        return None if first in ("of", "to", "than") else answer
    article = f"{stands.article} " if stands.article and first not in ARTICLES else ""
    if stands.preposition in _TIME_LEADS and not stands.followed and not stands.cut:
        return f"{stands.preposition} {article}{answer}"
    if _ANSWER_YEAR.fullmatch(answer) or _ANSWER_MONTH.fullmatch(answer):
        return f"in {answer}"
    if _ANSWER_DAY.fullmatch(answer):
        return f"on {answer}"
    if _ANSWER_CLOCK.fullmatch(answer):
        return f"at {answer}"
    bare = answer[4:] if first == "the" else answer
    if _ANSWER_PERIOD.fullmatch(bare):
        return f"in {answer}" if first == "the" else f"in the {answer}"
    return None


def _place(answer: str, first: str, stands: Standing) -> str | None:
    if first in _PLACE_LEADS:
        return answer
    if first in PREPOSITIONS or stands.preposition not in _PLACE_LEADS or is_clause(answer):
        return None
    article = f"{stands.article} " if stands.article and first not in ARTICLES else ""
    return f"{stands.preposition} {article}{answer}"


def _reason(answer: str, first: str, stands: Standing) -> str | None:
    if first in _CLAUSE_LEADS or answer.lower().startswith(
        ("to ", "in order to ", "as a result of ", "so that ")
    ):
        return answer
    if stands.preposition == "because" and is_clause(answer):
        return f"because {answer}"
    return None


def _manner(answer: str, first: str, stands: Standing) -> str | None:
    if first in ("by", "through", "via", "with", "using"):
        return answer
    if stands.preposition in ("by", "through", "via") and not is_clause(answer):
        article = f"{stands.article} " if stands.article and first not in ARTICLES else ""
        return f"{stands.preposition} {article}{answer}"
    return None


def counted(asked: Asked, answer: str, stands: Standing) -> str | None:
    """The answer to "how many" or "how much" with the noun that it counts, said once."""
    words = answer.split()
    if is_clause(answer) or words[0].lower() in (
        "of",
        "with",
        "from",
        "to",
        "in",
        "by",
        "one",
        "a",
        "an",
        "1",
    ):
        return None
    head = [word.core for word in asked.head]
    if asked.kind == "amount":
        is_money = _ANSWER_MONEY.search(answer) or _CURRENCIES.intersection(words)
        return answer if is_money and (not head or head == ["money"]) else None
    if answer in _SCALES or head[0] in ("more", "other", "additional", "total"):
        return None
    last = words[-1].strip(",.")
    if last.lower() in [word.lower() for word in head]:
        at = [word.lower() for word in head].index(last.lower())
        return " ".join([answer, *head[at + 1 :]])
    if is_number(last):
        return f"{answer} {joined(asked.head)}"
    if is_plural(last) and len(head) == 1 and any(is_number(word) for word in words):
        return answer
    return None


def is_number(word: str) -> bool:
    """Whether a word is a number in figures or letters."""
    return _ANSWER_NUMBER.fullmatch(word) is not None or all(
        part in NUMBER_WORDS for part in word.lower().split("-")
    )


def share(asked: Asked, answer: str) -> str | None:
    """The answer to "what percentage of …": "40%" with what it is a part of."""
    if not _ANSWER_SHARE.search(answer) or len(answer.split()) > 4:
        return None
    behind = asked.head[1:]
    return f"{answer} {joined(behind)}" if behind and " of" not in f" {answer}" else answer


def measured(asked: Asked, answer: str) -> str | None:
    """The answer to "how tall is" with its adjective: "324 metres tall"; the age of "how old" as it is."""
    last = answer.split()[-1].lower()
    if last == asked.measure:
        return answer
    if is_number(last) and asked.measure == "old":
        return answer
    if last.rsplit("-", 1)[-1] in _UNITS and any(map(is_number, answer.replace("-", " ").split())):
        return f"{answer} {asked.measure}"
    return None


def is_many(answer: str) -> bool | None:
    """Whether an answer is several things; None where that is not certain."""
    words = words_of(answer)
    if any(word.core in ("and", "or", "&") for word in words if not word.quoted) or any(
        word.ends_part for word in words[:-1] if not word.quoted
    ):
        return None
    until = next((at for at, word in enumerate(words) if at and word.core in PREPOSITIONS), len(words))
    last = words[until - 1]
    if last.is_name or last.quoted:
        plural = last.core.endswith("s") and (
            is_plural(last.core) or is_plural(last.lower) or last.core[:-1].isupper()
        )
        return None if plural and not last.quoted else False
    if is_plural(last.core):
        return True
    return False if is_noun(last.core) or not last.core.endswith("s") else None
