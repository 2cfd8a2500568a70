"""The encoder of BERT and of MPNet: embeddings, layers of self-attention, and a head for answer spans.

The modules here only hold weights: `packed_forward` and `packed_training` compute the states. The names of
the weights are those of BERT's published checkpoints; those of MPNet are translated (`MPNET_NAMES`). Left
out: the pooler and everything else that inference does not need. transformers has these, but takes a second
to import.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019, section 3.
"""

from collections.abc import Iterable
from typing import TypeVar

import torch
from torch import nn

from .numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS, PREFIX, BertConfig
from .weights import Checkpoint

Model = TypeVar("Model", "Bert", "BertSpanModel")
MPNET = "mpnet"
MPNET_NAMES = {
    "attention.attn.q": "attention.self.query",
    "attention.attn.k": "attention.self.key",
    "attention.attn.v": "attention.self.value",
    "attention.attn.o": "attention.output.dense",
    "attention.LayerNorm": "attention.output.LayerNorm",
}
"""Our name for each part of a layer that MPNet names differently."""
_META = torch.device("meta")  # modules get no memory, because their weights come from the checkpoint


class BertEmbeddings(nn.Module):
    """The sum of a token's word, position and segment vectors, normalised; MPNet has no segments."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = _embedding(config.vocab_size, size)
        last_unused = config.first_position - 1 if config.first_position else None
        self.position_embeddings = _embedding(config.max_position_embeddings, size, last_unused)
        if config.type_vocab_size:
            self.token_type_embeddings = _embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, config.layer_norm_eps, device=_META)


class BertLayer(nn.Module):
    """Self-attention, then two dense layers with a GELU between them; both add their input and normalise."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        inner = config.intermediate_size
        projections = {name: nn.Linear(size, size, device=_META) for name in ("query", "key", "value")}
        attention_output = _output(size, size, config.layer_norm_eps)
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(projections), "output": attention_output})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner, device=_META)})
        self.output = _output(inner, size, config.layer_norm_eps)


class Bert(nn.Module):
    """The weights of the encoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})
        if config.relative_attention_num_buckets:
            biases = _embedding(config.relative_attention_num_buckets, config.num_attention_heads)
            self.encoder["relative_attention_bias"] = biases


class BertSpanModel(nn.Module):
    """The encoder with a head of one start and one end vector, and optionally a head of evidence.

    qa_outputs: the start and the end logit of a token.
    evidence_outputs: the logits of a token that EVIDENCE_OUTPUTS names.
    """

    def __init__(self, config: BertConfig, evidence: bool = False) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2, device=_META)
        if evidence:
            self.evidence_outputs = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS), device=_META)


def bert_backbone(checkpoint: Checkpoint) -> Bert | None:
    """The encoder of a checkpoint, with or without a head, in float32.

    None if it is neither a plain BERT nor an MPNet, or lacks a weight.
    """
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    return _with_weights(Bert(config), checkpoint, PREFIX)


def bert_span_model(checkpoint: Checkpoint, keeps_bf16: bool = False) -> BertSpanModel | None:
    """The span model of a checkpoint in float32, for inference also with the weights in bf16 that are so.

    None if it is neither a plain BERT nor an MPNet, or lacks a weight or the head.
    """
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    has_evidence = f"{EVIDENCE_HEAD}.weight" in checkpoint.weights
    return _with_weights(BertSpanModel(config, has_evidence), checkpoint, keeps_bf16=keeps_bf16)


def span_model_names(config: BertConfig, names: Iterable[str]) -> dict[str, str]:
    """Our name for each weight of a checkpoint, in a span model; the checkpoint may be an encoder alone.

    >>> mpnet = BertConfig(9, 8, 1, 2, 8, 8, model_type="mpnet")
    >>> span_model_names(mpnet, ["mpnet.encoder.layer.0.attention.attn.q.bias", "qa_outputs.bias"])
    {'mpnet.encoder.layer.0.attention.attn.q.bias': 'bert.encoder.layer.0.attention.self.query.bias', \
'qa_outputs.bias': 'qa_outputs.bias'}
    """
    renamed = {}
    for name in names:
        ours = name.removeprefix(f"{config.model_type}.")
        if config.model_type == MPNET:
            for mpnet_part, part in MPNET_NAMES.items():
                ours = ours.replace(f".{mpnet_part}.", f".{part}.")
        is_encoder = ours.startswith(("embeddings.", "encoder.", "pooler."))
        renamed[name] = PREFIX + ours if is_encoder else ours
    return renamed


def published_names(model: BertSpanModel) -> dict[str, str]:
    """The name in a published checkpoint for each weight of a span model."""
    if model.config.model_type != MPNET:
        return {name: name for name in model.state_dict()}
    published = {}
    for name in model.state_dict():
        theirs = f"{MPNET}.{name.removeprefix(PREFIX)}" if name.startswith(PREFIX) else name
        for mpnet_part, part in MPNET_NAMES.items():
            theirs = theirs.replace(f".{part}.", f".{mpnet_part}.")
        published[name] = theirs
    return published


def _with_weights(
    model: Model, checkpoint: Checkpoint, prefix: str = "", keeps_bf16: bool = False
) -> Model | None:
    """The model with the weights of a checkpoint, not copied; None if one is missing or has another shape.

    `prefix`: left out of our names in a span model.
    """
    names = span_model_names(model.config, checkpoint.weights)
    weights = {ours.removeprefix(prefix): checkpoint.weights[theirs] for theirs, ours in names.items()}
    needed = model.state_dict()
    if any(name not in weights or weights[name].shape != tensor.shape for name, tensor in needed.items()):
        return None
    precisions = (torch.float32, torch.bfloat16) if keeps_bf16 else (torch.float32,)
    state = {
        name: weights[name] if weights[name].dtype in precisions else weights[name].float() for name in needed
    }
    model.load_state_dict(state, assign=True)
    model.requires_grad_(False).eval()
    return model


def _embedding(rows: int, size: int, last_unused: int | None = None) -> nn.Embedding:
    """An embedding made from an empty weight, because drawing a random one loads torch's compiler.

    `last_unused`: the last of the first rows that no token has.
    """
    empty = torch.empty(rows, size, device=_META)
    embedding: nn.Embedding = nn.Embedding.from_pretrained(empty, padding_idx=last_unused)
    return embedding


def _output(inner: int, size: int, eps: float) -> nn.ModuleDict:
    dense = nn.Linear(inner, size, device=_META)
    return nn.ModuleDict({"dense": dense, "LayerNorm": nn.LayerNorm(size, eps, device=_META)})
