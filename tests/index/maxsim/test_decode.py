"""The compiled decoders give bit for bit what the codebook defines."""

from __future__ import annotations

import numpy as np
import pytest
from maxsim_vectors import unit

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.decode import decode_int8_into, decode_residual_into


@pytest.mark.parametrize("bits", [2, 4])
def test_residual_decoder_equals_the_definition(bits: int) -> None:
    vectors = unit(200, 32)
    codebook = Codebook.train(vectors, 200, bits)
    codes = codebook.encode(vectors)
    out = np.empty((200, 32), np.float32)
    scales = codes.scales.astype(np.float32)
    decode_residual_into(*codebook.tables(), codes.centroids, codes.values, scales, out)
    assert np.array_equal(out, codebook.decode(codes))


def test_int8_decoder_equals_the_definition() -> None:
    vectors = unit(200, 32)
    codebook = Codebook.train(vectors, 200, 8)
    codes = codebook.encode(vectors)
    out = np.empty((200, 32), np.float32)
    decode_int8_into(codes.values, codes.scales.astype(np.float32), out)
    assert np.array_equal(out, codebook.decode(codes))
