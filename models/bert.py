"""The encoder of BERT and of MPNet: embeddings, layers of self-attention, and a head for answer spans.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019, section 3; the names of
the weights are those of BERT's published checkpoints, and those of MPNet are translated (`MPNET_NAMES`). Left
out: the pooler and everything else that inference does not need; transformers has these, but takes a second
to import. The modules here only hold weights: `packed` and `packed_training` compute the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from .numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS, PREFIX, BertConfig
from .weights import Checkpoint

MPNET = "mpnet"
MPNET_NAMES = {
    "attention.attn.q": "attention.self.query",
    "attention.attn.k": "attention.self.key",
    "attention.attn.v": "attention.self.value",
    "attention.attn.o": "attention.output.dense",
    "attention.LayerNorm": "attention.output.LayerNorm",
}
"""The parts of a layer whose names differ: MPNet's, and ours."""
_META = torch.device("meta")  # modules get no memory: their weights come from the checkpoint


class BertEmbeddings(nn.Module):
    """The sum of a token's word, position and segment vectors, normalised; MPNet has no segments."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = _embedding(config.vocab_size, size)
        unused = config.first_position - 1 if config.first_position else None
        self.position_embeddings = _embedding(config.max_position_embeddings, size, unused)
        if config.type_vocab_size:
            self.token_type_embeddings = _embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, config.layer_norm_eps, device=_META)


class BertLayer(nn.Module):
    """Self-attention, then two dense layers with a GELU between; each adds to its input and normalises."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        projections = {name: nn.Linear(size, size, device=_META) for name in ("query", "key", "value")}
        attended = _output(size, size, eps)
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(projections), "output": attended})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner, device=_META)})
        self.output = _output(inner, size, eps)


class Bert(nn.Module):
    """The encoder; it only holds weights: `packed` and `packed_training` compute token states from ids."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})
        if config.relative_attention_num_buckets:
            buckets = _embedding(config.relative_attention_num_buckets, config.num_attention_heads)
            self.encoder["relative_attention_bias"] = buckets


class BertSpanModel(nn.Module):
    """The encoder with one start and one end vector, and optionally the vectors of the evidence.

    `evidence_outputs` scores each token: EVIDENCE_OUTPUTS names its rows.
    """

    def __init__(self, config: BertConfig, evidence: bool = False) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2, device=_META)
        if evidence:
            self.evidence_outputs = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS), device=_META)


def bert_backbone(checkpoint: Checkpoint) -> Bert | None:
    """The encoder of a checkpoint, with or without a head, in float32; None if it is neither a plain BERT nor
    an MPNet.
    """
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    backbone = Bert(config)
    names = span_model_names(config, checkpoint.weights)
    weights = {ours.removeprefix(PREFIX): checkpoint.weights[theirs] for theirs, ours in names.items()}
    return backbone if _take(backbone, weights) else None


def bert_span_model(checkpoint: Checkpoint) -> BertSpanModel | None:
    """The span model of a checkpoint in float32; None if it is neither a plain BERT nor an MPNet, or lacks
    the head.
    """
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    model = BertSpanModel(config, evidence=f"{EVIDENCE_HEAD}.weight" in checkpoint.weights)
    names = span_model_names(config, checkpoint.weights)
    weights = {ours: checkpoint.weights[theirs] for theirs, ours in names.items()}
    return model if _take(model, weights) else None


def span_model_names(config: BertConfig, names: Iterable[str]) -> dict[str, str]:
    """Our name in a span model of each weight of a checkpoint, which may be an encoder alone.

    >>> mpnet = BertConfig(9, 8, 1, 2, 8, 8, model_type="mpnet")
    >>> span_model_names(mpnet, ["mpnet.encoder.layer.0.attention.attn.q.bias", "qa_outputs.bias"])
    {'mpnet.encoder.layer.0.attention.attn.q.bias': 'bert.encoder.layer.0.attention.self.query.bias', \
'qa_outputs.bias': 'qa_outputs.bias'}
    """
    renamed = {}
    for name in names:
        ours = name.removeprefix(f"{config.model_type}.")
        for theirs, other in MPNET_NAMES.items() if config.model_type == MPNET else ():
            ours = ours.replace(f".{theirs}.", f".{other}.")
        is_encoder = ours.startswith(("embeddings.", "encoder.", "pooler."))
        renamed[name] = PREFIX + ours if is_encoder else ours
    return renamed


def published_names(model: BertSpanModel) -> dict[str, str]:
    """The name in a published checkpoint of each weight of a span model, by ours."""
    if model.config.model_type != MPNET:
        return {name: name for name in model.state_dict()}
    published = {}
    for name in model.state_dict():
        theirs = f"{MPNET}.{name.removeprefix(PREFIX)}" if name.startswith(PREFIX) else name
        for mpnet, ours in MPNET_NAMES.items():
            theirs = theirs.replace(f".{ours}.", f".{mpnet}.")
        published[name] = theirs
    return published


def _take(model: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Puts the weights into the model without a copy; False if one is missing or has another shape."""
    needed = model.state_dict()
    if any(name not in weights or weights[name].shape != tensor.shape for name, tensor in needed.items()):
        return False
    model.load_state_dict({name: weights[name].float() for name in needed}, assign=True)
    model.requires_grad_(False).eval()
    return True


def _embedding(rows: int, size: int, unused: int | None = None) -> nn.Embedding:
    """An embedding from a given weight: drawing one at random on the meta device loads torch's compiler.

    `unused`: the last of the first rows that no token has.
    """
    empty = torch.empty(rows, size, device=_META)
    made: nn.Embedding = nn.Embedding.from_pretrained(empty, padding_idx=unused)
    return made


def _output(inner: int, size: int, eps: float) -> nn.ModuleDict:
    dense = nn.Linear(inner, size, device=_META)
    return nn.ModuleDict({"dense": dense, "LayerNorm": nn.LayerNorm(size, eps, device=_META)})
