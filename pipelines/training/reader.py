"""`train reader`: fine-tunes a span reader on SQuAD-format files and questions about folders.

A reader over the built-in base is stored as differences from it, one over another encoder as a whole folder
of transformers.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spanwise.types import Passage, ScoredSpan

from ...corpora.datasets.squad import SquadArticle, SquadDataset
from ...corpora.sentences import sentence_spans
from ...eval.squad import score_v1
from ...models.bert import BertSpanModel
from ...models.load import delta_span_model, load_span_model, n_positions, save_span_model
from ...models.model_files import BUILTIN, builtin_folder, file_sha256, find_base, find_model, is_base
from ...models.numpy_bert import SPAN_HEAD
from ...models.precision import pick_device
from ...models.tokenizer import VOCABULARIES, load_tokenizer
from ...models.training import Progress, own_memory
from ...models.weights import save_delta
from ...reader.evidence import score_over_null
from ...reader.labels import LabelStore
from ...reader.load import DELTA, SETTINGS, input_length
from ...reader.protocol import Reader
from ...reader.span_reader import SpanReader, SpanScores
from ...reader.training import RECIPES, ReaderExample, ReaderTrainingConfig, fine_tune
from ...reader.unanswerable import KINDS, unanswerable
from .model_card import RUN, start_record, write_card
from .questions import SHORTENED, folder_examples, is_validation, listed_examples, shortened

BASE = "base"
UNANSWERABLE = 0.33  # questions that an article's other passages do not answer, for each answerable one
FOLDER_SQUAD = 60000  # SQuAD questions beside those about folders
CHANGED = 2500  # examples with another number, as many with another name, and as many with another rank
MIN_VALIDATION = 200  # questions; between these limits, the number of questions to train on
MAX_VALIDATION = 1000
VALIDATION_UNANSWERABLE = 100  # of each kind
NO_VERDICT = (0.0, -1.0, -1.0)  # labels of SQuAD: its questions do not ask whether something is so
SEED = 1  # of the validation questions
Split = tuple[list[ReaderExample], list[ReaderExample]]
"""Examples to train on, and held-out ones."""
_TOKENIZER = (
    *VOCABULARIES,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
)


def train_reader(
    datasets: Sequence[SquadDataset],
    out: Path,
    recipe: ReaderTrainingConfig | None = None,
    limit: int | None = None,
    start: str = BASE,
    shares: Mapping[str, float] | None = None,
    folders: Path | None = None,
    mined: Path | None = None,
    labels: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains a reader, writes its folder `out` with a model card, and returns the evaluations.

    For the data see `training_examples`, for `start` see `ReaderStart.load`. `mined` keeps the passages that
    are mined for questions about folders. `labels` is a folder of `label`: a teacher's scores to learn from.
    The result has the weights with the best F1 on the validation articles, or the last ones without any.
    `out/run` holds the checkpoint: the same call resumes from it.
    """
    recipe = recipe or RECIPES["folder" if folders else "squad"]
    shares = {"article": UNANSWERABLE} if shares is None else shares
    store = LabelStore.open(labels) if labels else None
    examples, held_out = training_examples(
        datasets, limit, shares, recipe.loop.seed, folders, mined or out / RUN, recipe.negatives, store
    )
    begun = ReaderStart.load(start, recipe.loop.seed)
    model = begun.model.to(pick_device())
    max_length, stride = input_length(model, begun.base)
    if recipe.max_length > (n_positions(model) or recipe.max_length):
        raise ValueError(f"max_length is {recipe.max_length}, but {start} reads {n_positions(model)} tokens")
    held_back = {kind: unanswerable(held_out, {kind: 1.0}, SEED)[:VALIDATION_UNANSWERABLE] for kind in KINDS}

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        if not held_out:
            return {}
        scores = SpanScores(tuned)
        reading = SpanReader(scores, begun.tokenizer, "in training", max_length=max_length, stride=stride)
        return reader_figures(reading, held_out, held_back)

    evaluations = fine_tune(
        model,
        begun.tokenizer,
        examples,
        recipe,
        out / RUN,
        evaluate,
        on_progress,
        sentence_spans,
        evidence=begun.takes_evidence,
        select_by="f1" if held_out else "step",
        labels=store,
    )
    model.cpu()
    begun.save(out)
    n_answered = sum(example.start is not None for example in examples)
    answers_null = n_answered < sum(len(example.texts) for example in examples)
    (out / SETTINGS).write_text(json.dumps({"answers_null": answers_null}) + "\n", encoding="utf-8")
    counts = {"questions": n_answered, "unanswerable": len(examples) - n_answered, "shares": dict(shares)}
    write_card(out, "reader", recipe, {**begun.record, **counts}, evaluations)
    return evaluations


