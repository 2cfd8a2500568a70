"""The states of a model's tokens, by the fastest forward pass that computes the model.

BERT and RoBERTa, with the exact GELU, run packed; every other model runs as its own library has it.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor, nn

from .packed_bert import PackedBert
from .packed_tokens import PackedTokens
from .precision import autocast, compute_dtype

# By `model_type`: the names that trunks of this kind have as classes and as parts of models with a head.
_PACKED = {
    "bert": ("BertModel", "Bert", "bert"),
    "dpr": ("BertModel", "bert_model"),
    "roberta": ("RobertaModel", "roberta"),
    "xlm-roberta": ("XLMRobertaModel", "roberta"),
}


class Trunk:
    """A transformer without a head, for inference: the weights must not change once it has computed."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._packed: dict[tuple[torch.dtype, torch.device], PackedBert] = {}
        self._packing = threading.Lock()

    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the model's device; in bf16 where that is fast."""
        if is_packable(self.model):
            return self._packed_model().states(tokens)
        return padded_forward(self.model, tokens, "last_hidden_state")

    def _packed_model(self) -> PackedBert:
        device = next(self.model.parameters()).device
        key = compute_dtype(device), device
        with self._packing:  # several threads may ask first
            if key not in self._packed:
                self._packed[key] = PackedBert(self.model, key[0], first_position(self.model))
        return self._packed[key]


def is_packable(model: nn.Module) -> bool:
    """True for a trunk whose forward pass is that of `PackedBert`."""
    config: Any = getattr(model, "config", None)
    names = _PACKED.get(getattr(config, "model_type", ""), ())
    flags = ("is_decoder", "add_cross_attention", "quantization_config")
    return (
        type(model).__name__ in names
        and getattr(config, "hidden_act", "gelu") == "gelu"
        and (getattr(config, "position_embedding_type", None) or "absolute") == "absolute"
        and not any(getattr(config, flag, None) for flag in flags)
    )


def packable_part(model: nn.Module) -> nn.Module | None:
    """The trunk inside a model with a head, if that trunk can run packed."""
    names = _PACKED.get(getattr(getattr(model, "config", None), "model_type", ""), ())
    part = getattr(model, names[-1], None) if names else None
    return part if isinstance(part, nn.Module) and is_packable(part) else None


def first_position(model: Any) -> int:
    """The row of the position table for the first token of a text: RoBERTa counts on from its padding."""
    return 0 if model.config.model_type in ("bert", "dpr") else model.embeddings.padding_idx + 1


@torch.inference_mode()
def padded_forward(model: Any, tokens: PackedTokens, *outputs: str) -> Tensor:
    """(T, ...) what the model itself says of each token, padded for it; several outputs are stacked last."""
    found = padded_outputs(model, tokens)
    present = torch.from_numpy(tokens.mask()).to(next(model.parameters()).device)
    kept = [getattr(found, name)[present] for name in outputs]
    return kept[0] if len(kept) == 1 else torch.stack(kept, dim=-1)


@torch.inference_mode()
def padded_outputs(model: Any, tokens: PackedTokens) -> Any:
    """What the model itself says of the sequences, padded for it."""
    device = next(model.parameters()).device
    pad = getattr(model.config, "pad_token_id", None) or 0
    given = (torch.from_numpy(values).to(device) for values in tokens.padded(pad))
    with autocast(device):
        return model(**taken_inputs(model, *given))


def taken_inputs(model: Any, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
    """The arguments of a model's forward pass, all (B, L): models without segments take none."""
    inputs = {"input_ids": ids, "attention_mask": mask}
    return inputs | ({"token_type_ids": types} if getattr(model.config, "type_vocab_size", 0) > 1 else {})
