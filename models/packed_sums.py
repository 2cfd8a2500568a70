"""Token states become one vector a sequence: the sum of its states, each times a weight."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .packed_tokens import Ids


def sequence_sums(states: Tensor, weights: NDArray[np.float32], lengths: Ids) -> Tensor:
    """(B, H) float32 from states (T, H) and weights (T,) of sequences of these lengths (B,)."""
    device = states.device
    weighted = states.float() * torch.from_numpy(weights).to(device).unsqueeze(1)
    counts = torch.from_numpy(lengths).to(device)
    return torch.segment_reduce(weighted, "sum", lengths=counts, axis=0, unsafe=True)
