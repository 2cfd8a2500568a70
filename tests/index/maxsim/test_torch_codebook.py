"""Codes are decoded on a device of torch to what numpy decodes them to."""

from __future__ import annotations

import numpy as np
import pytest
from plain_tokens import token_passages

from spanwise.index.maxsim.codebook import BITS, Codebook
from spanwise.index.maxsim.torch_codebook import TorchCodebook


@pytest.mark.parametrize("bits", BITS)
def test_it_decodes_like_the_codebook(bits) -> None:
    vectors = np.concatenate(token_passages(50))
    codebook = Codebook.train(vectors, len(vectors), bits)
    codes = codebook.encode(vectors)
    decoded = TorchCodebook(codebook, "cpu").decode(codes).numpy()
    assert np.allclose(decoded, codebook.decode(codes), rtol=0, atol=1e-6)


def test_centroids_beyond_32767_are_not_taken_for_negative() -> None:
    vectors = np.random.default_rng(0).standard_normal((40_000, 4)).astype(np.float32)
    codebook = Codebook(4, vectors, np.linspace(-1, 1, 16, dtype=np.float32), 0.0, 40_000)
    codes = codebook.encode(vectors[39_000:39_010])
    assert codes.centroids.max() > 32_767
    decoded = TorchCodebook(codebook, "cpu").decode(codes).numpy()
    assert np.allclose(decoded, codebook.decode(codes), rtol=0, atol=1e-6)
