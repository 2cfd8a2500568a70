"""`train reranker`: a cross-encoder learns to rank the passages of mined lists."""

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

from ...models.cross_encoder import CrossEncoder, PairScorer
from ...models.load import load_tokenizer, tuned_backbone
from ...models.locate import CROSS_ENCODER, find_base
from ...models.precision import pick_device
from ...models.training import Progress, own_memory
from ...models.weights import Precision, save_tuned
from ...reader.load import DELTA as READER_DELTA
from ...reader.load import builtin_folder
from ...retrieval.training.cross_encoder import CrossEncoderConfig, fine_tune
from .model_card import RUN, start_record, write_card

STARTS = ("base", "reader")


def train_reranker(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    config: CrossEncoderConfig | None = None,
    start: str = "reader",
    limit: int | None = None,
    precision: Precision = "int8",
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains a cross-encoder, writes its folder `out` with a model card, and returns the evaluations.

    It starts from the base, or from the built-in reader, which compares questions and passages. The weights
    with the best mean reciprocal rank on the held-out lists are kept, as differences from the base in
    `precision`. `out/run` holds the checkpoint: the same call resumes from there.
    """
    config = config or CrossEncoderConfig()
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, not {start!r}")
    examples = drawn(examples, limit, config.loop.seed)
    delta = builtin_folder() / READER_DELTA if start == "reader" else None
    torch.manual_seed(config.loop.seed)
    backbone, _ = tuned_backbone(delta)
    head = nn.Linear(backbone.config.hidden_size, 1)
    nn.init.normal_(head.weight, std=0.02)
    nn.init.zeros_(head.bias)
    model = PairScorer(own_memory(backbone), head).to(pick_device())
    tokenizer = load_tokenizer(find_base())

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        scorer = CrossEncoder(model, tokenizer, "in training")
        found = scorer.score([one.question for one in held_out], [one.passages for one in held_out])
        return rank_figures(found, held_out)

    evaluations = fine_tune(model, tokenizer, examples, config, out / RUN, evaluate, "mrr", on_progress)
    model.cpu()
    added = {f"head.{name}": tensor for name, tensor in head.state_dict().items()}
    save_tuned(out / CROSS_ENCODER, model.backbone, added, precision)
    record = {**start_record(start, delta), "lists": len(examples), "precision": precision}
    write_card(out, "reranker", config, record, evaluations)
    return evaluations


def rank_figures(
    scores: Sequence[NDArray[np.float32]], held_out: Sequence[RankingExample]
) -> dict[str, float]:
    """`mrr`, the mean reciprocal rank of the best positive passage, and `first`, how often it is first.

    Equal scores count against the positive passage, and so does NaN. ValueError without lists.
    """
    if not held_out:
        raise ValueError("there are no held-out lists to select the weights by. Make some: train mine")
    ranks = [
        1 + int((~(found[one.n_positive :] < found[: one.n_positive].max())).sum())
        for one, found in zip(held_out, scores, strict=True)
    ]
    return {"mrr": fmean(1 / rank for rank in ranks), "first": fmean(rank == 1 for rank in ranks)}


def drawn(examples: Sequence[RankingExample], n: int | None, seed: int) -> Sequence[RankingExample]:
    """All examples, or `n` of them drawn by the seed."""
    return examples if n is None or n >= len(examples) else random.Random(seed).sample(list(examples), n)
