"""A cross-encoder: question and passage go through the transformer together and get one score.

Every token of a question attends to every token of the passage, which no index can compute beforehand. So a
cross-encoder re-ranks what a retriever found, and teaches models that an index can hold. The score of a long
passage is that of its best window. A reader trained here is a cross-encoder: its relevance of a passage is
the score. Other cross-encoders are loaded by `third_party`.

Source: Nogueira and Cho, "Passage Re-ranking with BERT", 2019; for windows Dai and Callan, "Deeper Text
Understanding for IR with Contextual Neural Language Modeling", SIGIR 2019 (MaxP).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from spanwise.errors import ModelNotFound, ModelRejected

from .batching import OnProgress, PackedTokens, Vectors, no_progress, parts
from .encoder import BatchedEncoder
from .load import base_tokenizer, linear, tuned_backbone
from .model_files import BUILTIN, READER, model_digest, model_folder
from .numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from .precision import pick_device
from .tokenizer import special_tokens

if TYPE_CHECKING:
    from .third_party import ThirdPartyCrossEncoder

MAX_LENGTH = 384  # tokens of a pair
MAX_QUESTION_TOKENS = 64
PAIRS_AT_ONCE = 4096  # whose tokens are in memory together
_TEXTS_AT_ONCE = 1024
TokenIds = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class PairRow:
    """The tokens of a question and a passage.

    ids: token ids, (n,) int32.
    second: the index of the first token of the second segment.
    """

    ids: TokenIds
    second: int

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ids)


class PairRows:
    """Makes rows [CLS] question [SEP] passage [SEP] of at most `max_length` tokens; the passage is cut.

    At most 64 tokens of a question are used.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self.special = special_tokens(tokenizer)
        self.tokenizer = tokenizer
        self.max_length = max_length
        if max_length <= MAX_QUESTION_TOKENS + self.special.count:
            raise ValueError(f"max_length {max_length} leaves no room for a passage beside a question")

    def tokens_of(self, texts: Iterable[str]) -> dict[str, TokenIds]:
        """The ids of each distinct text, uncut and without special tokens."""
        distinct = list(dict.fromkeys(texts))
        tokens: dict[str, TokenIds] = {}
        for start in range(0, len(distinct), _TEXTS_AT_ONCE):
            batch = distinct[start : start + _TEXTS_AT_ONCE]
            encodings = self.tokenizer(batch, add_special_tokens=False, truncation=False, verbose=False)
            for text, ids in zip(batch, encodings["input_ids"], strict=True):
                tokens[text] = np.array(ids, np.int32)
        return tokens

    def row(self, question: TokenIds, passage: TokenIds) -> PairRow:
        """The row of a question and a passage, given as `tokens_of` returns them."""
        question = question[:MAX_QUESTION_TOKENS]
        head = np.concatenate([self.special.before, question, self.special.between])
        ids = np.concatenate([head, passage[: self.room(question)], self.special.after]).astype(np.int32)
        return PairRow(ids, len(head))

    def windows(self, question: TokenIds, passage: TokenIds) -> list[PairRow]:
        """The rows that show a whole passage: one, or several of full length that overlap by half."""
        room = self.room(question)
        last = max(0, len(passage) - room)
        starts = [*range(0, last, max(1, room // 2)), last]
        return [self.row(question, passage[start:]) for start in starts]

    def room(self, question: TokenIds) -> int:
        """The number of tokens of a passage that fit beside a question."""
        return self.max_length - self.special.count - min(len(question), MAX_QUESTION_TOKENS)

    def packed(self, rows: Sequence[PairRow]) -> PackedTokens:
        """The rows one after another, with their segments."""
        ids = np.concatenate([row.ids for row in rows]).astype(np.int64)
        is_first = np.concatenate([np.arange(len(row)) < row.second for row in rows])
        lengths = np.array([len(row) for row in rows], np.int64)
        return PackedTokens(ids, np.where(is_first, 0, self.special.segment), lengths)


class CrossEncoder(BatchedEncoder[PairRow]):
    """Scores pairs. The score of a pair depends on the pairs beside it only by the rounding of bf16.

    digest: names the files that scores depend on.
    """

    def __init__(self, backbone: nn.Module, head: nn.Linear, tokenizer: Any, digest: str) -> None:
        super().__init__(backbone)
        self.head = head
        self.digest = digest
        self.rows = PairRows(tokenizer, MAX_LENGTH)

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        on_progress: OnProgress = no_progress,
    ) -> list[Vectors]:
        """For each question a score for each of its passages, (n,) float32, higher is better.

        Scores are logits, comparable between the passages of a question. `on_progress` gets the count of
        pairs done. ModelRejected if a score is not finite.
        """
        pairs = [
            (question, text) for question, texts in zip(questions, passages, strict=True) for text in texts
        ]
        scores = np.full(len(pairs), -np.inf, np.float32)
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            self._score_into(scores[part], pairs[part], start, on_progress)
        return parts(scores, [len(texts) for texts in passages])

    def _score_into(
        self,
        scores: Vectors,
        pairs: Sequence[tuple[str, str]],
        n_before: int,
        on_progress: OnProgress,
    ) -> None:
        """Raises the score of each pair to that of its best window; `n_before` pairs are done already."""
        tokens = self.rows.tokens_of(text for pair in pairs for text in pair)
        windows = [self.rows.windows(tokens[question], tokens[passage]) for question, passage in pairs]
        rows = [row for of_pair in windows for row in of_pair]
        owners = np.repeat(np.arange(len(pairs)), [len(of_pair) for of_pair in windows])
        done = 0

        def describe(i: int) -> str:
            question, passage = pairs[owners[i]]
            return f"{passage[:60]!r} for {question[:60]!r}"

        for batch, logits in self.batches(rows, self._forward, describe):
            for i in batch[~np.isfinite(logits)]:
                raise ModelRejected(f"the cross-encoder's score of {describe(i)} is not a finite number")
            np.maximum.at(scores, owners[batch], logits)
            done += len(batch)
            on_progress(n_before + done * len(pairs) // len(rows))

    @torch.inference_mode()
    def _forward(self, rows: Sequence[PairRow]) -> Vectors:
        tokens = self.rows.packed(rows)
        states = self.backbone.states(tokens)  # (all tokens, H)
        first = states[torch.from_numpy(tokens.starts()).to(states.device)]
        scores: Vectors = self.head(first.float())[:, 0].float().cpu().numpy()  # (B,)
        return scores


def load_cross_encoder(
    name: str = BUILTIN, device: str | None = None
) -> CrossEncoder | ThirdPartyCrossEncoder:
    """The cross-encoder of a model named as in `model_files`, by default on the best device.

    ModelNotFound or ModelRejected for a model that is missing, unsafe or not a cross-encoder.
    """
    folder = model_folder(name, "cross-encoder")
    target = pick_device(device)
    delta = folder / READER
    if delta.is_file():
        backbone, head = relevance_model(delta)
        tokenizer = base_tokenizer(backbone)
        digest = model_digest(name, "cross-encoder")
        return CrossEncoder(backbone.to(target), head.to(target), tokenizer, digest)
    if name == BUILTIN:
        raise ModelNotFound(f"{delta} is missing: reinstall spanwise, or name another cross-encoder")
    from .third_party import ThirdPartyCrossEncoder

    return ThirdPartyCrossEncoder.load(folder, target)


def relevance_model(path: Path) -> tuple[nn.Module, nn.Linear]:
    """The network of a reader's file, and the layer that maps the state of [CLS] to a passage's relevance.

    In float32, for inference. ModelRejected for a reader without evidence.
    """
    backbone, added = tuned_backbone(path)
    if f"{EVIDENCE_HEAD}.weight" not in added:
        raise ModelRejected(
            f"{path} gives no relevance of passages: it was trained with a single passage per question"
        )
    row = [EVIDENCE_OUTPUTS.index("passage")]
    layer = {f"{EVIDENCE_HEAD}.{part}": added[f"{EVIDENCE_HEAD}.{part}"][row] for part in ("weight", "bias")}
    return backbone, linear(layer, EVIDENCE_HEAD, path)
