"""Input windows of question and passage; the best spans of a passage and their evidence from token logits.

    [CLS] question [SEP] context, window of the passage [SEP]

The context is the headings above a passage, which are never part of an answer. A passage that is longer than
the input is read in windows that overlap by a stride.

    score(i, j) = S.T_i + E.T_j   over all passage tokens i <= j with j - i + 1 <= max_tokens

Source: Devlin et al. 2019, section 4.2, and their SQuAD set-up; the limit on the length is from the authors'
SQuAD code.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanwise.types import PassageMass

from ..models.tokenizer import SpecialTokens

MAX_ANSWER_TOKENS = 30
MAX_LONG_TOKENS = 160  # of an answer, for a model with an evidence head
MAX_QUESTION_TOKENS = 64
MAX_CONTEXT_TOKENS = 48
MAX_ROUNDS = 8  # of growth over nested pairs

# An address, a phone number, a number with spaces, or a word with the signs inside it, in scripts that write
# spaces between words. A suffix after a name or a number, as in "28-yard", is left out.
TOKEN = re.compile(
    (
        r"[A-Za-z][A-Za-z\d+.-]{1,20}://[^\s<>\"`]+(?<![.,;:!?)\]'*_])"
        r"|\+\d[\d ().-]{5,20}\d|(?<!\d)\d{1,3}(?:[ \xa0\u2009\u202f]\d{3})+(?!\d)"
        r"|(?<![\d.])\d{3,5}(?: \d{2,5})+(?!\.?\d)"
        r"|(?:(?<!\w)(?:--|[$€£¥#@~/−-]))?(?:[a-z]LETTER*(?:[-‑][a-z]LETTER*)*|LETTER+)"
        r"(?:(?:[-‑](?![a-z]+\b)|[@/\\.&+_°\u0300-\u036f]|['’](?!s\b)|(?<=\d)[,:](?=\d)|(?<=\d),\n(?=\d{3}(?!\d))|::){1,2}"
        r"(?:[a-z]LETTER*(?:[-‑][a-z]LETTER*)*|LETTER+))*(?:[%‰°#]|\+\+)?"
    ).replace("LETTER", r"[^\W_\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
)
CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^\n]{1,300}?)(?<!`)(\1)(?!`)")
# An opening mark, what is between, a closing mark. Brackets may be nested once.
PAIRS = (
    CODE,
    re.compile(r"(?=(!?\[)((?:[^][]|\[[^][]{0,99}\]){0,300})(\]\([^()\s]{0,500}\)))"),  # a link
    re.compile(r"(?=([(\[{])((?:[^()[\]{}]|[(\[{][^()[\]{}]{0,99}[)\]}]){0,300})([)\]}]))"),
    re.compile(r"(<)([^<>\s]{1,300})(>)"),
    re.compile(
        r"(?<![*\w])(\*\*?|__?)(?=[^\s*_])((?:[^*_\n]|(?<=\w)_(?=[^\W_])){1,300})(?<!\s)(\1)(?![*\w])"
    ),
    re.compile(r"(?<!\w)([\"“„«])(?=\S)([^\"“”„«»]{1,300})([\"”“»])(?!\w)"),
    re.compile(r"(?<!\w)(['‘])(?=\w)((?:[^'‘’]|(?<=\w)['’](?=\w)){1,300})(['’])(?!\w)"),
)

# The end of a block: a line break before an empty line, a list item, a heading, a row of a table or an entry.
# An entry of a chat, a log or a record begins with a date, a time, or a key before its value. A block begins
# after the sign of its list item.
BLOCK_END = re.compile(
    r"\n(?=[ \t]*(?:\n|[-*+•] |\d{1,3}[.)] |#|\||(?P<entry>\[?(?:\d{1,4}(?:[-/.]\d{1,4}){2}|\d\d?:\d\d)\b"
    r"|\w[\w.-]{0,30}=\S|[\"']?\w[\w.-]{0,30}(?: [\w.-]{1,30}){0,2}[\"']?[ \t]*[:=](?:\s|$))))"
)
ITEM_SIGN = re.compile(r"[\s#>|*+•-]*(?:\d{1,3}[.)] )?")

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Logits = NDArray[np.floating[Any]]
Ranges = Sequence[tuple[int, int]]
"""Half-open ranges of characters, such as sentences."""
Split = Callable[[str], Ranges]
"""Gives the start and end of each sentence of a text."""


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens first..last, both included, and the sum of their start and end scores."""

    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class Window:
    """One model input: tokens [first, last) of a passage after a question.

    `pair` is the index of the (question, passage) pair that it belongs to.
    """

    pair: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class WindowLogits:
    """The logits of one window of n tokens.

    start, end: (n,) float32.
    null: the start and the end logit of "no answer".
    evidence: (n, 5) float32, in the order of EVIDENCE_OUTPUTS; None for a model without evidence.
    relevance: the logit that the passage answers; NaN for a model without evidence.
    """

    window: Window
    start: Floats
    end: Floats
    null: tuple[float, float]
    evidence: Floats | None = None
    relevance: float = math.nan

    @property
    def null_score(self) -> float:
        """The score of "no answer", comparable with the score of a span."""
        return sum(self.null)


