"""The base model exported to ONNX, run by ONNX Runtime and by OpenVINO, for `measure_encoder.py`.

Neither is a dependency: what is not installed is left out. Batches are sorted by length, cut by token
budget and padded to the longest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.models.batching import Batcher
from spanwise.models.encoder import TextEncoder
from spanwise.models.packed_tokens import PackedTokens
from spanwise.models.precision import has_bf16

BATCH_TOKENS = 4096
Encode = Callable[[list[str]], NDArray[np.float32]]
States = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]


class _States(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return states


def exported_encoders(encoder: TextEncoder) -> dict[str, Encode]:
    """Encoders by name; none where onnx or the engines are not installed."""
    names = [name for name in ("onnxruntime", "openvino") if find_spec(name)]
    if not names or not find_spec("onnxscript"):
        return {}
    folder = Path(tempfile.mkdtemp(prefix="spanwise-onnx-"))
    path = folder / "model.onnx"
    ids, mask = torch.ones(2, 16, dtype=torch.int64), torch.ones(2, 16, dtype=torch.int64)
    mask[1, 8:] = 0  # where nothing is padded the model does without a mask, and the export would, too
    axes = {"ids": {0: "n", 1: "width"}, "mask": {0: "n", 1: "width"}}
    torch.onnx.export(
        _States(encoder.model).eval(),
        (ids, mask),
        path,
        input_names=["ids", "mask"],
        output_names=["states"],
        dynamic_axes=axes,
        dynamo=False,
    )
    found: dict[str, States] = {}
    if "onnxruntime" in names:
        found |= _onnxruntime(path, folder)
    if "openvino" in names:
        found |= _openvino(path, has_bf16(encoder.device))
    return {name: _encode_with(encoder, states) for name, states in found.items()}


def _onnxruntime(path: Path, folder: Path) -> dict[str, States]:
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = folder / "int8.onnx"
    quantize_dynamic(path, small, weight_type=QuantType.QInt8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()

    def states(file: Path) -> States:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        return lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0]

    return {"ONNX Runtime, float32": states(path), "ONNX Runtime, int8": states(small)}


def _openvino(path: Path, bf16: bool) -> dict[str, States]:
    import openvino

    def states(precision: str) -> States:
        settings = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": torch.get_num_threads()}
        compiled = openvino.Core().compile_model(str(path), "CPU", settings)
        return lambda ids, mask: np.asarray(compiled([ids, mask])[0])

    found = {"OpenVINO, float32": states("f32")}
    return found | {"OpenVINO, bf16": states("bf16")} if bf16 else found


def _encode_with(encoder: TextEncoder, states: States) -> Encode:
    def forward(rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids, mask, _ = PackedTokens.of(rows).padded(0)
        sums = (states(ids, mask) * mask[:, :, np.newaxis]).sum(axis=1)
        vectors: NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return vectors

    def encode(texts: list[str]) -> NDArray[np.float32]:
        rows = encoder._token_ids(texts)
        out = np.zeros((len(texts), encoder.width), dtype=np.float32)
        batches = Batcher(BATCH_TOKENS).run(
            [len(row) for row in rows], lambda b: forward([rows[i] for i in b]), str
        )
        for batch, vectors in batches:
            out[batch] = vectors
        return out

    return encode
