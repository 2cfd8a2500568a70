"""ONNX files with the tensors and products that `models.onnx_weights` reads, written as Protocol Buffers."""

import numpy as np

KINDS = {"float32": 1, "uint8": 2, "int8": 3}


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number, value):
    """A field of a message: an integer as a varint, anything else with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name, values):
    """An initializer of a graph; dims, data type, name and raw data."""
    dims = b"".join(field(1, size) for size in values.shape)
    return field(5, dims + field(2, KINDS[values.dtype.name]) + field(8, name) + field(9, values.tobytes()))


def quantized(name, values, scale, zero_point):
    """The tensors of an 8-bit matrix."""
    scalars = {"scale": np.float32(scale), "zero_point": values.dtype.type(zero_point)}
    tensors = {"quantized": values} | scalars
    return b"".join(tensor(f"{name}_{part}", values) for part, values in tensors.items())


def product(name, *inputs):
    """A node of a graph."""
    return field(1, b"".join(field(1, each) for each in inputs) + field(3, name))


def onnx_file(*parts):
    """A model with a version and a graph of these parts."""
    return field(1, 8) + field(7, b"".join(parts))


LAYER = (
    tensor("embeddings.LayerNorm.bias", np.array([0.5, -1.25], np.float32)),
    quantized("onnx::MatMul_7", np.array([[1, 2, 3], [-4, 5, -6]], np.int8), scale=2.0, zero_point=1),
    product("/encoder/layer.0/output/dense/MatMul_quant", "states", "onnx::MatMul_7_quantized"),
    product("/encoder/Softmax", "states"),
)
WEIGHTS = {
    "embeddings.LayerNorm.bias": [0.5, -1.25],
    "encoder.layer.0.output.dense.weight": [[0, -10], [2, 8], [4, -14]],  # (outputs, inputs)
}
