"""Where a text that is too long for one passage is cut.

`langchain-text-splitters` chooses the places; its offsets are not used. It is given a copy of the text, of
the same length, in which every place where a cut is welcome has become one of four characters: between
paragraphs, between sentences, at line ends, between words. Pieces that should stay whole (a table, a fence
of code) have none inside. The chunks of the copy put together are the copy again, so their lengths are
the offsets of the text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from itertools import accumulate, pairwise

from .trimming import cut_before, is_mark

# Python's str.split() takes all of them for white space, and they are none of the text's own: those
# are replaced by WORD first.
PARAGRAPH, SENTENCE, LINE, WORD, GLUE = "\x1d", "\x1e", "\n", " ", "\x1f"
OTHER_SPACE = re.compile(r"[^\S\n]")
ANY_SPACE = re.compile(r"\s")
MARKED_SPACE = re.compile(r"[^\S\n](?=[^\x00-\u02ff])")
WORD_WEIGHT = 8  # the weight of a word of up to eight characters
# A quarter of what a character costs in an encoder's tokens: four letters are about one token, and so are two
# digits, one other sign, or one letter of a script that vocabularies of English spell out. Digits weigh half
# more, for hexadecimal numbers. Of 32,361 passages of prose, code and tables 976 were longer than the window
# of the built-in encoder when words alone were counted, and 5 of 36,770 since.
LETTER, DIGIT, SIGN = 1, 3, 4
BEYOND_LATIN = re.compile(r"[\u0250-\U0010ffff]")
DIGITS = string.digits.encode()
NOT_SIGNS = (string.ascii_letters + string.digits + string.whitespace).encode()
NOT_LETTERS = (string.punctuation + string.digits + string.whitespace).encode()
RUNT = 5  # a piece below the fifth part of the budget is too small to stand alone
Span = tuple[int, int]


def weight(text: str) -> int:
    """The length of a text in eighths of a word, or in quarters of a token where it has more of those.

    Prose counts by its words; long words, code, figures and other scripts by the tokens that an encoder would
    make of them, so that what fits the budget in words also fits the encoder's window.

    >>> weight("three short words") / WORD_WEIGHT
    3.0
    """
    return max(WORD_WEIGHT * len(text.split()), _token_weight(text))


def _token_weight(text: str) -> int:
    ascii_only = text.encode("ascii", "ignore")
    n_other = 0 if len(ascii_only) == len(text) else len(BEYOND_LATIN.findall(text))
    n_latin = len(text) - len(ascii_only) - n_other
    n_digits = len(ascii_only) - len(ascii_only.translate(None, DIGITS))
    n_letters = n_latin + len(ascii_only.translate(None, NOT_LETTERS))
    n_signs = n_other + len(ascii_only.translate(None, NOT_SIGNS))
    return LETTER * n_letters + DIGIT * n_digits + SIGN * n_signs


def cut(text: str, sentences: Sequence[Span], whole: Sequence[Span], budget: int) -> list[Span]:
    """Spans that cover the text without gaps, up to `budget` in weight, or half more with a runt joined."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=[PARAGRAPH, SENTENCE, LINE, WORD],
        keep_separator="end",
        chunk_size=budget,
        chunk_overlap=0,
        # A piece without length, as white space would be, could get into two chunks.
        length_function=lambda piece: weight(piece) or len(piece),
        strip_whitespace=False,
    )
    copy = mark(text, sentences, whole)
    chunks = splitter.split_text(copy)
    if "".join(chunks) != copy:
        raise RuntimeError("langchain-text-splitters lost or changed characters: its chunks cannot be placed")
    ends = list(accumulate(map(len, chunks)))
    spans: list[Span] = []
    for start, end in pairwise([0, *ends]):
        spans += _bounded(text, start, end, budget)
    return join_small(spans, [weight(text[start:end]) for start, end in spans], budget)


def mark(text: str, sentences: Sequence[Span], whole: Sequence[Span]) -> str:
    """A copy of the text of the same length, with the places for cuts marked."""
    pieces: list[str] = []
    at = 0
    for start, end in sentences:
        gap = text[at:start]
        if gap:
            ending = PARAGRAPH if len(gap.splitlines()) > 2 or gap.count("\n") > 1 else SENTENCE
            pieces.append(WORD * (len(gap) - 1) + ending)
        elif pieces:  # no space between two sentences: the stop itself is the mark
            pieces[-1] = pieces[-1][:-1] + SENTENCE
        pieces.append(_plain(text[start:end]))
        at = end
    pieces.append(WORD * (len(text) - at))
    return _glued("".join(pieces), whole)


def _plain(sentence: str) -> str:
    """A sentence with its white space reduced to LINE and WORD; a space under an accent is a letter."""
    if not sentence.isascii():
        sentence = MARKED_SPACE.sub(lambda space: "x" if is_mark(sentence[space.end()]) else WORD, sentence)
    return OTHER_SPACE.sub(WORD, sentence)


def _glued(copy: str, whole: Sequence[Span]) -> str:
    """The copy without any mark inside the pieces that stay whole."""
    pieces: list[str] = []
    at = 0
    for start, end in whole:
        pieces += [copy[at:start], ANY_SPACE.sub(GLUE, copy[start:end])]
        at = end
    return "".join([*pieces, copy[at:]])


def _bounded(text: str, start: int, end: int, budget: int) -> list[Span]:
    """The span in pieces of the budget's weight, cut between characters: only a giant token needs it."""
    total = weight(text[start:end])
    if total <= budget + budget // 2:
        return [(start, end)]
    step = max(1, (end - start) * budget // total)
    spans = []
    while end - start > step:
        place = min(cut_before(text, start, start + step), end)
        spans.append((start, place))
        start = place
    return [*spans, (start, end)] if start < end else spans


def join_small(spans: Sequence[Span], weights: Sequence[int], budget: int) -> list[Span]:
    """Neighbours joined while they fit the budget together, or half more when one of them is a runt."""
    joined: list[tuple[Span, int]] = []
    for span, size in zip(spans, weights, strict=True):
        if joined:
            (start, _), last = joined[-1]
            runt = min(last, size) * RUNT < budget
            if last + size <= (budget + budget // 2 if runt else budget):
                joined[-1] = (start, span[1]), last + size
                continue
        joined.append((span, size))
    return [span for span, _ in joined]
