"""`train cross-encoder`: learns to rank the passages of mined lists, and writes the model's folder."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from spanwise.types import RankingExample

from ...models.cross_encoder import CrossEncoder, PairScorer
from ...models.cross_encoder_models import DELTA
from ...models.delta import Precision
from ...models.locate import find_base
from ...models.precision import pick_device
from ...models.pretrained import load_tokenizer
from ...models.stored_model import save_tuned, tuned_trunk
from ...models.training import Progress, own_memory
from ...reader.load import DELTA as READER_DELTA
from ...reader.load import builtin_folder
from ...retrieval.training.cross_encoder import CrossEncoderRecipe, fine_tune_cross_encoder
from .ranking_quality import first_ranks
from .record import RUN, started, write_record

STARTS = ("base", "reader")


def train_cross_encoder(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    recipe: CrossEncoderRecipe,
    start: str = "reader",
    limit: int | None = None,
    precision: Precision = "int8",
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains, writes `out/cross-encoder.safetensors` and `out/training.json`, returns the evaluations.

    It begins with the base or with the built-in reader, which has learned to compare questions and passages
    already. The weights kept are those with the best mean reciprocal rank on the held-out lists; they are
    stored as differences from the base, in `precision`. `out/run` holds the checkpoint: the same call again
    goes on from there.
    """
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, not {start!r}")
    if limit is not None and limit < len(examples):
        examples = random.Random(recipe.loop.seed).sample(list(examples), limit)
    delta = builtin_folder() / READER_DELTA if start == "reader" else None
    torch.manual_seed(recipe.loop.seed)
    trunk, _ = tuned_trunk(delta)
    head = nn.Linear(trunk.config.hidden_size, 1)
    nn.init.normal_(head.weight, std=0.02)
    nn.init.zeros_(head.bias)
    model = PairScorer(own_memory(trunk), head).to(pick_device())
    tokenizer = load_tokenizer(find_base())

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        return first_ranks(CrossEncoder(model, tokenizer, "in training").score, held_out)

    evaluations = fine_tune_cross_encoder(
        model, tokenizer, examples, recipe, out / RUN, evaluate, "mrr", report
    )
    model.cpu()
    added = {f"head.{name}": tensor for name, tensor in head.state_dict().items()}
    save_tuned(out / DELTA, model.trunk, added, precision)
    data = {**started(start, delta), "lists": len(examples)}
    write_record(out, recipe, data, precision, evaluations)
    return evaluations
