"""A tiny student model and lists to train it with, in which the name of a thing marks the right passage."""

import torch
from torch import nn

from helpers.tiny_models import tiny_config
from spanwise.models.bert import bert_backbone
from spanwise.models.model_files import find_base
from spanwise.models.tokenizer import TokenRows, load_tokenizer
from spanwise.models.weights import Checkpoint
from spanwise.retrieval.training.distillation import Student
from spanwise.types import RankingExample

THINGS = tuple("mill tram weir bridge school church harbour tower museum garden hospital".split())
HELD_OUT = ("library", "castle", "market", "palace")
EASY = "Nobody goes to the sea when it rains."


def tiny_student(seed: int = 0, width: int = 8) -> Student:
    """A BERT of two layers with random weights, in the class of the base, and random layers behind it."""
    from transformers import BertModel

    torch.manual_seed(seed)
    weights = BertModel(tiny_config()).state_dict()
    backbone = bert_backbone(Checkpoint(tiny_config().to_dict(), weights))
    assert backbone is not None
    backbone.requires_grad_(True)
    return Student(backbone, nn.Linear(16, width), nn.Linear(16, 16), nn.Linear(16, 16))


ROWS = TokenRows(load_tokenizer(find_base()), 64, skiplist=(".",))


def lists_of(things: tuple[str, ...]) -> list[RankingExample]:
    """For each thing a scored list: the answer, the same sentence about another thing, an easy negative."""
    return [
        RankingExample(
            f"Who built the {thing}?",
            (f"The {thing} was built by Ada Rook.", f"The {other} was made by Ute Falk.", EASY),
            1,
            (6.0, 2.0, -4.0),
        )
        for thing, other in zip(things, things[1:] + things[:1], strict=True)
    ]
