"""The span reader: takes questions and passages, returns scored spans in document offsets."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import TYPE_CHECKING, Any

from spanwise.types import Passage, ScoredSpan, Span

from ..models.batching import Batcher, PackedTokens
from ..models.cold_start import Scores
from ..models.numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from ..models.tokenizer import special_tokens
from .spans import (
    MAX_ANSWER_TOKENS,
    MAX_CONTEXT_TOKENS,
    MAX_LONG_TOKENS,
    MAX_QUESTION_TOKENS,
    Floats,
    Input,
    Pair,
    Ranges,
    Split,
    TokenBlocks,
    Tokens,
    TokenSpan,
    Window,
    WindowLogits,
    assemble,
    enclosing_sentences,
    lowest_null,
    mean_evidence,
    passage_mass,
    spans_of_windows,
    tokenize,
    windows,
)

if TYPE_CHECKING:
    from torch import nn

BATCH_TOKENS = 4096
SUPPORT, PASSAGE, YES_NO, YES, SEVERAL = range(len(EVIDENCE_OUTPUTS))


class SpanScores:
    """Computes the logits of tokens with a packed backbone and linear heads, in float32.

    A model of another architecture runs on padded batches, without evidence. `owns_model` as for `Backbone`.
    """

    def __init__(self, model: nn.Module, owns_model: bool = False) -> None:
        from torch import nn

        from ..models.packed_forward import Backbone, packable_part

        self.model = model
        part = packable_part(model)
        head = getattr(model, "qa_outputs", None)
        is_linear = isinstance(head, nn.Linear) and head.out_features == 2
        self.backbone = Backbone(part, owns_model) if part is not None and is_linear else None
        self._evidence_head: Any = getattr(model, EVIDENCE_HEAD, None) if self.backbone else None
        self.has_evidence = self._evidence_head is not None

    def __call__(self, tokens: PackedTokens) -> Floats:
        """(T, 2): the start and the end logit of each token; (T, 7) with the evidence of EVIDENCE_OUTPUTS."""
        import torch

        from ..models.packed_forward import padded_forward

        with torch.inference_mode():
            if self.backbone is None:
                logits = padded_forward(self.model, tokens, "start_logits", "end_logits")
            else:
                head: Any = self.model.qa_outputs
                states = self.backbone.states(tokens).float()
                heads = [head, self._evidence_head] if self.has_evidence else [head]
                logits = torch.cat([head(states) for head in heads], dim=-1)
            scores: Floats = logits.float().cpu().numpy()
        return scores


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model gives for one passage: the logits of each window of its tokens."""

    passage: Passage
    tokens: Tokens
    windows: Sequence[WindowLogits]

    @property
    def relevance(self) -> float:
        """The highest logit that the passage answers; NaN without one."""
        return max((window.relevance for window in self.windows), default=math.nan)


