"""`train retriever`: a student learns from scored lists to encode texts for an index."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from spanwise.errors import ModelRejected
from spanwise.types import RankingExample

from ...models.bert import Bert, bert_backbone
from ...models.load import n_positions, tuned_backbone
from ...models.model_files import (
    BUILTIN,
    STUDENT,
    builtin_folder,
    file_sha256,
    find_base,
    find_model,
    is_base,
    is_token_model,
)
from ...models.precision import pick_device
from ...models.token_model import (
    TokenModel,
    TokenModelSettings,
    load_token_model,
    punctuation_skiplist,
    save_token_model,
)
from ...models.tokenizer import TokenRows, load_tokenizer
from ...models.training import Progress, own_memory
from ...models.weights import read_checkpoint
from ...retrieval.training.distillation import (
    DistillationConfig,
    SecondTeacher,
    Student,
    distil,
    identity_head,
    student_scores,
    untrained_projection,
)
from .model_card import RUN, start_record, write_card

BASE = "base"
VOCABULARY = "vocab.txt"
WIDTH = 128  # of a token vector
AVERAGED = 4096  # passages that the untrained layer is centred on


def train_retriever(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    config: DistillationConfig | None = None,
    start: str = BASE,
    limit: int | None = None,
    second: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains a student, writes its folder `out` with a model card, and returns the evaluations.

    It starts from the built-in student ("builtin") or the folder of one, or from an encoder with untrained
    layers behind it: the base, or the layers of a deeper one (see `shallow`). `second` is the folder of an
    encoder with the vocabulary of the base that teaches beside the scores. The result has the weights with
    the best mean reciprocal rank of token vectors on the held-out lists; `dense_mrr` and `dense_first` are
    the figures of the dense heads. `out/run` holds the checkpoint: the same call resumes from it. ValueError
    for lists without scores, where there is no second teacher.
    """
    config = config or DistillationConfig()
    examples = drawn(examples, limit, config.loop.seed)
    folder = builtin_folder("token-encoder") if start == BUILTIN else Path(start)
    if is_token_model(folder):
        stored = load_token_model(folder)
        config = replace(config, states=0.0)  # those of a student may have become others
    else:
        positives = list(dict.fromkeys(example.passages[0] for example in examples))
        backbone = shallow(start)
        stored = untrained_student(backbone, positives[:AVERAGED], config.max_length)
    rows = token_rows(stored.backbone, stored.settings, config.max_length)
    heads = (stored.projection, stored.question_head, stored.passage_head)
    model = own_memory(Student(stored.backbone, *heads)).to(pick_device())

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        token_scores, dense_scores = student_scores(model, rows, held_out)
        dense = rank_figures(dense_scores, held_out)
        return rank_figures(token_scores, held_out) | {f"dense_{name}": dense[name] for name in dense}

    teacher = SecondTeacher(encoder_of(second).to(pick_device())) if second else None
    evaluations = distil(model, rows, examples, config, out / RUN, evaluate, "mrr", on_progress, teacher)
    model.cpu()
    save_token_model(out, stored)  # its layers are those of the student, trained in place
    weights = folder / STUDENT if is_token_model(folder) else None
    record = {**start_record(start, weights), "lists": len(examples)}
    write_card(out, "retriever", config, record, evaluations)
    return evaluations


def encoder_of(folder: Path) -> Bert:
    """The BERT of a folder; ModelRejected for another model, or one with another vocabulary than the base."""
    backbone = bert_backbone(read_checkpoint(folder))
    own = folder / VOCABULARY
    if backbone is None or not own.is_file() or file_sha256(own) != file_sha256(find_base() / VOCABULARY):
        raise ModelRejected(f"{folder} is not a BERT with the vocabulary of the base")
    return backbone


def shallow(name: str) -> Bert:
    """The encoder of that name with as many layers as the base: half from its start, half from its end.

    ModelRejected if it differs from the base in anything but the number of layers.
    """
    base, _ = tuned_backbone()
    if is_base(name):
        return base
    encoder = encoder_of(find_model(name))
    n = base.config.num_hidden_layers
    layers = list(cast("nn.ModuleList", encoder.encoder["layer"]))
    encoder.encoder["layer"] = nn.ModuleList(layers[: n // 2] + layers[n // 2 - n :])
    encoder.config = replace(encoder.config, num_hidden_layers=n)
    if encoder.config != base.config:
        raise ModelRejected(f"{name} has other sizes than the base")
    return encoder


def untrained_student(backbone: Bert, passages: Sequence[str], max_length: int) -> TokenModel:
    """A backbone with untrained layers, made for the states of these passages."""
    vocabulary = (find_base() / VOCABULARY).read_text(encoding="utf-8").splitlines()
    settings = TokenModelSettings(None, punctuation_skiplist(vocabulary))
    rows = token_rows(backbone, settings, max_length).of(passages)
    projection = untrained_projection(backbone, rows, WIDTH)
    n_in = backbone.config.hidden_size
    return TokenModel(backbone, projection, identity_head(n_in), identity_head(n_in), settings)


def token_rows(backbone: nn.Module, settings: TokenModelSettings, max_length: int) -> TokenRows:
    """The tokenizer of questions and passages, of at most `max_length` tokens per text."""
    limit = min(n for n in (max_length, settings.max_length, n_positions(backbone)) if n)
    return TokenRows(load_tokenizer(find_base()), limit, settings.skiplist)


def rank_figures(
    scores: Sequence[NDArray[np.float32]], held_out: Sequence[RankingExample]
) -> dict[str, float]:
    """`mrr`, the mean reciprocal rank of the best positive passage, and `first`, how often it is first.

    Equal scores count against the positive passage, and so does NaN. ValueError without lists.
    """
    if not held_out:
        raise ValueError("there are no held-out lists to select the weights by. Make some: train mine")
    ranks = [
        1 + int((~(row[example.n_positive :] < row[: example.n_positive].max())).sum())
        for example, row in zip(held_out, scores, strict=True)
    ]
    return {"mrr": fmean(1 / rank for rank in ranks), "first": fmean(rank == 1 for rank in ranks)}


def drawn(examples: Sequence[RankingExample], n: int | None, seed: int) -> Sequence[RankingExample]:
    """All examples, or `n` of them drawn by the seed."""
    return examples if n is None or n >= len(examples) else random.Random(seed).sample(list(examples), n)
