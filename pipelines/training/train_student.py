"""`train colbert`: a student learns from scored lists, and its folder is written."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from spanwise.types import RankingExample

from ...models.load import load_tokenizer, n_positions, tuned_backbone
from ...models.locate import BUILTIN, STUDENT, builtin_folder, find_base
from ...models.precision import pick_device
from ...models.student import StoredStudent, StudentSettings, load_student, save_student
from ...models.token_encoder import TokenRows, punctuation_skiplist
from ...models.training import Progress, own_memory
from ...models.weights import Precision
from ...retrieval.training.student import Student, StudentRecipe, fine_tune_student
from ...retrieval.training.student_scores import StudentScores
from ...retrieval.training.untrained import identity_head, untrained_projection
from .ranking_quality import first_ranks
from .record import RUN, started, write_record

BASE = "base"
WIDTH = 128  # of a token vector
AVERAGED = 4096  # passages whose states the untrained layer is centred on


def train_student(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    recipe: StudentRecipe,
    start: str = BASE,
    limit: int | None = None,
    precision: Precision = "int8",
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains a student, writes its folder `out` with `training.json`, and returns the evaluations.

    It begins with the base and untrained layers behind it, with the built-in student, or a folder's. The
    weights kept are those with the best mean reciprocal rank, by token vectors, on the held-out lists;
    `dense_mrr` and `dense_first` tell that of the dense heads. `out/run` holds the checkpoint: the same call
    again goes on from there. ValueError when a teacher is to be followed and lists have no scores.
    """
    if limit is not None and limit < len(examples):
        examples = random.Random(recipe.loop.seed).sample(list(examples), limit)
    folder = {BASE: None, BUILTIN: builtin_folder("token-encoder")}.get(start, Path(start))
    if folder:
        stored = load_student(folder)
    else:
        positives = list(dict.fromkeys(one.passages[0] for one in examples))
        stored = untrained_student(positives[:AVERAGED], recipe.max_length, recipe.loop.seed)
    sides = token_rows(stored, recipe.max_length)
    model = own_memory(_student(stored)).to(pick_device())

    def evaluate(tuned: nn.Module) -> Mapping[str, float]:
        return ranks_of(StudentScores(model, sides), held_out)

    evaluations = fine_tune_student(model, sides, examples, recipe, out / RUN, evaluate, "mrr", report)
    model.cpu()
    heads = model.question_head, model.passage_head
    save_student(out, StoredStudent(model.trunk, model.projection, *heads, stored.settings), precision)
    data = {**started(start, folder / STUDENT if folder else None), "lists": len(examples)}
    write_record(out, recipe, data, precision, evaluations)
    return evaluations


def ranks_of(scores: StudentScores, held_out: Sequence[RankingExample]) -> dict[str, float]:
    """`mrr` and `first` by token vectors, `dense_mrr` and `dense_first` by the dense heads."""
    both = scores.both([one.question for one in held_out], [one.passages for one in held_out])
    tokens, dense = (first_ranks(lambda *_, found=found: found, held_out) for found in both)
    return {**tokens, **{f"dense_{name}": value for name, value in dense.items()}}


def untrained_student(passages: Sequence[str], max_length: int, seed: int) -> StoredStudent:
    """The base with untrained layers, centred on the states of these passages."""
    torch.manual_seed(seed)
    trunk, _ = tuned_backbone()
    vocabulary = (find_base() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    begun = StoredStudent(
        trunk, nn.Linear(1, 1), None, None, StudentSettings(None, punctuation_skiplist(vocabulary))
    )
    _, rows = token_rows(begun, max_length)
    projection = untrained_projection(trunk, rows.of(passages), WIDTH, seed)
    n_in = trunk.config.hidden_size
    return StoredStudent(trunk, projection, identity_head(n_in), identity_head(n_in), begun.settings)


def token_rows(stored: StoredStudent, max_length: int) -> tuple[TokenRows, TokenRows]:
    """What makes rows of questions and of passages, of at most `max_length` tokens."""
    base = find_base()
    limits = (max_length, stored.settings.max_length, n_positions(stored.backbone))
    limit = min(n for n in limits if n)
    rows = TokenRows(load_tokenizer(base), limit, stored.settings.skiplist)
    return rows, rows


def _student(stored: StoredStudent) -> Student:
    """The parts as one module; a student without dense heads gets those that change nothing."""
    n_in = stored.projection.in_features
    heads = (stored.question_head or identity_head(n_in), stored.passage_head or identity_head(n_in))
    return Student(stored.backbone, stored.projection, *heads)
