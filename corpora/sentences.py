"""Where sentences start and end: rules and a list of abbreviations, nothing learnt.

Blocks of lines come from `line_blocks`; inside a block a sentence ends after a stop, unless the stop belongs
to an abbreviation, an initial or a number, or the next word starts small. English abbreviations are known;
the full-width stops of Chinese and Japanese and those of Indian and Arabic scripts need no space behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .line_blocks import block_spans
from .trimming import is_mark, trimmed

FULL_STOPS = "。！？｡।॥؟۔։"  # those that need no space behind them
CLOSING = "\"'”’»)\\]」』）】*_`"
OPENING = "\"'“‘«([「『（【*_`"
# Stops, closing quotes and brackets, note references such as [3]. No part can fail after a long run.
STOP = re.compile(rf"(?:[{FULL_STOPS}]+|[.!?…]+)[{CLOSING}]*(?:\[\w{{1,3}}\]){{0,5}}")

# Before a name: the stop never ends the sentence if the word has a capital.
TITLES = frozenset(
    "dr mr mrs ms prof gen col capt cmdr lt sgt maj rev hon pres gov sen rep messrs mt ft st ste".split()
)
# Before what they point to, in whatever case.
POINTERS = frozenset(
    "fig figs eq eqs cf viz e.g i.e eg ie vs ca approx resp trans eds chap vol vols pp ref refs incl".split()
)
BEFORE_NUMBERS = frozenset("no nos p art para sec op v".split())
# Perhaps the last word of a sentence: it is if the next one looks like a first word.
MAYBE_LAST = frozenset(
    "etc inc ltd co corp bros jr sr esq al est dept univ assn ave blvd rd ph.d b.sc m.sc ed "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
FIRST_WORDS = frozenset(
    "the a an in on at it its he she they we you i this that these those there here his her their our my "
    "but and or so if when while after before since as for from to with by of what who why how where "
    "which not no yes all some many most one two both each another other however then also although "
    "because during under until once such".split()
)
LAST_TOKEN = re.compile(r"[^\s()\[\]{}\"'“”‘’«»—–/*_`]*\Z")
WORD = re.compile(r"[^\W_]+")
REACH = 24  # characters looked at on either side of a stop


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences, in order; every character that is no white space is in one.

    >>> sentence_spans("Dr. No paid $3.50. Why?")
    [(0, 18), (19, 23)]
    """
    spans = []
    for start, end in block_spans(text):
        cuts = [start, *_cuts(text, start, end), end]
        for left, right in zip(cuts, cuts[1:], strict=False):
            first, last = trimmed(text, left, right)
            if first < last:
                spans.append((first, last))
    return spans


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """The places inside a block behind the stops that end a sentence."""
    for stop in STOP.finditer(text, start, end):
        if stop.end() < end and _ends_sentence(text, start, stop):
            yield stop.end()


def _ends_sentence(text: str, block_start: int, stop: re.Match[str]) -> bool:
    following = text[stop.end() : stop.end() + REACH]
    if stop[0][0] in FULL_STOPS:
        return not is_mark(following[0])
    if not following[0].isspace():
        return False
    following = following.lstrip().lstrip(OPENING)
    if following[:1].islower():
        return False
    if stop[0][0] != "." or stop[0].startswith("..") or not following:
        return True
    before = text[max(block_start, stop.start() - REACH) : stop.start()]
    if text[block_start : stop.start()].isdigit():  # the number of a list item or a section
        return False
    return _word_may_end(LAST_TOKEN.search(before)[0], following)  # type: ignore[index]  # matches ""


def _word_may_end(word: str, following: str) -> bool:
    """False when the stop behind `word` belongs to the word, given the text that follows."""
    small = word.lower()
    if following[0].isdigit():
        return small not in TITLES | POINTERS | BEFORE_NUMBERS | MAYBE_LAST
    if small in POINTERS or (small in TITLES and word[0].isupper() and small != "st"):
        return False
    # Initials and the like: J., U.S., a.m.
    lettered = bool(word) and all(len(part) == 1 and part.isalpha() for part in word.split("."))
    single = lettered and len(word) == 1 and word.islower()
    if small in MAYBE_LAST or small == "st" or (lettered and not single):
        next_word = WORD.match(following)
        return next_word is None or next_word[0].lower() in FIRST_WORDS
    return True