def training_examples(
    datasets: Sequence[SquadDataset],
    limit: int | None,
    shares: Mapping[str, float],
    seed: int,
    folders: Path | None,
    run: Path,
    negatives: int,
    labels: LabelStore | None,
) -> Split:
    """The examples to train on, and held-out ones of SQuAD.

    Without folders these are the answerable questions of the training articles, or `limit` of them, and
    `shares` gives the number of unanswerable questions of each kind for an answerable one. With folders
    (see `questions`) they are the questions about these, and FOLDER_SQUAD of SQuAD, or `limit`. The
    share of "article" is then that of questions with another passage as a negative, SHORTENED that of those
    with their own passage shortened, and CHANGED of each other kind are made.
    """
    if folders is None:
        examples, held_out = split_examples(datasets, limit, seed)
        return [*examples, *unanswerable(examples, shares, seed)], held_out
    about_folders = (
        listed_examples(folders, run, seed, negatives, labels)
        if negatives
        else folder_examples(folders, run, seed)
    )
    if not datasets:
        return about_folders, []
    of_squad, held_out = beside_folders(datasets, limit or FOLDER_SQUAD, shares.get("article", 0), seed)
    return [*about_folders, *of_squad], held_out


def beside_folders(datasets: Sequence[SquadDataset], limit: int, article: float, seed: int) -> Split:
    """The examples of SQuAD beside those about folders, and held-out ones.

    There are at most `limit` of the former, and the changed ones. `article` is the share of questions with
    another passage of the article as a negative.
    """
    every, held_out = split_examples(datasets, None, seed)
    changed = dict.fromkeys(("figures", "names", "ranks"), min(1.0, CHANGED / len(every)))
    rivals = {rival.id: rival.passage for rival in unanswerable(every, {"article": article}, seed)}
    rng = random.Random(seed)
    examples = []
    for example in rng.sample(every, min(limit, len(every))):
        cut = None
        if rng.random() < SHORTENED:
            cut = shortened(example.passage, example.start, example.end)
        others = [text for text in (rivals.get(f"{example.id}-article"), cut) if text]
        examples.append(replace(example, negatives=tuple(("", text) for text in others)))
    return [*examples, *unanswerable(every, changed, seed)], held_out


