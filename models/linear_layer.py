"""The linear layers that a sentence-transformers folder puts behind the pooling (its `Dense` modules)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import ModelRejected

from .locate import WEIGHTS, file_sha256
from .model_folder import check_weights, read_json

if TYPE_CHECKING:
    from torch import nn

_ACTIVATIONS = {"torch.nn.modules.linear.Identity": "identity", "torch.nn.modules.activation.Tanh": "tanh"}
_OTHERWISE = "torch.nn.modules.activation.Tanh"  # what the library takes when a folder says nothing
_SENTENCE = "sentence_embedding"


@dataclass(frozen=True, slots=True)
class LinearLayer:
    """activation(W x + b), from n_in to n_out numbers; `sha256` names the weights, wherever they lie."""

    n_in: int
    n_out: int
    bias: bool
    activation: str
    sha256: str
    folder: Path = field(compare=False)

    @classmethod
    def read(cls, folder: Path) -> LinearLayer:
        """The layer that a folder describes, its weights not loaded yet; ModelRejected for other kinds."""
        path = folder / "config.json"
        config = read_json(path)
        activation = str(config.get("activation_function", _OTHERWISE))
        if activation not in _ACTIVATIONS:
            raise ModelRejected(
                f"{path}: the activation {activation}, expected one of {', '.join(_ACTIVATIONS)}"
            )
        names = {config.get("module_input_name", _SENTENCE), config.get("module_output_name") or _SENTENCE}
        if config.get("use_residual") or names != {_SENTENCE}:
            raise ModelRejected(f"{path}: a layer that is not one linear map of the pooled vector")
        if not (folder / WEIGHTS).is_file():
            raise ModelRejected(f"{folder} holds no {WEIGHTS}; other formats can run code and are refused")
        check_weights(folder / WEIGHTS)
        sizes = config.get("in_features"), config.get("out_features")
        if not all(type(size) is int and size > 0 for size in sizes):
            raise ModelRejected(f"{path}: sizes {sizes[0]} and {sizes[1]}, expected numbers from 1")
        bias, digest = bool(config.get("bias", True)), file_sha256(folder / WEIGHTS)
        return cls(*sizes, bias, _ACTIVATIONS[activation], digest, folder)  # type: ignore[arg-type]

    def load(self) -> nn.Sequential:
        """The layer in float32; ModelRejected when its weights do not fit its sizes or are not finite."""
        from safetensors.torch import load_file
        from torch import nn

        from .checkpoint import require_finite

        linear = nn.Linear(self.n_in, self.n_out, self.bias)
        stored = load_file(self.folder / WEIGHTS)
        try:
            linear.load_state_dict({name.removeprefix("linear."): stored[name].float() for name in stored})
        except RuntimeError as error:
            raise ModelRejected(f"the weights in {self.folder} do not fit: {error}") from error
        require_finite(linear.state_dict(), self.folder)
        return nn.Sequential(linear, nn.Tanh() if self.activation == "tanh" else nn.Identity())
