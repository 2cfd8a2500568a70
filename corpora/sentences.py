"""Splits text into sentences by rules and a list of English abbreviations.

A sentence lies in one block of lines: a paragraph, list item, heading, table row or line of code. Most text
is wrapped, so a line end alone is no boundary; Markdown or the lengths of the lines can make it one. Inside a
block, a sentence ends after a stop. There are exceptions: the stop belongs to an abbreviation, an initial or
a number, or the next word starts in lower case. The full-width stops of Chinese and Japanese and the stops of
Indian and Arabic scripts need no space after them.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, groupby, pairwise

from spanwise.types import Bounds

FULL_STOPS = "。！？｡।॥؟۔։"  # need no space after them
CLOSING = "\"'”’»)\\]」』）】*_`"
OPENING = "\"'“‘«([「『（【*_`"
# Stops, closing quotes and brackets, references such as [3]. No part backtracks over a long run.
STOP = re.compile(rf"(?:[{FULL_STOPS}]+|[.!?…]+)[{CLOSING}]*(?:\[\w{{1,3}}\]){{0,5}}")

TOKEN_EDGE = re.compile(r"[\s()\[\]{}\"'“”‘’«»—–/*_`]")
WORD = re.compile(r"[^\W_]+")
REACH = 24  # characters looked at on either side of a stop

FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# A line of a log, a chat or a file of settings begins with a date, a time, an address or "NAME=".
ENTRY = re.compile(r"\[?(?:\d{1,4}(?:[-/.]\d{1,4}){2}|\d\d?:\d\d)\b|\w[\w.-]{0,30}=\S")
# A list item, heading, quotation, table row, definition or entry starts a block.
OPENS = re.compile(
    r"[ \t]*(?:[-+*•▪◦‣·●■][ \t]+\S|\(?(?:[0-9]{1,3}|[a-zA-Z])\)[ \t]|[0-9]{1,3}\.[ \t]|#{1,6}[ \t]|\|"
    rf"|[A-Z][\w /-]{{0,30}}:\s|{ENTRY.pattern})"
)
# After a heading, a row or a rule the next line starts a block.
COMPLETE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||={3,}\s*\Z|-{3,}\s*\Z|\*{3,}\s*\Z)")
BLANK = re.compile(r"[\s>]*")  # ">" for the empty lines of a quotation
ROW = " | "
CELL_END = re.compile(r"(?:(?<!\d)[,;]|[,;](?!\d{3}(?!\d))|\t)(?=\S)")  # of a row of a table in text
SHORT = 0.6  # of the widest line of its paragraph
# A line that ends like this is not the last of its block.
LEADS_ON = re.compile(
    r"(?:[,;:(\[–—-]|\b(?:the|a|an|of|and|or|by|to|in|on|at|for|with|from|as|is|are|was|that))\Z", re.I
)

ZERO_WIDTH_JOINER = "\u200d"
MAX_MARKS = 30  # on one character: UAX #15, stream-safe text


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Before a name: the stop never ends the sentence if the word is capitalized.
TITLES = _words("dr mr mrs ms prof gen col capt cmdr lt sgt maj rev hon pres gov sen rep messrs mt ft ste")
# Before the number or name that they refer to, in any case.
POINTERS = _words(
    "fig figs eq eqs cf viz e.g i.e eg ie vs ca approx resp trans eds chap vol vols pp ref refs incl"
)
# The last word of a sentence only if the next one looks like a first word.
MAYBE_LAST = _words(
    "etc inc ltd co corp bros jr sr esq al est dept univ assn ave blvd rd st ph.d b.sc m.sc ed",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
)
BEFORE_NUMBERS = TITLES | POINTERS | MAYBE_LAST | _words("no nos p art para sec op v")
FIRST_WORDS = _words(
    "the a an in on at it its he she they we you i this that these those there here his her their our my",
    "but and or so if when while after before since as for from to with by of what who why how where",
    "which not no yes all some many most one two both each another other however then also although",
    "because during under until once such",
)


def sentence_spans(text: str) -> list[Bounds]:
    """Half-open spans of the sentences, in order; each character but white space is in one.

    >>> sentence_spans("Dr. No paid $3.50. Why?")
    [(0, 18), (19, 23)]
    """
    spans: list[Bounds] = []
    for start, end in block_spans(text):
        stops = (stop for stop in STOP.finditer(text, start, end) if stop.end() < end)
        cuts = [stop.end() for stop in stops if _ends_sentence(text, start, stop)]
        spans += pairwise([start, *cuts, end])
    return trimmed_spans(text, spans)


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
    """False when the stop after `word` belongs to the word."""
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
    """True for initials and similar abbreviations: J, U.S, a.m."""
    letters = word.split(".")
    return all(len(letter) == 1 and letter.isalpha() for letter in letters) and not (
        word.islower() and len(word) == 1
    )


def block_spans(text: str) -> list[Bounds]:
    """Half-open spans of the blocks, without gaps; blank lines belong to the block before them.

    >>> block_spans("wrapped\\nline\\n- item\\n")
    [(0, 13), (13, 20)]
    """
    lines = text.splitlines(keepends=True)
    starts = [0]
    position = 0
    previous = ""
    in_fence = False
    for line, width in zip(lines, _widths(lines), strict=True):
        is_fence = FENCE.match(line) is not None
        follows = in_fence or is_fence or BLANK.fullmatch(previous) or _parts(previous, line, width)
        if position and not line.isspace() and follows:
            starts.append(position)
        in_fence ^= is_fence
        previous = line
        position += len(line)
    return [(start, end) for start, end in pairwise([*starts, position]) if start < end]


def _widths(lines: list[str]) -> list[int]:
    """The length of the longest line of each line's paragraph; 0 for blank lines."""
    widths: list[int] = []
    for blank, paragraph in groupby(lines, key=str.isspace):
        lengths = [len(line.rstrip()) for line in paragraph]
        widths += [0 if blank else max(lengths)] * len(lengths)
    return widths