@dataclass(frozen=True, slots=True)
class ReaderStart:
    """A model to train in place.

    model: the model.
    tokenizer: of its encoder.
    folder: of its encoder.
    base: the name of its encoder.
    record: the entries of the model card about the start.
    """

    model: nn.Module
    tokenizer: Any
    folder: Path
    base: str
    record: Mapping[str, Any]

    @classmethod
    def load(cls, start: str, seed: int) -> ReaderStart:
        """The model that a name stands for.

        "base" is a new head over the built-in base. A folder or name@revision of an encoder gets a new head
        unless it has one. "builtin", or a folder of `train reader`, is a reader to continue.
        """
        torch.manual_seed(seed)
        delta = (builtin_folder("reader") if start == BUILTIN else Path(start).expanduser()) / DELTA
        if start != BASE and delta.is_file():
            model = own_memory(delta_span_model(delta))
            return cls(model, load_tokenizer(find_base()), find_base(), BASE, start_record(start, delta))
        folder = find_model(start)
        record: dict[str, Any] = {**start_record(start, None)}
        if not is_base(start):
            record["base"] = start
            record["base_sha256"] = [file_sha256(path) for path in sorted(folder.glob("*.safetensors"))]
        return cls(own_memory(load_span_model(folder)), load_tokenizer(folder), folder, start, record)

    @property
    def is_over_base(self) -> bool:
        """True for a model over the built-in base."""
        return is_base(self.base)

    @property
    def takes_evidence(self) -> bool:
        """True for a model with a place for the evidence head; a model class of transformers has none."""
        return self.is_over_base or isinstance(self.model, BertSpanModel)

    def save(self, out: Path) -> None:
        """Writes the weights as they are now."""
        if self.is_over_base:
            base = load_span_model(find_base()).state_dict()
            without_head = {name: t for name, t in base.items() if not name.startswith(f"{SPAN_HEAD}.")}
            save_delta(out / DELTA, self.model.state_dict(), without_head)
            return
        model: Any = self.model
        if isinstance(model, BertSpanModel):
            save_span_model(out, model, self.folder)
        else:
            model.save_pretrained(out)
        for path in filter(Path.is_file, (self.folder / name for name in _TOKENIZER)):
            shutil.copyfile(path, out / path.name)


def reader_figures(
    reader: Reader, examples: Sequence[ReaderExample], held_back: Mapping[str, Sequence[ReaderExample]]
) -> dict[str, float]:
    """The figures of answerable and unanswerable examples, in percent.

    exact, f1: of answerable examples when none is declined.
    answered: the share of these that is not declined.
    declined_KIND: the share of unanswerable examples of this kind that is declined.

    A question is declined when the null score is above that of the best span.
    """
    best = _best_spans(reader, examples)
    golds = {example.id: (example.answer,) for example in examples}
    texts = {each.id: span.span.text if span else "" for each, span in zip(examples, best, strict=True)}
    scores = score_v1(golds, texts)
    figures = {"exact": scores["exact_match"], "f1": scores["f1"], "answered": _answered(best)}
    for kind, held in held_back.items():
        if held:
            figures[f"declined_{kind}"] = 100 - _answered(_best_spans(reader, held))
    return figures


def _best_spans(reader: Reader, examples: Sequence[ReaderExample]) -> list[ScoredSpan | None]:
    passages = [[Passage(0, each.id, 0, len(each.passage), each.passage)] for each in examples]
    readings = reader.read([example.question for example in examples], passages, 1)
    return [spans[0] if spans else None for [spans] in readings]


def _answered(best: Sequence[ScoredSpan | None]) -> float:
    return 100 * sum(span is not None and score_over_null(span) >= 0 for span in best) / len(best)


def split_examples(datasets: Sequence[SquadDataset], limit: int | None, seed: int) -> Split:
    """At most `limit` questions of the training articles, and some of the others; ValueError without both."""
    articles = [article for dataset in datasets for article in dataset.articles]
    examples = examples_of(article for article in articles if not is_validation(article.title))
    held_out = examples_of(article for article in articles if is_validation(article.title))
    if limit is not None and limit < len(examples):
        examples = random.Random(seed).sample(examples, limit)
    if not examples or not held_out:
        raise ValueError(
            f"{len(examples)} training and {len(held_out)} validation questions, expected some of both: one "
            "article in twenty is for validation. Give more articles"
        )
    n_held_out = min(len(held_out), max(MIN_VALIDATION, len(examples)), MAX_VALIDATION)
    return examples, random.Random(SEED).sample(held_out, n_held_out)


def examples_of(articles: Iterable[SquadArticle]) -> list[ReaderExample]:
    """One example for each answerable question, with its first gold answer."""
    return [
        ReaderExample(
            question.id,
            question.text,
            paragraph.context,
            question.answers[0].start,
            question.answers[0].start + len(question.answers[0].text),
            article.title,
            labels=NO_VERDICT,
        )
        for article in articles
        for paragraph in article.paragraphs
        for question in paragraph.questions
        if question.answers
    ]
