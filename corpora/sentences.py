"""Where sentences start and end: rules and a list of abbreviations, nothing learnt.

Blocks of lines come from `line_blocks`; inside a block a sentence ends after a stop, unless the stop belongs
to an abbreviation, an initial or a number, or the next word starts small. English abbreviations are known;
the full-width stops of Chinese and Japanese and those of Indian and Arabic scripts need no space behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .abbreviations import BEFORE_NUMBERS, FIRST_WORDS, MAYBE_LAST, POINTERS, TITLES
from .line_blocks import block_spans
from .trimming import is_mark, trimmed

FULL_STOPS = "。！？｡।॥؟۔։"  # those that need no space behind them
CLOSING = "\"'”’»)\\]」』）】*_`"
OPENING = "\"'“‘«([「『（【*_`"
# Stops, closing quotes and brackets, note references such as [3]. No part can fail after a long run.
STOP = re.compile(rf"(?:[{FULL_STOPS}]+|[.!?…]+)[{CLOSING}]*(?:\[\w{{1,3}}\]){{0,5}}")

TOKEN_EDGE = re.compile(r"[\s()\[\]{}\"'“”‘’«»—–/*_`]")
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
        for left, right in pairwise(cuts):
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
    at_line_start = stop.start() == block_start or text[stop.start() - 1] in "\r\n"
    if not following[0].isspace() or at_line_start:  # at a line's start it is a bullet
        return False
    following = following.lstrip().lstrip(OPENING)
    if following[:1].islower():
        return False
    if stop[0][0] != "." or stop[0].startswith("..") or not following:
        return True
    before = text[max(block_start, stop.start() - REACH) : stop.start()]
    if before.isdigit() and stop.start() - block_start < REACH:  # the number of a list item or a section
        return False
    return _word_may_end(TOKEN_EDGE.split(before)[-1], following)


def _word_may_end(word: str, following: str) -> bool:
    """False when the stop behind `word` belongs to the word, given the text that follows."""
    small = word.lower()
    if following[0].isdigit():
        return small not in BEFORE_NUMBERS
    if small in POINTERS or (small in TITLES and word[0].isupper()):
        return False
    if small in MAYBE_LAST or _is_lettered(word):
        next_word = WORD.match(following)
        return next_word is None or next_word[0].lower() in FIRST_WORDS
    return True


def _is_lettered(word: str) -> bool:
    """True for initials and what is written like them: J, U.S, a.m."""
    letters = word.split(".")
    return all(len(letter) == 1 and letter.isalpha() for letter in letters) and not (
        word.islower() and len(word) == 1
    )
