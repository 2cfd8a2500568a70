"""Students over the base with random heads, quick to make: one layer of the transformer is changed."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from spanwise.models.load import tuned_backbone
from spanwise.models.student import StudentSettings, save_student

WIDTH, HIDDEN = 16, 384
MARKS = ("[CLS]", "[SEP]", ".", ",", "-", "!")


def changed_trunk(seed: int = 0) -> nn.Module:
    """The base with another last layer."""
    trunk, _ = tuned_backbone()
    generator = torch.Generator().manual_seed(seed)
    for name, weight in trunk.encoder["layer"][5].state_dict().items():
        weight += 0.02 * torch.randn(weight.shape, generator=generator) * ("LayerNorm" not in name)
    return trunk


def layer(n_out: int, seed: int) -> nn.Linear:
    """A linear layer with random weights and a bias that counts."""
    made = nn.Linear(HIDDEN, n_out)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        made.weight.copy_(torch.randn(made.weight.shape, generator=generator))
        made.bias.copy_(torch.randn(n_out, generator=generator))
    return made


def student(
    folder: Path, seed: int = 0, dense: bool = True, tuned: bool = True, max_length: int | None = None
) -> Path:
    """A student's folder, with or without dense heads, on a changed base or on the base itself."""
    trunk = changed_trunk(seed) if tuned else tuned_backbone()[0]
    heads = [layer(HIDDEN, seed + 10), layer(HIDDEN, seed + 11)] if dense else [None, None]
    save_student(folder, trunk, layer(WIDTH, seed + 12), *heads, StudentSettings(max_length, MARKS))
    return folder
