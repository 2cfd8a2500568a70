"""The layers that a student begins with behind a transformer that knows nothing of late interaction.

The token layer is y = W (x - mean): the rows of W are orthonormal and drawn at random (the Q of a QR
decomposition of a normal matrix), the mean is that of the states of tokens that give vectors. What the states
of a language model have in common says nothing about a text, and would make all cosines high; a random
projection keeps the cosines that are left (Johnson and Lindenstrauss 1984). The dense heads are the identity:
what comes out is the mean of the states, which the base model was trained to compare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ...models.batching import token_budget_batches
from ...models.packed import Backbone, PackedTokens
from ...models.token_encoder import TokenRow

BATCH_TOKENS = 8192


def untrained_projection(trunk: nn.Module, rows: Sequence[TokenRow], width: int, seed: int) -> nn.Linear:
    """The token layer, from n_in to `width` numbers; `rows` are those whose mean state is taken off."""
    mean = mean_state(trunk, rows)
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.standard_normal((len(mean), width)))
    weight = (q * np.sign(np.diag(r))).T  # (width, H); the signs make the decomposition unique
    layer = nn.Linear(len(mean), width)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.copy_(torch.from_numpy(-weight @ mean))
    return layer


def identity_head(n_in: int) -> nn.Linear:
    """A layer that changes nothing."""
    head = nn.Linear(n_in, n_in)
    nn.init.eye_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def mean_state(trunk: nn.Module, rows: Sequence[TokenRow]) -> NDArray[np.float64]:
    """(H,): the mean of the states of all tokens that give vectors."""
    if not rows:
        raise ValueError("there are no passages whose states could be averaged")
    runner = Backbone(trunk)
    total, n_tokens = np.zeros(trunk.config.hidden_size), 0  # type: ignore[union-attr, arg-type]
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS):
        of = [rows[i] for i in batch]
        tokens = PackedTokens.of([row.ids for row in of])
        kept = np.concatenate([at + np.array(row.kept) for at, row in zip(tokens.starts(), of, strict=True)])
        states = runner.states(tokens)[torch.from_numpy(kept)].float()
        total += states.sum(dim=0, dtype=torch.float64).numpy()
        n_tokens += len(kept)
    mean: NDArray[np.float64] = total / n_tokens
    return mean
