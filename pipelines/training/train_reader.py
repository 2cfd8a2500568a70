"""`train reader`: fine-tunes the span reader on SQuAD-format files and writes its folder."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from spanwise.types import RankingExample

from ...corpora.sentences import sentence_spans
from ...corpora.squad import Article, SquadDataset
from ...models.delta import Precision, apply_delta, read_delta, save_delta
from ...models.locate import BASE_SHA256, find_base
from ...models.precision import pick_device
from ...models.pretrained import load_span_model, load_tokenizer
from ...models.training import Progress, own_memory
from ...reader.absent.make import unanswerable
from ...reader.builtin import BUILTIN, DELTA, builtin_folder
from ...reader.examples import ReaderExample
from ...reader.sentence_head import NAME as SENTENCE_HEAD
from ...reader.sentence_head import add_sentence_head
from ...reader.span_reader import SpanReader
from ...reader.training import ReaderRecipe, fine_tune
from ..validation_split import split_articles
from .loss_curve import RUN
from .reader_quality import held_back_absent, reader_figures
from .record import started, write_record

ABSENT: Mapping[str, float] = {"article": 0.33}  # unanswerable examples of each kind, for an answerable one
VALIDATION_QUESTIONS = 1000
VALIDATION_ABSENT = 100  # of each kind
BASE = "base"


def train_reader(
    datasets: Sequence[SquadDataset],
    out: Path,
    recipe: ReaderRecipe,
    limit: int | None = None,
    precision: Precision = "int8",
    start: str = BASE,
    absent: Mapping[str, float] = ABSENT,
    lists: Iterable[RankingExample] = (),
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains, writes `out/reader.safetensors` and `out/training.json`, returns the evaluations.

    Every answerable question of the training articles is used (or `limit` of them), and `absent` says how
    many unanswerable ones of which kinds are made from them; `lists` hold the passages of the kind
    "retrieved". It begins with the base, the built-in reader, or that of a folder. The weights kept are those
    with the best F1 on questions of the validation articles. `out/run` holds the checkpoint: the same call
    again goes on from there.
    """
    examples, held_out = split_examples(datasets, limit, recipe.loop.seed)
    retrieved = {one.question: one.passages[one.n_positive :] for one in lists}
    made = unanswerable(examples, absent, recipe.loop.seed, retrieved)
    tokenizer = load_tokenizer(find_base())
    weights = {BASE: None, BUILTIN: builtin_folder() / DELTA}.get(start, Path(start) / DELTA)
    model = starting_reader(weights, recipe.loop.seed).to(pick_device())
    held_out_absent = held_back_absent(held_out, VALIDATION_ABSENT)

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        reader = SpanReader(tuned, tokenizer, "in training", split=sentence_spans)
        return reader_figures(reader, held_out, held_out_absent)

    evaluations = fine_tune(
        model, tokenizer, [*examples, *made], recipe, out / RUN, evaluate, report, sentence_spans
    )
    save_delta(out / DELTA, model.cpu().state_dict(), base_state(), BASE_SHA256, precision)
    data = {"questions": len(examples), "absent": dict(absent), "absent_questions": len(made)}
    write_record(out, recipe, {**started(start, weights), **data}, precision, evaluations)
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


def starting_reader(weights: Path | None, seed: int) -> nn.Module:
    """The base with a new head, or with the differences of a file, to be trained."""
    torch.manual_seed(seed)
    model = load_span_model(find_base())
    if weights is not None:
        if any(name.startswith(SENTENCE_HEAD) for name in read_delta(weights, BASE_SHA256)):
            add_sentence_head(model)
        apply_delta(model, weights, BASE_SHA256)
    return own_memory(model)


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


def base_state() -> Mapping[str, torch.Tensor]:
    """The weights of the base under the names of the span model, without the head, which it does not have."""
    state = load_span_model(find_base()).state_dict()
    return {name: tensor for name, tensor in state.items() if not name.startswith("qa_outputs")}