@dataclass(frozen=True, slots=True)
class TokenBlocks:
    """The blocks of a passage, such as paragraphs, list items and entries, by token.

    number: (n,) int, of the block that holds a token.
    entry: (n,) int, the number of blocks so far that are entries.
    begins: (n,) bool, no word of the block is before the token.
    finishes: (n,) bool, none is after it.
    """

    number: Ints
    entry: Ints
    begins: NDArray[np.bool_]
    finishes: NDArray[np.bool_]

    @classmethod
    def of(cls, text: str, offsets: Ints) -> "TokenBlocks":
        """The blocks of a passage with these offsets of its tokens, (n, 2)."""
        starts, firsts, lasts, are_entries = np.array(_blocks(text), np.int32).T
        number = (np.searchsorted(starts, offsets[:, 0], side="right") - 1).astype(np.int32)
        entry = np.cumsum(are_entries, dtype=np.int32)[number]
        return cls(number, entry, offsets[:, 0] <= firsts[number], offsets[:, 1] >= lasts[number])

    def part(self, first: int, last: int) -> "TokenBlocks":
        """Those of the tokens from `first` to before `last`."""
        tokens = slice(first, last)
        return TokenBlocks(
            self.number[tokens], self.entry[tokens], self.begins[tokens], self.finishes[tokens]
        )

    def allow(self, first: Ints, last: Ints) -> NDArray[np.bool_]:
        """True for spans inside a block, and for those of whole blocks without the start of another entry."""
        is_whole: NDArray[np.bool_] = self.begins[first] & self.finishes[last]
        is_inside: NDArray[np.bool_] = self.number[first] == self.number[last]
        in_one_entry: NDArray[np.bool_] = self.entry[first] == self.entry[last]
        return is_inside | (is_whole & in_one_entry)


@lru_cache(512)
def _blocks(text: str) -> list[tuple[int, int, int, bool]]:
    """Each block: its start, the start of its first word, the end of its last one, and if it is an entry."""
    ends = [*BLOCK_END.finditer(text)]
    starts = [0, *(match.end() for match in ends)]
    are_entries = [False, *(match["entry"] is not None for match in ends)]
    blocks = []
    for start, end, is_entry in zip(starts, [*starts[1:], len(text)], are_entries, strict=True):
        sign = ITEM_SIGN.match(text, start, end)
        words = [word.end() for word in re.finditer(r"\w+", text[start:end])]
        blocks.append((start, sign.end() if sign else start, start + max(words, default=0), is_entry))
    return blocks


