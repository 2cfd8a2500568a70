"""A codebook on a device of torch: codes, a quarter of the size of vectors, are decoded there.

The arithmetic is that of `Codebook.decode`; a device may round a product and a sum together instead of each.
"""

from __future__ import annotations

import numpy as np
import torch

from .codebook import Codebook
from .token_codes import TokenCodes


class TorchCodebook:
    """Decodes what `codebook` encoded."""

    def __init__(self, codebook: Codebook, device: str) -> None:
        self._bits = codebook.bits
        self._device = device
        self._centroids = torch.tensor(codebook.centroids, device=device)  # (C, width)
        self._levels = torch.tensor(codebook.levels, device=device)
        self._shifts = torch.arange(0, 8, codebook.bits, dtype=torch.uint8, device=device)

    def decode(self, codes: TokenCodes) -> torch.Tensor:
        """(T, width) float32: the vectors that scores are defined by."""
        values = torch.tensor(codes.values, device=self._device)
        scales = torch.tensor(codes.scales, device=self._device).float().unsqueeze(1)
        if self._bits == 8:
            return values.view(torch.int8).float() * scales
        numbers = (values.unsqueeze(2) >> self._shifts) & (2**self._bits - 1)  # (T, bytes, numbers of a byte)
        residuals = self._levels[numbers.view(len(values), -1).int()] * scales
        places = torch.tensor(codes.centroids.astype(np.int32), device=self._device)
        return self._centroids[places] + residuals
