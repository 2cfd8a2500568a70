"""The weights of a BERT in an ONNX file with 8-bit matrices, as floats under the names of published BERTs.

Only the tensors and the names of nodes are read; nothing of the graph is run. A matrix NAME is stored as
NAME_quantized, NAME_scale and NAME_zero_point: (quantized - zero point) * scale. The matrix of a product is
named by the node that multiplies by it, such as "/encoder/layer.0/output/dense/MatMul_quant".

Source: ONNX, onnx.proto3 (ModelProto, GraphProto, NodeProto, TensorProto); Protocol Buffers, "Encoding".
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

GRAPH = 7  # field of ModelProto
NODE = 1  # of GraphProto
INITIALIZER = 5
INPUT = 1  # of NodeProto
NODE_NAME = 3
DIMS = 1  # of TensorProto
DATA_TYPE = 2
FLOATS = 4
INTEGERS = 5
TENSOR_NAME = 8
RAW = 9
TYPES = {1: np.float32, 2: np.uint8, 3: np.int8}
VARINT = 0  # wire types
FIXED64 = 1
BYTES = 2
FIXED32 = 5
QUANTIZED = "_quantized"
SCALE = "_scale"
ZERO_POINT = "_zero_point"
PRODUCT = "/MatMul_quant"
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message: its number, and its value, an integer or the bytes of anything longer."""

    number: int
    integer: int
    content: memoryview


def bert_weights(model: bytes) -> dict[str, Floats]:
    """The weights by name; ModelRejected for a file that is no such model."""
    try:
        [graph] = [field.content for field in _fields(memoryview(model)) if field.number == GRAPH]
        fields = list(_fields(graph))
        tensors = dict(_tensor(field.content) for field in fields if field.number == INITIALIZER)
        weights = {
            name: tensor.astype(np.float32)
            for name, tensor in tensors.items()
            if tensor.dtype == np.float32 and tensor.ndim
        }
        for name in tensors:
            if name.endswith(QUANTIZED) and "::" not in name:
                whole = name.removesuffix(QUANTIZED)
                weights[whole] = _dequantized(tensors, whole)
        for field in fields:
            if field.number == NODE:
                product = _product(field.content)
                if product is not None:
                    matrix, weight = product
                    weights[weight] = np.ascontiguousarray(_dequantized(tensors, matrix).T)
    except (IndexError, KeyError, OverflowError, ValueError) as error:
        raise ModelRejected(f"the ONNX file is not a BERT with 8-bit matrices: {error!r}") from error
    return weights


def _fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message, in their order."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        length = {FIXED64: 8, FIXED32: 4}.get(key & 7)
        if key & 7 == VARINT:
            integer, position = _varint(message, position)
            yield Field(key >> 3, integer, message[:0])
            continue
        if length is None:
            if key & 7 != BYTES:
                raise ValueError(f"wire type {key & 7}")
            length, position = _varint(message, position)
        if length > len(message) - position:
            raise ValueError(f"a field of {length} bytes is cut")
        yield Field(key >> 3, 0, message[position : position + length])
        position += length


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    """An integer in groups of seven bits, the lowest first, and the position after it."""
    value = 0
    shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def _tensor(message: memoryview) -> tuple[str, NDArray[np.generic]]:
    """The name and the values of a tensor."""
    fields = list(_fields(message))
    dims = [field.integer for field in fields if field.number == DIMS]
    content = {field.number: field for field in fields}
    kind = TYPES[content[DATA_TYPE].integer]
    name = bytes(content[TENSOR_NAME].content).decode()
    if RAW in content:
        values = np.frombuffer(content[RAW].content, kind)
    elif FLOATS in content:
        values = np.frombuffer(content[FLOATS].content, np.float32)
    else:
        integers = content[INTEGERS].content
        values = np.array([_varint(integers, 0)[0]] if len(integers) else [0], kind)
    return name, values.reshape(dims)


def _product(message: memoryview) -> tuple[str, str] | None:
    """The stored name of the matrix that a node multiplies by, and its name in a BERT, or None."""
    fields = list(_fields(message))
    name = next((bytes(field.content).decode() for field in fields if field.number == NODE_NAME), "")
    if not name.endswith(PRODUCT):
        return None
    _, matrix, *_ = [bytes(field.content).decode() for field in fields if field.number == INPUT]
    weight = name.removesuffix(PRODUCT).lstrip("/").replace("/", ".") + ".weight"
    return matrix.removesuffix(QUANTIZED), weight


def _dequantized(tensors: dict[str, NDArray[np.generic]], name: str) -> Floats:
    quantized = tensors[name + QUANTIZED].astype(np.float32)
    zero_point = tensors[name + ZERO_POINT].astype(np.float32)
    floats: Floats = (quantized - zero_point) * tensors[name + SCALE].astype(np.float32)
    return floats