def distinct_spans(
    start: Logits,
    end: Logits,
    n_best: int,
    max_tokens: int = MAX_ANSWER_TOKENS,
    blocks: TokenBlocks | None = None,
) -> list[TokenSpan]:
    """At most `n_best` spans, best first; each is the best one that shares no token with those before it.

    With `blocks` none ends in the middle of another block than it begins in.

    >>> [(s.first, s.last) for s in distinct_spans(np.array([1, 5, 2, 0.]), np.array([4, 1, 3, 2.]), 3)]
    [(1, 2), (0, 0), (3, 3)]
    """
    scores = span_scores(start, end, max_tokens)  # (n, cap)
    begins = np.arange(len(scores))[:, None]
    ends = begins + np.arange(scores.shape[1])[None, :]
    if blocks is not None and scores.size:
        last = np.minimum(ends, len(scores) - 1)
        scores[~blocks.allow(np.broadcast_to(begins, last.shape), last)] = -np.inf
    spans: list[TokenSpan] = []
    while len(spans) < n_best and scores.size:
        first, length = np.unravel_index(int(scores.argmax()), scores.shape)
        if scores[first, length] == -np.inf:
            break
        last = int(first + length)
        spans.append(TokenSpan(int(first), last, float(scores[first, length])))
        scores[(begins <= last) & (ends >= first)] = -np.inf  # every span that shares a token with it
    return spans


def span_scores(start: Logits, end: Logits, max_tokens: int) -> NDArray[np.float64]:
    """(n, cap) float64: [i, d] is the score of the span of d + 1 tokens from token i; -inf past the end."""
    n = len(start)
    cap = min(max_tokens, n)
    last = np.arange(n)[:, None] + np.arange(cap)[None, :]  # (n, cap)
    ends = np.append(np.asarray(end, dtype=np.float64), -np.inf)[np.minimum(last, n)]
    scores: NDArray[np.float64] = np.asarray(start, dtype=np.float64)[:, None] + ends
    return scores


def spans_of_windows(
    windows: Sequence[WindowLogits], n_best: int, max_tokens: int, blocks: TokenBlocks | None = None
) -> list[TokenSpan]:
    """The n best spans of a passage in all its windows, best first; no two of them share a token."""
    proposed = []
    for logits in windows:
        shift = logits.window.first
        part = blocks.part(shift, logits.window.last) if blocks else None
        for span in distinct_spans(logits.start, logits.end, n_best, max_tokens, part):
            proposed.append(TokenSpan(span.first + shift, span.last + shift, span.score))
    proposed.sort(key=lambda span: (-span.score, span.first, span.last))
    best: list[TokenSpan] = []
    for span in proposed:
        if len(best) < n_best and all(span.last < other.first or other.last < span.first for other in best):
            best.append(span)
    return best


def passage_mass(windows: Sequence[WindowLogits], n_tokens: int) -> PassageMass:
    """The log-sum-exp of a passage's start and end logits, and its logits of "no answer".

    In overlaps the higher logit counts. The logits of "no answer" come from the window with the lowest null
    score.
    """
    start, end = merged_logits(windows, n_tokens)
    return PassageMass(log_sum_exp(start), log_sum_exp(end), *lowest_null(windows))


def lowest_null(windows: Iterable[WindowLogits]) -> tuple[float, float]:
    """The logits of "no answer" of the window with the lowest null score; NaN without a window."""
    return min((window.null for window in windows), key=sum, default=(math.nan, math.nan))


def merged_logits(windows: Sequence[WindowLogits], n_tokens: int) -> tuple[Floats, Floats]:
    """Start and end logits of all tokens of a passage, (n_tokens,) each; the higher ones in overlaps."""
    start = np.full(n_tokens, -np.inf, dtype=np.float32)
    end = np.full(n_tokens, -np.inf, dtype=np.float32)
    for logits in windows:
        tokens = slice(logits.window.first, logits.window.last)
        start[tokens] = np.maximum(start[tokens], logits.start)
        end[tokens] = np.maximum(end[tokens], logits.end)
    return start, end


