"""Input windows of question and passage; spans of a passage and what speaks for them, from token logits.

    [CLS] question [SEP] context, window of the passage [SEP]

The context is the headings above a passage: it is read and never part of an answer. A passage that is longer
than the input is read in windows that overlap by a stride, so that every token is read.

    score(i, j) = S.T_i + E.T_j   over all passage tokens i <= j with j - i + 1 <= max_tokens

Source: Devlin et al. 2019, section 4.2, and their SQuAD set-up; the limit on the length is that of the
authors' SQuAD code. A passage that is read in several windows has the logits of each (`WindowLogits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanwise.types import PassageMass

from ..models.tokenizer import SpecialTokens

MAX_ANSWER_TOKENS = 30
MAX_LONG_TOKENS = 160  # of the answers of a model that learnt how long an answer is
MAX_QUESTION_TOKENS = 64
MAX_CONTEXT_TOKENS = 48


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
    """The logits of one window: start and end of its tokens (n,), and of "no answer".

    `evidence` are the further logits of the tokens, (n, 5) in the order of EVIDENCE_OUTPUTS, and `relevance`
    is that of the passage; None and NaN for a model without them.
    """

    window: Window
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    null_start: float
    null_end: float
    evidence: NDArray[np.float32] | None = None
    relevance: float = float("nan")

    @property
    def null_score(self) -> float:
        """The score of no answer, comparable with that of a span."""
        return self.null_start + self.null_end


def distinct_spans(
    start: NDArray[np.floating], end: NDArray[np.floating], n_best: int, max_tokens: int = MAX_ANSWER_TOKENS
) -> list[TokenSpan]:
    """The best span, then the best that shares no token with it, and so on: at most `n_best`, best first.

    >>> [(s.first, s.last) for s in distinct_spans(np.array([1, 5, 2, 0.]), np.array([4, 1, 3, 2.]), 3)]
    [(1, 2), (0, 0), (3, 3)]
    """
    scores = span_scores(start, end, max_tokens)  # (n, cap)
    begins = np.arange(len(scores))[:, None]
    ends = begins + np.arange(scores.shape[1])[None, :]
    found: list[TokenSpan] = []
    while len(found) < n_best and scores.size:
        first, length = np.unravel_index(int(scores.argmax()), scores.shape)
        if scores[first, length] == -np.inf:
            break
        last = int(first + length)
        found.append(TokenSpan(int(first), last, float(scores[first, length])))
        scores[(begins <= last) & (ends >= first)] = -np.inf  # every span that shares a token with it
    return found


def span_scores(
    start: NDArray[np.floating], end: NDArray[np.floating], max_tokens: int = MAX_ANSWER_TOKENS
) -> NDArray[np.float64]:
    """(n, cap) float64: the score of the span from i of length d + 1 at [i, d]; -inf past the end."""
    n = len(start)
    cap = min(max_tokens, n)
    last = np.arange(n)[:, None] + np.arange(cap)[None, :]  # (n, cap)
    ends = np.append(np.asarray(end, dtype=np.float64), -np.inf)[np.minimum(last, n)]
    scores: NDArray[np.float64] = np.asarray(start, dtype=np.float64)[:, None] + ends
    return scores


def spans_of_windows(
    windows: Sequence[WindowLogits], n_best: int, max_tokens: int = MAX_ANSWER_TOKENS
) -> list[TokenSpan]:
    """The n best spans of a passage, best first, none sharing a token, though windows overlap."""
    proposed = [
        TokenSpan(span.first + one.window.first, span.last + one.window.first, span.score)
        for one in windows
        for span in distinct_spans(one.start, one.end, n_best, max_tokens)
    ]
    proposed.sort(key=lambda s: (-s.score, s.first, s.last))
    kept: list[TokenSpan] = []
    for span in proposed:
        if len(kept) < n_best and all(span.last < k.first or k.last < span.first for k in kept):
            kept.append(span)
    return kept


def passage_mass(windows: Sequence[WindowLogits], n_tokens: int) -> PassageMass:
    """The mass of a passage of `n_tokens` from all its windows, of which the higher logit of a token counts.

    No answer is that of the window with the lowest null score.
    """
    start, end = merged_logits(windows, n_tokens)
    nulls = [(window.null_start, window.null_end) for window in windows]
    return PassageMass(log_sum_exp(start), log_sum_exp(end), *min(nulls, key=sum))


def merged_logits(
    windows: Sequence[WindowLogits], n_tokens: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Start and end logits of all tokens of a passage, (n_tokens,) each; in overlaps the higher one."""
    start = np.full(n_tokens, -np.inf, dtype=np.float32)
    end = np.full(n_tokens, -np.inf, dtype=np.float32)
    for window in windows:
        here = slice(window.window.first, window.window.last)
        start[here] = np.maximum(start[here], window.start)
        end[here] = np.maximum(end[here], window.end)
    return start, end


