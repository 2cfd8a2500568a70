from __future__ import annotations

import pytest
from maxsim_vectors import unit

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.decoding import decoded


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("width", [8, 96, 128])
def test_it_gives_the_bits_of_the_codebook(width, bits) -> None:
    codebook = Codebook.train(unit(600, width), 600, bits)
    codes = codebook.encode(unit(200, width, 1))
    assert decoded(codebook, codes).tobytes() == codebook.decode(codes).tobytes()