def log_sum_exp(values: Logits | Sequence[float]) -> float:
    """ln of the sum of the exponentials.

    >>> round(log_sum_exp([1000.0, 1000.0]), 4)
    1000.6931
    """
    array = np.asarray(values, dtype=np.float64)
    highest = array.max()
    return float(highest + np.log(np.exp(array - highest).sum()))


def log_normalizer(masses: Sequence[PassageMass]) -> float:
    """The number that, subtracted from the score of a span, gives ln P(first) + ln P(last).

    The softmax runs over the tokens of all these passages and one "none". The logit of "none" is the mean
    over the passages, as in `losses.shared_normalization_loss`.

    >>> round(2.0 - log_normalizer([PassageMass(1.0, 1.0, 0.0, 0.0)]), 4)
    -0.6265
    """
    none_start = fmean(mass.null_start for mass in masses)
    none_end = fmean(mass.null_end for mass in masses)
    starts = log_sum_exp([none_start, *(mass.start for mass in masses)])
    ends = log_sum_exp([none_end, *(mass.end for mass in masses)])
    return starts + ends


def enclosing_sentences(sentences: Ranges, start: int, end: int) -> tuple[int, int]:
    """The half-open range of the sentences that [start, end) touches; the span itself if there are none.

    >>> enclosing_sentences([(0, 10), (11, 20)], 12, 14)
    (11, 20)
    """
    touched = [s for s in sentences if s[0] < end and s[1] > start]
    if not touched:
        return start, end
    return min(start, touched[0][0]), max(end, touched[-1][1])


def enclosing_blocks(text: str, start: int, end: int) -> tuple[int, int]:
    """The half-open range of the blocks of a text that [start, end) touches, without blanks around it.

    >>> enclosing_blocks("port: 9191\\n  open: yes\\n", 19, 22)
    (13, 22)
    """
    starts = [block[0] for block in _blocks(text)]
    first = max(begin for begin in starts if begin <= start)
    last = min((begin for begin in starts if begin >= end), default=len(text))
    words = text[first:last]
    return first + len(words) - len(words.lstrip()), first + len(words.rstrip())


def whole_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span, grown where it begins or ends inside a word, a number, an address or code.

    Of a pair of quotes, brackets or other marks it holds both or none: a mark at the edge of the span is left
    out, and one inside takes its partner in.

    >>> whole_span("The password is `quayside-guest`.", 25, 32)
    (17, 31)
    """
    units, pairs = _units(text)
    for _ in range(MAX_ROUNDS):
        before = (start, end)
        for first, after in units:
            if first < start < after or first < end < after:
                start = min(start, first)
                end = max(end, after)
        for first, inner, outer, last in pairs:
            if first <= start < inner < end <= outer:
                start = inner
            elif inner <= start < outer < end <= last:
                end = outer
            elif (start < inner and first < end) or (start < last and outer < end):
                start = min(start, first)
                end = max(end, last)
        if before == (start, end):
            break
    return start, end


@lru_cache(512)
def _units(text: str) -> tuple[Ranges, Sequence[tuple[int, ...]]]:
    """The ranges of words and code, and the start and end of both marks of each pair."""
    units = [word.span() for word in TOKEN.finditer(text)] + [code.span(2) for code in CODE.finditer(text)]
    return units, [(*pair.span(1), *pair.span(3)) for marks in PAIRS for pair in marks.finditer(text)]


def mean_evidence(windows: Sequence[WindowLogits], offsets: Ints, start: int, end: int) -> Floats | None:
    """(5,): the mean evidence of the tokens between two characters of a passage.

    `offsets` are the (n, 2) characters of the passage's tokens. The mean is taken in the window with most of
    these tokens, on a tie in the first one. None if no window has such a token, and for a model without
    evidence.
    """
    first, after = np.searchsorted(offsets[:, 0], (start, end)).tolist()
    most = 0
    evidence = None
    for logits in windows:
        shift = logits.window.first
        low = max(first, shift)
        high = min(after, logits.window.last)
        if logits.evidence is not None and high - low > most:
            most = high - low
            evidence = logits.evidence[low - shift : high - shift].mean(axis=0)
    return evidence


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text.

    ids: (n,) int32.
    offsets: (n, 2) int32, the [start, end) code points of each token.
    """

    ids: Ints
    offsets: Ints


