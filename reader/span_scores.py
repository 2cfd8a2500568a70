"""Start, end and sentence logits of tokens from a question-answering model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ..models.packed_tokens import PackedTokens
from ..models.trunk import Trunk, packable_part, padded_forward
from .sentence_head import NAME as SENTENCE_HEAD


class SpanScores:
    """A trunk and one start and one end vector over its states; the vectors work in float32.

    A model that is not built of a trunk that can run packed and such a head computes its logits itself, and
    scores no sentences.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        part, head = packable_part(model), getattr(model, "qa_outputs", None)
        is_linear = isinstance(head, nn.Linear) and head.out_features == 2
        self.trunk = Trunk(part) if part is not None and is_linear else None
        self.sentence_head: Any = getattr(model, SENTENCE_HEAD, None) if self.trunk else None

    @torch.inference_mode()
    def __call__(self, tokens: PackedTokens) -> NDArray[np.float32]:
        """(T, 2): the start and the end logit of each token; (T, 3) with a head that scores sentences."""
        if self.trunk is None:
            logits = padded_forward(self.model, tokens, "start_logits", "end_logits")
        else:
            head: Any = self.model.qa_outputs
            states = self.trunk.states(tokens).float()
            heads = [head] if self.sentence_head is None else [head, self.sentence_head]
            logits = torch.cat([head(states) for head in heads], dim=-1)
        scores: NDArray[np.float32] = logits.float().cpu().numpy()
        return scores