class SpanReader:
    """Reads with any question-answering transformer; see `reader.protocol.Reader`.

    answers_null: True for a model that points at [CLS] for "no answer"; otherwise null scores are NaN.
    split: gives the sentences of a text, for a model with evidence. The answers of such a model have up to
        MAX_LONG_TOKENS tokens.
    n_kept: the number of passages up to which their logits are kept for the next call.

    Batching changes results by at most 1e-5 in float32.
    """

    def __init__(
        self,
        scores: Scores,
        tokenizer: Any,
        digest: str,
        max_length: int = 384,
        stride: int = 128,
        split: Split = lambda text: (),
    ) -> None:
        self.scores = scores
        self.tokenizer = tokenizer
        self.digest = digest
        self.answers_null = True
        self.max_length = max_length
        self.stride = stride
        self.batcher = Batcher(BATCH_TOKENS)
        self.special = special_tokens(tokenizer)
        self.split = split
        self.n_kept = 0
        self._kept: dict[tuple[str, Passage], Reading] = {}
        self.max_answer_tokens = MAX_LONG_TOKENS if scores.has_evidence else MAX_ANSWER_TOKENS

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The n best spans for each passage of each question, best first; no two of them share a token."""
        return [
            [self.spans(reading, n_best) for reading in group] for group in self.readings(questions, passages)
        ]

    def readings(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]
    ) -> list[list[Reading]]:
        """The logits of each passage of each question."""
        if len(self._kept) > self.n_kept:
            self._kept = {}  # other threads may still use the old one
        known = self._kept
        groups = list(zip(questions, passages, strict=True))
        asked = {(question, passage): None for question, group in groups for passage in group}
        unread = [pair for pair in asked if pair not in known]
        inputs = self.inputs(list(starmap(pair_of, unread)))
        for pair, tokens, logits in zip(unread, inputs, self.logits(inputs), strict=True):
            known[pair] = Reading(pair[1], tokens.passage, logits)
        return [[known[question, passage] for passage in group] for question, group in groups]

    def sentence_scores(
        self, question: str, passages: Sequence[Passage], sentences: Sequence[Ranges]
    ) -> list[list[float]]:
        """A logit per sentence; above 0 its passage answers and the sentence supports the answer.

        `sentences` are ranges of `passage.text`. NaN for a span without tokens, and from a model without
        evidence.
        """
        [readings] = self.readings([question], [passages])
        scores = []
        for reading, spans in zip(readings, sentences, strict=True):
            means = [mean_evidence(reading.windows, reading.tokens.offsets, *span) for span in spans]
            scores.append(
                [math.nan if e is None else min(float(e[SUPPORT]), reading.relevance) for e in means]
            )
        return scores

    def inputs(self, pairs: Sequence[Pair]) -> list[Input]:
        """The tokens of each pair; equal texts are tokenized once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens = dict(zip(texts, tokenize(self.tokenizer, texts), strict=True))
        return [
            Input(
                cut(tokens[pair.question], MAX_QUESTION_TOKENS),
                cut(tokens[pair.context], MAX_CONTEXT_TOKENS),
                tokens[pair.text],
            )
            for pair in pairs
        ]

    def logits(self, pairs: Sequence[Input]) -> list[list[WindowLogits]]:
        """The logits of every window of every input, in order."""
        planned = [window for i, pair in enumerate(pairs) for window in self._windows(i, pair)]
        lengths = [w.last - w.first + self.overhead(pairs[w.pair]) for w in planned]
        batches = self.batcher.run(
            lengths,
            lambda batch: self._forward(pairs, [planned[i] for i in batch]),
            lambda i: f"passage {planned[i].pair}",
        )
        logits = {i: result for batch, results in batches for i, result in zip(batch, results, strict=True)}
        by_pair: list[list[WindowLogits]] = [[] for _ in pairs]
        for i in range(len(planned)):
            by_pair[planned[i].pair].append(logits[i])
        return by_pair

    def overhead(self, pair: Input) -> int:
        """The number of tokens beside the passage."""
        return len(pair.question.ids) + len(pair.context.ids) + self.special.count

    def _windows(self, number: int, pair: Input) -> list[Window]:
        return windows(number, 0, len(pair.passage.ids), self.overhead(pair), self.max_length, self.stride)

    def _forward(self, pairs: Sequence[Input], batch: Sequence[Window]) -> list[WindowLogits]:
        rows = []
        for window in batch:
            pair = pairs[window.pair]
            rows.append((pair.question.ids, pair.context.ids, pair.passage.ids[window.first : window.last]))
        inputs = assemble(rows, self.special, multiple=1)
        tokens = PackedTokens.of_padded(inputs.input_ids, inputs.attention_mask, inputs.token_type_ids)
        scores = self.scores(tokens)  # (T, 2) or (T, 7)
        logits = []
        for window, first, shift in zip(batch, tokens.starts(), inputs.shift, strict=True):
            null = scores[first + self.special.null].tolist()
            of_passage = scores[first + shift :][: window.last - window.first]
            has_evidence = scores.shape[1] > 2
            logits.append(
                WindowLogits(
                    window,
                    start=of_passage[:, 0],
                    end=of_passage[:, 1],
                    null=(null[0], null[1]),
                    evidence=of_passage[:, 2:] if has_evidence else None,
                    relevance=null[2 + PASSAGE] if has_evidence else math.nan,
                )
            )
        return logits

    def spans(self, reading: Reading, n_best: int) -> list[ScoredSpan]:
        """The n best spans of a passage, best first; no two of them share a token."""
        passage = reading.passage
        text = reading.tokens
        logits = reading.windows
        null = sum(lowest_null(logits)) if self.answers_null else math.nan
        sentences = self.split(passage.readable) if self.scores.has_evidence else ()
        mass = passage_mass(logits, len(text.ids)) if logits and self.answers_null else None
        scored_spans = []
        blocks = TokenBlocks.of(passage.readable, text.offsets)
        for token_span in spans_of_windows(logits, n_best, self.max_answer_tokens, blocks):
            span = character_span(passage, text, token_span)
            if not span.text:
                continue
            around = enclosing_sentences(sentences, span.start - passage.start, span.end - passage.start)
            evidence = mean_evidence(logits, text.offsets, *around)
            scored = ScoredSpan(span, passage, token_span.score, null, mass=mass)
            if evidence is not None:
                scored = with_evidence(scored, reading.relevance, evidence)
            scored_spans.append(scored)
        return scored_spans


def with_evidence(scored: ScoredSpan, relevance: float, evidence: Floats) -> ScoredSpan:
    """The span with the relevance of its passage and the mean evidence (5,) of its sentences."""
    is_yes_no = evidence[YES_NO] > 0
    is_list_question = bool(evidence[SEVERAL] > 0)
    return replace(
        scored,
        relevance=relevance,
        support=float(evidence[SUPPORT]),
        yes=float(evidence[YES]) if is_yes_no else math.nan,
        is_list_question=is_list_question,
    )


def context_of(passage: Passage) -> str:
    """The headings above a passage, top first, as the model reads them before the passage."""
    return "".join(f"{heading}. " for heading in passage.heading)


def pair_of(question: str, passage: Passage) -> Pair:
    """The texts that the model reads for a question and a passage."""
    return Pair(question, context_of(passage), passage.readable)


def cut(tokens: Tokens, most: int) -> Tokens:
    """The first `most` tokens."""
    return Tokens(tokens.ids[:most], tokens.offsets[:most])


def character_span(passage: Passage, text: Tokens, span: TokenSpan) -> Span:
    """The span of the document for a token span, with the combining marks after its last letter.

    White space around it is left out: some tokenizers count it as part of the next word.
    """
    start = int(text.offsets[span.first, 0])
    end = int(text.offsets[span.last, 1])
    start, end = without_white_space(passage.text, start, end)
    while end < len(passage.text) and unicodedata.combining(passage.text[end]):
        end += 1
    return passage.span(start, end)


def without_white_space(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without white space at its ends.

    >>> without_white_space("a mill .", 1, 7), without_white_space("a  b", 1, 3)
    ((2, 6), (3, 3))
    """
    quote = text[start:end]
    start += len(quote) - len(quote.lstrip())
    return start, start + len(quote.strip())