@dataclass(frozen=True, slots=True)
class Input:
    """The tokens of a question, of the headings above a passage, and of the passage."""

    question: Tokens
    context: Tokens
    passage: Tokens


class Pair(NamedTuple):
    """The texts of an Input: a question, the headings above a passage, and the passage."""

    question: str
    context: str
    text: str


def tokenize(tokenizer: Any, texts: Sequence[str]) -> list[Tokens]:
    """The tokens of each text, without special tokens and without a limit on the length."""
    if not texts:
        return []
    encodings = tokenizer(
        list(texts), add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
    )
    return [
        Tokens(np.asarray(ids, dtype=np.int32), np.asarray(offsets, dtype=np.int32).reshape(-1, 2))
        for ids, offsets in zip(encodings["input_ids"], encodings["offset_mapping"], strict=True)
    ]


def windows(
    pair: int, n_question: int, n_passage: int, n_special: int, max_length: int, stride: int
) -> list[Window]:
    """The windows that cover a passage; neighbours share at least `stride` tokens.

    The last window starts early enough to be full. `n_question` is the number of tokens before the passage,
    `n_special` that of special tokens.

    >>> [(w.first, w.last) for w in windows(0, 4, 20, 3, max_length=17, stride=4)]
    [(0, 10), (6, 16), (10, 20)]
    """
    room = max_length - n_question - n_special
    if room <= stride:
        raise ValueError(
            f"max_length {max_length} leaves {room} tokens for the passage, expected more than {stride}"
        )
    if n_passage <= room:
        return [Window(pair, 0, n_passage)] if n_passage else []
    firsts = [*range(0, n_passage - room, room - stride), n_passage - room]
    return [Window(pair, first, first + room) for first in firsts]


@dataclass(frozen=True, slots=True)
class ModelInput:
    """A padded batch of B rows.

    input_ids, attention_mask, token_type_ids: (B, L) int64.
    passage_mask: (B, L) bool, True for the tokens of the passage.
    shift: (B,) int64, the position of the first token of the passage.
    """

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    passage_mask: NDArray[np.bool_]
    shift: NDArray[np.int64]


Row = tuple[Ints, Ints, Ints]
"""The ids of a question, of the context and of a window of the passage."""


def assemble(rows: Sequence[Row], special: SpecialTokens, multiple: int = 8) -> ModelInput:
    """The batch for rows of ids, padded to a multiple of `multiple`."""
    lengths = [sum(map(len, row)) + special.count for row in rows]
    width = -(-max(lengths) // multiple) * multiple
    shape = (len(rows), width)
    ids = np.full(shape, special.pad, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    types = np.zeros(shape, dtype=np.int64)
    is_passage = np.zeros(shape, dtype=np.bool_)
    shift = np.zeros(len(rows), dtype=np.int64)
    for row, (question, context, window) in enumerate(rows):
        line = np.concatenate([special.before, question, special.between, context, window, special.after])
        segment = len(special.before) + len(question) + len(special.between)
        first = segment + len(context)
        ids[row, : len(line)] = line
        mask[row, : len(line)] = 1
        types[row, segment : len(line)] = special.segment
        is_passage[row, first : first + len(window)] = True
        shift[row] = first
    return ModelInput(ids, mask, types, is_passage, shift)
