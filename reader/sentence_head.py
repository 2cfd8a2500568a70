"""Which sentences carry the answer: one more vector over the token states of the span model.

    score(sentence) = mean over its tokens t of w . T_t + b  -  (w . T_[CLS] + b)

so that a score above 0 says that the sentence carries the answer rather than none. It is trained beside the
span, by the cross-entropy of a passage's sentences and the null position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from numpy.typing import NDArray
from torch import Tensor, nn

NAME = "sentence_outputs"  # of the head inside the model


def add_sentence_head(model: nn.Module) -> None:
    """Gives a span model the head, drawn from torch's generator; one that has it keeps it."""
    if not hasattr(model, NAME):
        config: Any = model.config
        head = nn.Linear(config.hidden_size, 1)
        nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
        nn.init.zeros_(head.bias)
        model.add_module(NAME, head)


def token_logits(model: Any, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
    """The start, end and sentence logits of the tokens, (B, L) each; no sentence logits without the head."""
    head = getattr(model, NAME, None)
    if head is None:
        output = model(**inputs)
        return output.start_logits, output.end_logits, None
    states = model.base_model(**inputs).last_hidden_state
    start, end = model.qa_outputs(states).unbind(-1)
    return start, end, head(states).squeeze(-1)


def sentence_loss(
    logits: Tensor, sentences: Sequence[NDArray[np.int32]], null: int, gold: Sequence[int | None]
) -> Tensor:
    """The mean over the batch of -ln P(gold sentence), or of -ln P(null) where gold is None.

    `logits`: (B, L) of tokens. `sentences[i]`: (n, 2) first token and the one after the last, at least one
    token each. `null`: the position of [CLS]. The softmax runs over the sentences of a row and its null.

    >>> logits = torch.tensor([[0.0, 2.0, 4.0, 1.0]])
    >>> round(float(sentence_loss(logits, [np.array([[1, 3], [3, 4]], np.int32)], 0, [0])), 5)
    0.16985
    """
    most = max(len(ranges) for ranges in sentences)
    rows = np.zeros((len(sentences), most + 1, logits.shape[1]), dtype=np.float32)  # (B, S + 1, L)
    present = np.zeros(rows.shape[:2], dtype=np.bool_)
    rows[:, 0, null], present[:, 0] = 1, True
    for row, ranges, real in zip(rows, sentences, present, strict=True):
        for i, (first, after) in enumerate(ranges, start=1):
            row[i, first:after], real[i] = 1 / (after - first), True
    averaging = torch.from_numpy(rows).to(logits.device)
    scores = torch.bmm(averaging, logits.float().unsqueeze(-1)).squeeze(-1)  # (B, S + 1)
    scores = scores.masked_fill(~torch.from_numpy(present).to(logits.device), -torch.inf)
    wanted = torch.tensor([0 if one is None else one + 1 for one in gold], device=logits.device)
    return F.cross_entropy(scores, wanted)


def token_ranges(
    offsets: NDArray[np.int32], sentences: Sequence[tuple[int, int]], first: int, after: int
) -> NDArray[np.int32]:
    """Where the sentences lie inside the window of tokens [first, after): (n, 2) int32, relative to `first`.

    `offsets` are the (n, 2) characters of a passage's tokens. A sentence without a token in the window is
    left out, one that is cut by its edge keeps what is inside.
    """
    found = []
    for start, end in sentences:
        left = int(np.searchsorted(offsets[:, 0], start))
        right = int(np.searchsorted(offsets[:, 0], end))
        left, right = max(left, first), min(right, after)
        if left < right:
            found.append((left - first, right - first))
    return np.array(found, dtype=np.int32).reshape(-1, 2)