def log_sum_exp(values: NDArray[np.floating] | Sequence[float]) -> float:
    """ln of the sum of the exponentials.

    >>> round(log_sum_exp([1000.0, 1000.0]), 4)
    1000.6931
    """
    array = np.asarray(values, dtype=np.float64)
    highest = array.max()
    return float(highest + np.log(np.exp(array - highest).sum()))


def log_normalizer(masses: Sequence[PassageMass]) -> float:
    """What the score of a span loses to become ln P(first) + ln P(last).

    The softmax runs over the tokens of all these passages and one "none", whose logit is the mean of those of
    the passages, as in `losses.shared_normalization_loss`.

    >>> round(2.0 - log_normalizer([PassageMass(1.0, 1.0, 0.0, 0.0)]), 4)
    -0.6265
    """
    none_start = fmean(mass.null_start for mass in masses)
    none_end = fmean(mass.null_end for mass in masses)
    starts = log_sum_exp([none_start, *(mass.start for mass in masses)])
    ends = log_sum_exp([none_end, *(mass.end for mass in masses)])
    return starts + ends


def enclosing_sentences(sentences: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """The half-open range of the sentences that [start, end) touches; the span itself where there are none.

    >>> enclosing_sentences([(0, 10), (11, 20)], 12, 14)
    (11, 20)
    """
    touched = [s for s in sentences if s[0] < end and s[1] > start]
    if not touched:
        return start, end
    return min(start, touched[0][0]), max(end, touched[-1][1])


def mean_evidence(
    windows: Sequence[WindowLogits], offsets: NDArray[np.int32], start: int, end: int
) -> NDArray[np.float32] | None:
    """(5,): the mean of the evidence of the tokens between two characters of a passage.

    `offsets` are the (n, 2) characters of the passage's tokens. Of several windows the one counts that holds
    most of these tokens, the first on a tie. None without such a token, and for a model without evidence.
    """
    first, after = (int(np.searchsorted(offsets[:, 0], edge)) for edge in (start, end))
    best, found = 0, None
    for one in windows:
        low, high = max(first, one.window.first), min(after, one.window.last)
        if one.evidence is not None and high - low > best:
            here = slice(low - one.window.first, high - one.window.first)
            best, found = high - low, one.evidence[here].mean(axis=0)
    return found


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's token ids (n,) int32 and the [start, end) code points of each (n, 2) int32."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


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
    """The windows that cover a passage; neighbours share `stride` tokens, the last one is full.

    `n_question` and `n_special` are the tokens of question and context and the special ones.

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
    """A padded batch: int64 arrays (B, L), and where each passage window begins in its row (B,)."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    passage_mask: NDArray[np.bool_]
    shift: NDArray[np.int64]


Row = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""The ids of a question, of the context and of a window of the passage."""
NO_CONTEXT = np.zeros(0, dtype=np.int32)


def assemble(rows: Sequence[Row], special: SpecialTokens, multiple: int = 8) -> ModelInput:
    """The batch for rows of ids, padded to a multiple of `multiple`."""
    lengths = [sum(map(len, row)) + special.count for row in rows]
    width = -(-max(lengths) // multiple) * multiple
    shape = (len(rows), width)
    ids = np.full(shape, special.pad, dtype=np.int64)
    mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    passage = np.zeros(shape, dtype=np.bool_)
    shift = np.zeros(len(rows), dtype=np.int64)
    for row, (question, context, window) in enumerate(rows):
        second = len(special.before) + len(question) + len(special.between)
        at = second + len(context)
        line = np.concatenate([special.before, question, special.between, context, window, special.after])
        ids[row, : len(line)], mask[row, : len(line)], shift[row] = line, 1, at
        passage[row, at : at + len(window)] = True
        types[row, second : len(line)] = special.segment
    return ModelInput(ids, mask, types, passage, shift)
