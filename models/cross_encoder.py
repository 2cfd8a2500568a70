"""A cross-encoder: question and passage go through the transformer together and come out as one score.

Every token of the one attends to every token of the other, which no index can do ahead of the question: so it
ranks what a retriever found, and teaches models that an index can hold. A passage that is too long counts by
the best of its windows.

Source: Nogueira and Cho, "Passage Re-ranking with BERT", 2019; for windows Dai and Callan, "Deeper Text
Understanding for IR with Contextual Neural Language Modeling", SIGIR 2019 (MaxP).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .batched_encoder import BatchedEncoder
from .cross_encoder_models import MAX_LENGTH, pair_model_of
from .loaded_tower import lower_case, n_positions
from .locate import BUILTIN, find_base
from .pair_rows import PairRow, PairRows
from .pair_scorer import PairScorer, load_pair_scorer
from .precision import pick_device
from .pretrained import check_vocabulary, load_tokenizer
from .trunk import padded_outputs

__all__ = ["MAX_LENGTH", "CrossEncoder", "PairScorer", "load_cross_encoder"]

PAIRS_AT_ONCE = 4096


class CrossEncoder(BatchedEncoder[PairRow]):
    """Scores pairs; `digest` names all that scores depend on.

    A score does not depend on the pairs beside it beyond the rounding of bf16.
    """

    def __init__(
        self,
        scorer: PairScorer,
        tokenizer: Any,
        digest: str,
        max_length: int = MAX_LENGTH,
        batch_tokens: int | None = None,
    ) -> None:
        super().__init__(scorer.trunk, batch_tokens)
        self.head, self.digest = scorer.head, digest
        config: Any = scorer.trunk.config
        self.rows = PairRows(tokenizer, max_length, getattr(config, "type_vocab_size", 2) > 1)

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        report: Callable[[int], None] = lambda done: None,
    ) -> list[NDArray[np.float32]]:
        """For each question a score for each of its passages, (n,) float32, higher being better.

        Scores are logits, comparable between the passages of a question. `report` hears how many pairs are
        done. ModelRejected when a score is not finite.
        """
        pairs = [
            (question, text) for question, texts in zip(questions, passages, strict=True) for text in texts
        ]
        scores = np.full(len(pairs), -np.inf, np.float32)
        for at in range(0, len(pairs), PAIRS_AT_ONCE):
            part = slice(at, at + PAIRS_AT_ONCE)
            self._score_into(scores[part], pairs[part], partial(_report_from, report, at))
        return np.split(scores, np.cumsum([len(texts) for texts in passages])[:-1]) if len(passages) else []

    def _score_into(
        self, scores: NDArray[np.float32], pairs: Sequence[tuple[str, str]], report: Callable[[int], None]
    ) -> None:
        """Raises `scores`, one a pair, to those of the best window."""
        tokens = self.rows.tokens_of((text for pair in pairs for text in pair), whole=True)
        windows = [self.rows.windows(tokens[question], tokens[passage]) for question, passage in pairs]
        rows = [row for of_pair in windows for row in of_pair]
        owners = np.repeat(np.arange(len(pairs)), [len(of_pair) for of_pair in windows])
        done = 0

        def describe(i: int) -> str:
            question, passage = pairs[owners[i]]
            return f"{passage[:60]!r} for {question[:60]!r}"

        for batch, found in self._batches(rows, describe):
            for i in batch[~np.isfinite(found[:, 0])]:
                raise ModelRejected(f"the cross-encoder's score of {describe(i)} is not a finite number")
            np.maximum.at(scores, owners[batch], found[:, 0])
            done += len(batch)
            report(done * len(pairs) // len(rows))

    @torch.inference_mode()
    def _forward(self, rows: Sequence[PairRow]) -> NDArray[np.float32]:
        tokens = self.rows.packed(rows)
        if self.head is None:
            logits = padded_outputs(self.model, tokens).logits  # (B, 1)
        else:
            states = self.trunk.states(tokens)  # (all tokens, H)
            first = states[torch.from_numpy(tokens.starts()).to(states.device)]
            logits = self.head(first.float())
        scores: NDArray[np.float32] = logits.float().cpu().numpy()  # (B, 1)
        return scores


def load_cross_encoder(name: str = BUILTIN, device: str | None = None) -> CrossEncoder:
    """The model named as `cross_encoder_models` says, on the device named or the best there is.

    ModelNotFound or ModelRejected for what is missing, unsafe, or no cross-encoder.
    """
    model = pair_model_of(name)
    scorer, source = load_pair_scorer(model), find_base() if model.is_delta else model.folder
    tokenizer = load_tokenizer(source)
    check_vocabulary(tokenizer, scorer.trunk, source)
    if getattr(tokenizer, "padding_side", "right") != "right":
        raise ModelRejected(f"{source}: its tokenizer pads on the left, which is not known here")
    if model.lowercase:
        lower_case(tokenizer)
    limits = [limit for limit in (model.max_length, n_positions(scorer.trunk)) if limit is not None]
    if not limits:
        raise ModelRejected(f"{source} does not say how many tokens it can see (max_seq_length)")
    try:
        return CrossEncoder(scorer.to(pick_device(device)), tokenizer, model.digest, min(limits))
    except ValueError as error:
        raise ModelRejected(f"{source}: {error}") from error


def _report_from(report: Callable[[int], None], start: int, done: int) -> None:
    report(start + done)
