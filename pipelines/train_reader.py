"""`train reader`: fine-tunes the span reader on SQuAD-format files and writes its folder."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from ..corpora.squad import Article, SquadDataset
from ..eval.squad import score_v1
from ..models.delta import Precision, save_delta
from ..models.locate import BASE_SHA256, find_base
from ..models.precision import pick_device
from ..models.pretrained import load_span_model, load_tokenizer
from ..models.training import Progress
from ..reader.builtin import DELTA
from ..reader.examples import ReaderExample, unanswerable
from ..reader.span_reader import SpanReader
from ..reader.training import ReaderRecipe, fine_tune
from .evaluation.squad import GoldQuestion, predict
from .training.loss_curve import RUN
from .training.record import write_record
from .validation_split import split_articles

ABSENT_SHARE = 0.33
VALIDATION_QUESTIONS = 1000


def train_reader(
    datasets: Sequence[SquadDataset],
    out: Path,
    recipe: ReaderRecipe,
    limit: int | None = None,
    precision: Precision = "int8",
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains from the base, writes `out/reader.safetensors` and `out/training.json`, returns the evaluations.

    Every answerable question of the training articles is used (or `limit` of them), and a third as many
    unanswerable ones made from them. The weights kept are those with the best F1 on questions of the
    validation articles. `out/run` holds the checkpoint: the same call again goes on from there.
    """
    training, validation = split_articles(article for dataset in datasets for article in dataset.articles)
    examples = examples_of(training)
    if limit is not None and limit < len(examples):
        examples = random.Random(recipe.loop.seed).sample(examples, limit)
    held_out = examples_of(validation)
    held_out = random.Random(1).sample(held_out, min(VALIDATION_QUESTIONS, len(held_out)))
    if not examples or not held_out:
        raise ValueError(
            f"{len(examples)} training and {len(held_out)} validation questions; expected some of both"
        )
    base = find_base()
    torch.manual_seed(recipe.loop.seed)
    tokenizer, model = load_tokenizer(base), load_span_model(base).to(pick_device())
    evaluations = fine_tune(
        model,
        tokenizer,
        [*examples, *unanswerable(examples, ABSENT_SHARE, recipe.loop.seed)],
        recipe,
        out / RUN,
        lambda tuned: evaluate_reader(SpanReader(tuned, tokenizer, "in training"), held_out),
        report,
    )
    save_delta(out / DELTA, model.cpu().state_dict(), load_span_model_state(base), BASE_SHA256, precision)
    data = {"questions": len(examples), "absent_share": ABSENT_SHARE}
    write_record(out, recipe, data, precision, evaluations)
    return evaluations


def examples_of(articles: Sequence[Article]) -> list[ReaderExample]:
    """One example for each answerable question, with its first gold answer."""
    return [
        ReaderExample(
            q.id, q.text, p.context, q.answers[0].start, q.answers[0].start + len(q.answers[0].text), a.title
        )
        for a in articles
        for p in a.paragraphs
        for q in p.questions
        if q.answers
    ]


def evaluate_reader(reader: SpanReader, held_out: Sequence[ReaderExample]) -> Mapping[str, float]:
    """Exact match and F1, in percent, on answerable examples, none declined."""
    questions = [GoldQuestion(e.id, e.question, e.passage, (e.answer,)) for e in held_out]
    scores = score_v1({q.id: q.answers for q in questions}, predict(reader, questions, may_decline=False))
    return {"exact": scores["exact_match"], "f1": scores["f1"]}


def load_span_model_state(base: Path) -> Mapping[str, torch.Tensor]:
    """The weights of the base under the names of the span model, without the head, which it does not have."""
    model: nn.Module = load_span_model(base)
    return {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("qa_outputs")}
