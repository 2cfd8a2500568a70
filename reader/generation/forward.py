"""One forward pass of a model that writes: the scores of the next token and the states behind them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from spanwise.errors import GenerationFailed

from ..decoding.decoder import Step


def forward(model: Any, stack: nn.Module, **inputs: Any) -> tuple[Step, Any]:
    """The step after the last token of each row, logits in float32, and the cache of all tokens.

    `stack` is the part of the model that gives the states to its head. They are taken there: asked for them,
    the model would keep those of every layer. GenerationFailed when a score is NaN, as after an overflow.
    """
    states: list[Tensor] = []
    hook = stack.register_forward_hook(lambda module, given, found: states.append(found[0]))
    try:
        found = model(**inputs, **_last_only(model), use_cache=True)
    finally:
        hook.remove()
    logits = found.logits[:, -1].float()
    if bool(logits.isnan().any()):
        raise GenerationFailed(f"{type(model).__name__} gives scores that are not numbers")
    return Step(logits, states[-1].float()), found.past_key_values


def is_in_place(parents: Sequence[int], n_rows: int) -> bool:
    """True when each row goes on from itself, so that nothing of a cache has to be moved."""
    return list(parents) == list(range(n_rows))


def _last_only(model: Any) -> dict[str, int]:
    """What keeps a causal model from scoring all words after each token of a prompt, where it takes it."""
    return {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
