"""The linear layers of a sentence-transformers folder (its `Dense` modules), or stored with a transformer.

They follow the pooling, or the states of all tokens where these are the vectors.
"""

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
SENTENCE, TOKENS = "sentence_embedding", "token_embeddings"  # what a layer maps
INLINE = "linear."  # the name of a layer among the weights of a transformer


@dataclass(frozen=True, slots=True)
class LinearLayer:
    """activation(W x + b), from n_in to n_out numbers; `sha256` names the weights, wherever they lie.

    `names` are those of W and b in a file that holds more than the layer.
    """

    n_in: int
    n_out: int
    bias: bool
    activation: str
    sha256: str
    path: Path = field(compare=False)
    names: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path, maps: str = SENTENCE) -> LinearLayer:
        """The layer that a folder describes, its weights not loaded yet; ModelRejected for other kinds.

        `maps` is what it has to map, SENTENCE or TOKENS.
        """
        path = folder / "config.json"
        config = read_json(path)
        activation = str(config.get("activation_function", _OTHERWISE))
        if activation not in _ACTIVATIONS:
            raise ModelRejected(
                f"{path}: the activation {activation}, expected one of {', '.join(_ACTIVATIONS)}"
            )
        names = [config.get("module_input_name", maps), config.get("module_output_name") or maps]
        if config.get("use_residual") or names != [maps, maps]:
            raise ModelRejected(f"{path}: a layer that is not one linear map of {maps}")
        if not (folder / WEIGHTS).is_file():
            raise ModelRejected(f"{folder} holds no {WEIGHTS}; other formats can run code and are refused")
        check_weights(folder / WEIGHTS)
        sizes = config.get("in_features"), config.get("out_features")
        if not all(type(size) is int and size > 0 for size in sizes):
            raise ModelRejected(f"{path}: sizes {sizes[0]} and {sizes[1]}, expected numbers from 1")
        path = folder / WEIGHTS
        bias, digest = bool(config.get("bias", True)), file_sha256(path)
        return cls(*sizes, bias, _ACTIVATIONS[activation], digest, path)  # type: ignore[arg-type]

    @classmethod
    def read_inline(cls, folder: Path) -> LinearLayer:
        """The layer without a bias that lies among the weights of a transformer, not loaded yet."""
        from safetensors import safe_open

        path = folder / WEIGHTS
        if not path.is_file():
            raise ModelRejected(f"{folder} holds no {WEIGHTS}, where its projection should be")
        check_weights(path)
        with safe_open(path, framework="np") as file:
            names = [name for name in file.keys() if name.startswith(INLINE)]  # noqa: SIM118 (no mapping)
            shape = file.get_slice(names[0]).get_shape() if names == [f"{INLINE}weight"] else []
        if len(shape) != 2:
            raise ModelRejected(f"{path} holds {names or 'no projection'}, expected one {INLINE}weight")
        return cls(shape[1], shape[0], False, "identity", file_sha256(path), path, tuple(names))

    def load(self) -> nn.Sequential:
        """The layer in float32; ModelRejected when its weights do not fit its sizes or are not finite."""
        from safetensors import safe_open
        from torch import nn

        from .checkpoint import require_finite

        linear = nn.Linear(self.n_in, self.n_out, self.bias)
        with safe_open(self.path, framework="pt") as file:
            own = {name: name.removeprefix(INLINE) for name in file.keys()}  # noqa: SIM118 (no mapping)
            names = dict(zip(self.names, ("weight", "bias"), strict=False)) or own
            stored = {name: file.get_tensor(place).float() for place, name in names.items()}
        try:
            linear.load_state_dict(stored)
        except RuntimeError as error:
            raise ModelRejected(f"the weights in {self.path} do not fit: {error}") from error
        require_finite(linear.state_dict(), self.path)
        return nn.Sequential(linear, nn.Tanh() if self.activation == "tanh" else nn.Identity())
