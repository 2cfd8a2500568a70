"""`train retriever`: a student learns from scored lists to encode texts for an index."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from spanwise.types import RankingExample

from ...models.load import n_positions, tuned_backbone
from ...models.model_files import BUILTIN, STUDENT, builtin_folder, find_base
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
from ...retrieval.training.distillation import (
    DistillationConfig,
    Student,
    distil,
    identity_head,
    student_scores,
    untrained_projection,
)
from .model_card import RUN, start_record, write_card

BASE = "base"
WIDTH = 128  # of a token vector
AVERAGED = 4096  # passages that the untrained layer is centred on


def train_retriever(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    config: DistillationConfig | None = None,
    start: str = BASE,
    limit: int | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains a student, writes its folder `out` with a model card, and returns the evaluations.

    It starts from the base with untrained layers behind it, from the built-in student ("builtin"), or from a
    folder. The result has the weights with the best mean reciprocal rank of token vectors on the held-out
    lists; `dense_mrr` and `dense_first` are the figures of the dense heads. `out/run` holds the checkpoint:
    the same call resumes from it. ValueError for lists without scores.
    """
    config = config or DistillationConfig()
    examples = drawn(examples, limit, config.loop.seed)
    folder = {BASE: None, BUILTIN: builtin_folder("token-encoder")}.get(start, Path(start))
    if folder:
        stored = load_token_model(folder)
    else:
        positives = list(dict.fromkeys(example.passages[0] for example in examples))
        stored = untrained_student(positives[:AVERAGED], config.max_length, config.loop.seed)
    rows = token_rows(stored.backbone, stored.settings, config.max_length)
    heads = (stored.projection, stored.question_head, stored.passage_head)
    model = own_memory(Student(stored.backbone, *heads)).to(pick_device())

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        token_scores, dense_scores = student_scores(model, rows, held_out)
        dense = rank_figures(dense_scores, held_out)
        return rank_figures(token_scores, held_out) | {f"dense_{name}": dense[name] for name in dense}

    evaluations = distil(model, rows, examples, config, out / RUN, evaluate, "mrr", on_progress)
    model.cpu()
    save_token_model(out, stored)  # its layers are those of the student, trained in place
    weights = folder / STUDENT if folder else None
    record = {**start_record(start, weights), "lists": len(examples)}
    write_card(out, "retriever", config, record, evaluations)
    return evaluations


def untrained_student(passages: Sequence[str], max_length: int, seed: int) -> TokenModel:
    """The base with untrained layers, centred on the states of these passages."""
    torch.manual_seed(seed)
    backbone, _ = tuned_backbone()
    vocabulary = (find_base() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    settings = TokenModelSettings(None, punctuation_skiplist(vocabulary))
    rows = token_rows(backbone, settings, max_length).of(passages)
    projection = untrained_projection(backbone, rows, WIDTH, seed)
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
