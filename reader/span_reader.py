"""The span reader: passages and questions in, scored spans in document offsets out."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    Input,
    Pair,
    Tokens,
    TokenSpan,
    Window,
    WindowLogits,
    assemble,
    enclosing_sentences,
    mean_evidence,
    passage_mass,
    spans_of_windows,
    tokenize,
    windows,
)

if TYPE_CHECKING:
    from torch import nn

SUPPORT, PASSAGE, YES_NO, YES, SEVERAL = range(len(EVIDENCE_OUTPUTS))


class SpanScores:
    """The logits of tokens: a backbone and vectors over its states, in float32.

    A model that is not built of a packable backbone and such a head computes its logits itself, and gives no
    evidence.
    """

    def __init__(self, model: nn.Module) -> None:
        from torch import nn

        from ..models.packed_forward import Backbone, packable_part

        self.model = model
        part, head = packable_part(model), getattr(model, "qa_outputs", None)
        is_linear = isinstance(head, nn.Linear) and head.out_features == 2
        self.backbone = Backbone(part) if part is not None and is_linear else None
        self._evidence_head: Any = getattr(model, EVIDENCE_HEAD, None) if self.backbone else None
        self.has_evidence = self._evidence_head is not None

    def __call__(self, tokens: PackedTokens) -> NDArray[np.float32]:
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
            scores: NDArray[np.float32] = logits.float().cpu().numpy()
        return scores


class SpanReader:
    """Reads with any question-answering transformer; see `reader.protocol.Reader`.

    `answers_null` says whether the model was trained to point at [CLS] for "no answer"; if not, null
    scores are NaN. `split` gives the sentences of a text, for a model that gives evidence: then answers have
    up to MAX_LONG_TOKENS tokens. Batching changes results by at most 1e-5 in float32.
    """

    def __init__(
        self,
        scores: Scores,
        tokenizer: Any,
        digest: str,
        answers_null: bool = True,
        max_length: int = 384,
        stride: int = 128,
        batch_tokens: int = 4096,
        max_answer_tokens: int | None = None,
        split: Callable[[str], Sequence[tuple[int, int]]] = lambda text: (),
    ) -> None:
        self.scores, self.tokenizer, self.digest, self.answers_null = scores, tokenizer, digest, answers_null
        self.max_length, self.stride, self.batcher = max_length, stride, Batcher(batch_tokens)
        self.special, self.split = special_tokens(tokenizer), split
        longest = MAX_LONG_TOKENS if scores.has_evidence else MAX_ANSWER_TOKENS
        self.max_answer_tokens = max_answer_tokens or longest

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """For each question and each of its passages the n best spans, best first, none sharing a token."""
        flat = [(q, passage) for q, group in enumerate(passages) for passage in group]
        inputs = self.inputs([pair_of(questions[q], passage) for q, passage in flat])
        found: list[list[list[ScoredSpan]]] = [[] for _ in questions]
        for (q, passage), pair, logits in zip(flat, inputs, self.logits(inputs), strict=True):
            found[q].append(self._spans(passage, pair.passage, logits, n_best))
        return found

    def sentence_scores(
        self, question: str, passages: Sequence[Passage], sentences: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """A logit for each sentence of each passage: above 0 it supports an answer that its passage gives.

        `sentences` are spans in `passage.text`. NaN from a model without evidence, and for a span without
        tokens.
        """
        inputs = self.inputs([pair_of(question, passage) for passage in passages])
        scored = []
        for pair, logits, spans in zip(inputs, self.logits(inputs), sentences, strict=True):
            found = [mean_evidence(logits, pair.passage.offsets, start, end) for start, end in spans]
            relevance = max((one.relevance for one in logits), default=math.nan)
            scored.append([math.nan if one is None else min(float(one[SUPPORT]), relevance) for one in found])
        return scored

    def inputs(self, pairs: Sequence[Pair]) -> list[Input]:
        """The tokens of each pair; a text that several have is tokenized once."""
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
        lengths = [w.last - w.first + self._overhead(pairs[w.pair]) for w in planned]
        out: list[WindowLogits | None] = [None] * len(planned)
        for batch, results in self.batcher.run(
            lengths,
            lambda batch: self._forward(pairs, [planned[i] for i in batch]),
            lambda i: f"passage {planned[i].pair}",
        ):
            for i, result in zip(batch, results, strict=True):
                out[i] = result
        by_pair: list[list[WindowLogits]] = [[] for _ in pairs]
        for one in out:
            if one is not None:
                by_pair[one.window.pair].append(one)
        return by_pair

    def _overhead(self, pair: Input) -> int:
        return len(pair.question.ids) + len(pair.context.ids) + self.special.count

    def _windows(self, number: int, pair: Input) -> list[Window]:
        return windows(number, 0, len(pair.passage.ids), self._overhead(pair), self.max_length, self.stride)

    def _forward(self, pairs: Sequence[Input], batch: Sequence[Window]) -> list[WindowLogits]:
        rows = [
            (p.question.ids, p.context.ids, p.passage.ids[w.first : w.last])
            for w in batch
            for p in [pairs[w.pair]]
        ]
        inputs = assemble(rows, self.special, multiple=1)
        tokens = PackedTokens.of_padded(inputs.input_ids, inputs.attention_mask, inputs.token_type_ids)
        scores = self.scores(tokens)  # (T, 2) or (T, 7)
        found = []
        for window, first, shift in zip(batch, tokens.starts(), inputs.shift, strict=True):
            null, at = scores[first + self.special.null], first + shift
            here = scores[at : at + window.last - window.first]
            evidence, relevance = None, math.nan
            if scores.shape[1] > 2:
                evidence, relevance = here[:, 2:], float(null[2 + PASSAGE])
            nulls = float(null[0]), float(null[1])
            found.append(WindowLogits(window, here[:, 0], here[:, 1], *nulls, evidence, relevance))
        return found

    def _spans(
        self, passage: Passage, text: Tokens, of_passage: Sequence[WindowLogits], n_best: int
    ) -> list[ScoredSpan]:
        null = min((w.null_score for w in of_passage), default=math.nan) if self.answers_null else math.nan
        relevance = max((w.relevance for w in of_passage), default=math.nan)
        sentences = self.split(passage.text) if self.scores.has_evidence else ()
        mass = passage_mass(of_passage, len(text.ids)) if of_passage and self.answers_null else None
        found = []
        for kept in spans_of_windows(of_passage, n_best, self.max_answer_tokens):
            span = character_span(passage, text, kept)
            if not span.text:
                continue
            around = enclosing_sentences(sentences, span.start - passage.start, span.end - passage.start)
            evidence = mean_evidence(of_passage, text.offsets, *around)
            one = ScoredSpan(span, passage, kept.score, null, mass=mass)
            found.append(one if evidence is None else with_evidence(one, relevance, evidence))
        return found


def with_evidence(one: ScoredSpan, relevance: float, evidence: NDArray[np.float32]) -> ScoredSpan:
    """The span with the relevance of its passage and the mean evidence (5,) of its sentences."""
    verdict = None if evidence[YES_NO] <= 0 else "yes" if evidence[YES] > 0 else "no"
    several = bool(evidence[SEVERAL] > 0)
    return replace(
        one, relevance=relevance, support=float(evidence[SUPPORT]), verdict=verdict, is_list_question=several
    )


def context_of(passage: Passage) -> str:
    """The headings above a passage, top first, as the model reads them before it."""
    return "".join(f"{heading}. " for heading in passage.heading)


def pair_of(question: str, passage: Passage) -> Pair:
    """The texts that the model reads for a question and a passage."""
    return Pair(question, context_of(passage), passage.text)


def cut(tokens: Tokens, most: int) -> Tokens:
    """The first `most` tokens."""
    return Tokens(tokens.ids[:most], tokens.offsets[:most])


def character_span(passage: Passage, text: Tokens, span: TokenSpan) -> Span:
    """The span of the document that a token span covers, combining marks after its last letter included.

    White space around it is left out: some tokenizers count it as part of the next word.
    """
    start, end = int(text.offsets[span.first, 0]), int(text.offsets[span.last, 1])
    start, end = trimmed(passage.text, start, end)
    while end < len(passage.text) and unicodedata.combining(passage.text[end]):
        end += 1
    return Span(passage.document_id, passage.start + start, passage.start + end, passage.text[start:end])


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The same without white space at either end.

    >>> trimmed("a mill .", 1, 7), trimmed("a  b", 1, 3)
    ((2, 6), (3, 3))
    """
    quote = text[start:end]
    start += len(quote) - len(quote.lstrip())
    return start, start + len(quote.strip())
