"""`train reader`: fine-tunes a span reader on SQuAD-format files and writes its folder."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from ...corpora.sentences import sentence_spans
from ...corpora.squad import Article, SquadDataset
from ...models.delta import Precision
from ...models.loaded_tower import n_positions
from ...models.precision import pick_device
from ...models.training import Progress
from ...reader.load import SETTINGS, input_length
from ...reader.span_reader import SpanReader
from ...reader.training import ReaderExample, ReaderRecipe, fine_tune
from ...reader.unanswerable import unanswerable
from ..validation_split import split_articles
from .reader_quality import held_back_absent, reader_figures
from .reader_start import BASE, FRESH, reader_start
from .record import RUN, write_record

ABSENT: Mapping[str, float] = {"article": 0.33}  # unanswerable examples of each kind, for an answerable one
VALIDATION_QUESTIONS = 1000
VALIDATION_ABSENT = 100  # of each kind


def train_reader(
    datasets: Sequence[SquadDataset],
    out: Path,
    recipe: ReaderRecipe,
    limit: int | None = None,
    precision: Precision = "int8",
    start: str = FRESH,
    absent: Mapping[str, float] = ABSENT,
    report: Callable[[Progress], None] = lambda progress: None,
    *,
    base: str = BASE,
) -> list[dict[str, float]]:
    """Trains, writes the reader and `training.json` to `out`, returns the evaluations.

    Every answerable question of the training articles is used (or `limit` of them), and `absent` says how
    many unanswerable ones of which kinds are made from them. What it begins with, `base` or `start`, and
    what is written says `reader_start`. The weights kept are those with the best F1 on questions of the
    validation articles. `out/run` holds the checkpoint: the same call again goes on from there.
    """
    examples, held_out = split_examples(datasets, limit, recipe.loop.seed)
    made = unanswerable(examples, absent, recipe.loop.seed)
    begun = reader_start(base, start, recipe.loop.seed)
    model, tokenizer = begun.model.to(pick_device()), begun.tokenizer
    max_length, stride = input_length(model, begun.base)
    if recipe.max_length > (n_positions(model) or recipe.max_length):
        raise ValueError(
            f"max_length is {recipe.max_length}, {begun.base} reads {n_positions(model)} tokens at once"
        )
    held_out_absent = held_back_absent(held_out, VALIDATION_ABSENT)

    def as_reader(tuned: nn.Module) -> SpanReader:
        return SpanReader(
            tuned, tokenizer, "in training", max_length=max_length, stride=stride, split=sentence_spans
        )

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        return reader_figures(as_reader(tuned), held_out, held_out_absent)

    made_of = dict(begun.record)
    beside: dict[str, Any] = {name: made_of[name] for name in ("base_sha256",) if name in made_of}
    if begun.form != "differences":  # the other forms have no place for a sentence head
        recipe = replace(recipe, sentence_weight=0.0)
    evaluations = fine_tune(
        *(model, tokenizer, [*examples, *made], recipe, out / RUN, evaluate, report),
        split=sentence_spans,
        beside=beside,
    )
    declines = {"answers_null": bool(made)}
    model.cpu()
    begun.save(out, precision)
    (out / SETTINGS).write_text(json.dumps(declines) + "\n", encoding="utf-8")
    data = {"questions": len(examples), "absent": dict(absent), "absent_questions": len(made)}
    write_record(out, recipe, {**made_of, "form": begun.form, **declines, **data}, precision, evaluations)
    return evaluations


def split_examples(
    datasets: Sequence[SquadDataset], limit: int | None, seed: int
) -> tuple[list[ReaderExample], list[ReaderExample]]:
    """At most `limit` questions of the training articles, 1,000 of the others; ValueError without both."""
    training, validation = split_articles(article for dataset in datasets for article in dataset.articles)
    examples, held_out = examples_of(training), examples_of(validation)
    if limit is not None and limit < len(examples):
        examples = random.Random(seed).sample(examples, limit)
    if not examples or not held_out:
        raise ValueError(
            f"{len(examples)} training and {len(held_out)} validation questions; expected some of both"
        )
    return examples, random.Random(1).sample(held_out, min(VALIDATION_QUESTIONS, len(held_out)))


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
