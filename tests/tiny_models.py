"""Tiny models that the tests make: a BERT of two layers over the base's vocabulary of words."""

from __future__ import annotations

from pathlib import Path

import torch

from spanwise.models.locate import find_base

FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def tiny_config():
    from transformers import BertConfig

    return BertConfig(
        vocab_size=30522,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=512,
    )


def tiny_span_model(folder: Path, seed: int = 0) -> Path:
    """A question-answering model with random weights, saved as safetensors with the base's tokenizer."""
    from transformers import BertForQuestionAnswering

    torch.manual_seed(seed)
    BertForQuestionAnswering(tiny_config()).save_pretrained(folder)
    copy_tokenizer(folder)
    return folder


def tiny_encoder(folder: Path, seed: int = 0) -> Path:
    """An encoder with random weights, mean pooling."""
    from transformers import BertModel

    torch.manual_seed(seed)
    BertModel(tiny_config()).save_pretrained(folder)
    copy_tokenizer(folder)
    return folder


def copy_tokenizer(folder: Path) -> None:
    for name in FILES:
        (folder / name).write_bytes((find_base() / name).read_bytes())
