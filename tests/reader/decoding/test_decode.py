"""Each method by its name."""

from __future__ import annotations

import pytest
from table_decoder import TableDecoder, finish

from spanwise.reader.decoding.beam import beam_search
from spanwise.reader.decoding.decode import decode
from spanwise.reader.decoding.one_path import contrastive, greedy, sample
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Limits

END, A, B = range(3)
TABLE = {(): {A: 0.6, B: 0.4}, (A,): {A: 0.5, B: 0.5}, (B,): {B: 1.0}, (B, B): {END: 1.0}}
DECODER = TableDecoder(TABLE, 3, [END], {END: [1.0, 0.0], A: [0.0, 1.0], B: [1.0, 1.0]})


@pytest.mark.parametrize(
    ("method", "function"), [("greedy", greedy), ("sample", sample), ("contrastive", contrastive)]
)
def test_a_method_is_found_by_its_name(method, function):
    settings = Decoding(method, seed=3)
    assert finish(decode(DECODER, settings, Limits())) == finish(function(DECODER, settings, Limits()))


def test_beam_search_gives_all_tokens_of_its_best_text():
    settings = Decoding("beam", beams=2)
    tokens, text = finish(decode(DECODER, settings, Limits()))
    assert text == beam_search(DECODER, settings, Limits())[0]
    assert tuple(tokens) == text.tokens == (B, B)