def _parts(previous: str, line: str, width: int) -> bool:
    """True when two lines of a paragraph of this width are in different blocks."""
    if OPENS.match(line) or COMPLETE.match(previous) or FENCE.match(previous):
        return True
    if ROW in line or ROW in previous:
        return True
    n_cells = len(CELL_END.findall(line))
    if n_cells > 1 and n_cells == len(CELL_END.findall(previous)):
        return True
    previous = previous.rstrip()
    first = line.lstrip()[:1]
    if len(previous) >= SHORT * width or not (first.isupper() or first.isdigit()):
        return False
    return LEADS_ON.search(previous[-12:]) is None


def trimmed_spans(text: str, spans: Iterable[Bounds]) -> list[Bounds]:
    """The spans without white space at their ends; blank ones are left out."""
    bounds = (trimmed(text, start, end) for start, end in spans)
    return [(start, end) for start, end in bounds if start < end]


def trimmed(text: str, start: int, end: int) -> Bounds:
    """The span without white space at its ends; `(start, start)` if it is blank.

    A space that carries a combining mark is kept.

    >>> trimmed("  a b ", 0, 6)
    (2, 5)
    """
    piece = text[start:end]
    words = piece.lstrip()
    if not words:
        return start, start
    first = start + len(piece) - len(words)
    if first > start and is_mark(text[first]) and unicodedata.category(text[first - 1]) == "Zs":
        first -= 1  # only a space carries a mark, a line end does not
    return first, first + len(text[first:end].rstrip())


def is_mark(character: str) -> bool:
    """True for characters drawn onto the one before, such as accents, vowel signs and variation selectors."""
    return character >= "\u0300" and unicodedata.category(character)[0] == "M"


def cut_before(text: str, start: int, cut: int) -> int:
    """The last offset in `(start, cut]` that does not part a character from its marks.

    Without one, the first such offset after `cut`, at most `MAX_MARKS` further on.

    >>> cut_before("abe\\u0301d", 0, 3)
    2
    """
    for place in chain(range(cut, start, -1), range(cut, cut + MAX_MARKS)):
        if not _is_inside(text, place):
            return place
    return cut + MAX_MARKS


def _is_inside(text: str, place: int) -> bool:
    """True when a cut here parts a character from its marks."""
    return 0 < place < len(text) and (
        is_mark(text[place]) or ZERO_WIDTH_JOINER in text[place - 1 : place + 1]
    )
