"""Loads networks from a folder: safetensors only, no code of the folder, finite weights.

A plain BERT or MPNet is computed by `bert`, also in training, without transformers, whose import takes longer
than the rest of a question. Every other network comes from transformers.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .bert import Bert, BertSpanModel, bert_backbone, bert_span_model, published_names
from .model_files import CONFIG, WEIGHTS, checked_folder, find_base, read_json, weight_names
from .numpy_bert import PREFIX, SPAN_HEAD, BertConfig
from .tokenizer import LOCAL, load_tokenizer, quietly
from .weights import Checkpoint, read_checkpoint, require_finite, tuned_weights

ARCHITECTURES = {"bert": "BertForQuestionAnswering", "mpnet": "MPNetForQuestionAnswering"}
HEAD_STD = 0.02  # of the weights of a new head


def tuned_backbone(delta: Path | None = None) -> tuple[Bert, dict[str, Tensor]]:
    """The base with the changes of a delta file, in float32, and the weights that the file adds, by name.

    Without a file it is the base itself. ModelRejected for a file that does not fit the base.
    """
    base = find_base()
    checkpoint = read_checkpoint(base)
    weights = checkpoint.weights
    if delta is not None:
        weights = tuned_weights(weights, delta, PREFIX)
    backbone = bert_backbone(Checkpoint(checkpoint.config, weights))
    if backbone is None:
        raise ModelRejected(f"{delta or base} does not describe a model over the base")
    return backbone, {name: tensor for name, tensor in weights.items() if name not in checkpoint.weights}


def linear(weights: Mapping[str, Tensor], name: str, source: object) -> nn.Linear:
    """The linear layer of that name in float32, for inference; ModelRejected if its tensors do not fit."""
    weight = weights[f"{name}.weight"].float()
    bias = weights[f"{name}.bias"].float()
    if weight.dim() != 2 or bias.shape != weight.shape[:1] or 0 in weight.shape:
        raise ModelRejected(f"{source}: {name} has a weight of {weight.shape} and a bias of {bias.shape}")
    layer = nn.Linear(weight.shape[1], weight.shape[0], device=torch.device("meta"))
    layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)
    return layer.requires_grad_(False)


def base_tokenizer(backbone: nn.Module) -> Any:
    """The tokenizer of the base, checked against the vocabulary of a backbone over the base."""
    base = find_base()
    tokenizer = load_tokenizer(base)
    check_vocabulary(tokenizer, backbone, base)
    return tokenizer


def delta_span_model(delta: Path) -> BertSpanModel:
    """The span model of a delta file over the base, in float32; ModelRejected if it does not fit."""
    checkpoint = read_checkpoint(find_base())
    base = {PREFIX + name: tensor for name, tensor in checkpoint.weights.items()}
    model = bert_span_model(Checkpoint(checkpoint.config, tuned_weights(base, delta)))
    if model is None:
        raise ModelRejected(f"{delta} does not describe a reader over the base")
    return model


def load_span_reader(folder: Path) -> nn.Module:
    """The question-answering model of a folder, in float32 and in inference mode.

    ModelRejected for a model with another head, or with none, whose answers would be random.
    """
    checked_folder(folder)
    if (folder / WEIGHTS).is_file() and BertConfig.read(read_json(folder / CONFIG)) is not None:
        checkpoint = read_checkpoint(folder)
        require_finite(checkpoint.weights, folder)
        span_model = bert_span_model(checkpoint)
        if span_model:
            return span_model
    model = load_span_model(folder)
    names = (name for path in folder.glob("*.safetensors") for name in weight_names(path))
    if not any(name.startswith(f"{SPAN_HEAD}.") for name in names):
        kinds = read_json(folder / CONFIG).get("architectures")
        raise ModelRejected(f"{folder} is no question-answering model ({kinds}): it lacks {SPAN_HEAD}.weight")
    return model


def load_span_model(folder: Path) -> nn.Module:
    """The question-answering model of a folder for training, of transformers where it is no BERT or MPNet.

    A folder without such a head (the base) gets a new one, drawn from torch's generator. ModelRejected for a
    model with a decoder, and for one whose head is not one start and one end vector.
    """
    checked_folder(folder)
    own = _own_span_model(folder) if (folder / WEIGHTS).is_file() else None
    if own is not None:
        return own
    from transformers import AutoModelForQuestionAnswering

    network = load_network(AutoModelForQuestionAnswering, folder, may_lack=(f"{SPAN_HEAD}.",))
    settings: Any = network.config
    if settings.is_encoder_decoder:
        raise ModelRejected(f"{folder} is a {settings.model_type} with a decoder, expected an encoder alone")
    if getattr(getattr(network, SPAN_HEAD, None), "out_features", None) != 2:
        raise ModelRejected(f"{folder}: a {settings.model_type} has no head of one start and one end vector")
    return network


def save_span_model(folder: Path, model: BertSpanModel, start: Path) -> None:
    """Writes a span model as transformers names its weights; `start` is the folder it was loaded from."""
    names = published_names(model)
    weights = {names[name]: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    settings = dict(read_json(start / CONFIG))
    settings["architectures"] = [ARCHITECTURES[model.config.model_type]]
    (folder / CONFIG).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def load_network(factory: Any, folder: Path, may_lack: tuple[str, ...]) -> nn.Module:
    """The network that a class of transformers loads from a folder.

    ModelRejected for weights that are not finite, and if any weight is missing whose name does not start with
    one of `may_lack`.
    """
    from transformers import AutoConfig

    checked_folder(folder)
    with quietly(folder):
        config = AutoConfig.from_pretrained(str(folder), **LOCAL)
        if hasattr(config, "attention_probs_dropout_prob"):
            config.attention_probs_dropout_prob = 0.0
        model, loading = factory.from_pretrained(
            str(folder),
            config=config,
            use_safetensors=True,
            attn_implementation=None,  # fused where the model has it, whatever the folder names
            dtype=torch.float32,
            output_loading_info=True,
            **LOCAL,
        )
    missing = [name for name in sorted(loading["missing_keys"]) if not name.startswith(may_lack)]
    if missing:
        raise ModelRejected(f"{folder} lacks {len(missing)} of its weights, such as {missing[0]}")
    require_finite(model.state_dict(), folder)
    network: nn.Module = model.eval()
    return network


def n_positions(network: nn.Module) -> int | None:
    """The number of tokens that a network has positions for, or None without such a limit.

    RoBERTa and its relatives count positions from behind the one of padding.
    """
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    positions: int | None = getattr(network.config, "max_position_embeddings", None)
    return positions


def check_vocabulary(tokenizer: Any, model: nn.Module, source: object) -> None:
    """Raises ModelRejected if the tokenizer makes ids for which the model has no embedding."""
    config: Any = model.config
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= config.vocab_size:
        raise ModelRejected(
            f"{source}: its tokenizer makes ids up to {largest}, its vocabulary has {config.vocab_size}"
        )


def _own_span_model(folder: Path) -> BertSpanModel | None:
    """The span model of a folder with a BERT or an MPNet; None for another one, or without some weights."""
    config = BertConfig.read(read_json(folder / CONFIG))
    if config is None:
        return None
    checkpoint = read_checkpoint(folder)
    require_finite(checkpoint.weights, folder)
    head = {
        f"{SPAN_HEAD}.weight": HEAD_STD * torch.randn(2, config.hidden_size),
        f"{SPAN_HEAD}.bias": torch.zeros(2),
    }
    return bert_span_model(Checkpoint(checkpoint.config, head | checkpoint.weights))
