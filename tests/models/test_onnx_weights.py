"""The weights of an ONNX file with 8-bit matrices: named and computed by hand, damaged files refused."""

import numpy as np
import pytest
from helpers.onnx_files import LAYER, WEIGHTS, field, onnx_file, quantized

from spanwise.errors import ModelRejected
from spanwise.models.onnx_weights import bert_weights

WORDS = quantized("words", np.array([[0, 128, 255]], np.uint8), scale=0.5, zero_point=128)
FILE = onnx_file(WORDS, *LAYER)


def test_vectors_embeddings_and_products_are_floats_by_published_names():
    weights = bert_weights(FILE)
    floats = WEIGHTS | {"words": [[-64, 0, 63.5]]}
    assert {name: weight.tolist() for name, weight in weights.items()} == floats
    assert all(weight.dtype == np.float32 for weight in weights.values())


def test_a_file_cut_anywhere_is_refused():
    for length in range(len(FILE)):
        with pytest.raises(ModelRejected, match="not a BERT with 8-bit matrices"):
            bert_weights(FILE[:length])


@pytest.mark.parametrize(
    "damaged",
    [
        b"\xff" * 20,
        onnx_file(LAYER[2]),  # a product without its matrix
        onnx_file(WORDS.replace(b"_scale", b"_skale")),
        onnx_file(field(5, field(1, 1) + field(2, 7) + field(8, "ids") + field(9, bytes(8)))),  # of int64
        onnx_file(field(5, field(1, 3) + field(2, 1) + field(8, "b") + field(9, bytes(8)))),  # of 2 floats
    ],
)
def test_a_damaged_file_is_refused(damaged):
    with pytest.raises(ModelRejected):
        bert_weights(damaged)
