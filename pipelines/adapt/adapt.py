"""`adapt`: the model of token vectors learns from the documents of its index, and stays if that helped.

    questions   from the documents' own sentences and headings; a fifth of the documents is held back
    lists       negatives from every retriever of the index, among the documents trained on
    scores      of a teacher; questions that it does not answer by their own passage are dropped
    student     trained from the model in use
    measure     both models on the held-back questions, over all passages
    install     only what is better beyond chance, in one commit

The weights are chosen on a tenth of the documents that is neither trained on nor measured with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.errors import ModelMismatch
from spanwise.types import RankingExample

from ...corpora.ranking_examples import read_ranking_examples, write_ranking_examples
from ...index.snapshot import Snapshot
from ...models.locate import BUILTIN, is_student
from ..progress import Report, silent
from .adaptation import Adaptation, adaptation_record, is_better
from .install import install
from .lists import ListMaker
from .made_question import MadeQuestion
from .make_questions import Questions, make_questions
from .measure import compared, measure, measured_passages
from .recipe import AdaptRecipe
from .teaching import Teaching, consistent
from .work import work_folder

if TYPE_CHECKING:
    from ...eval.significance.comparison import Comparison
    from ...retrieval.protocol import Retriever, Scorer
    from ..library import Library

TRAINING, VALIDATION = "training", "validation"


def adapt(
    library: Library,
    recipe: AdaptRecipe | None = None,
    report: Report = silent,
    teaching: Teaching | None = None,
) -> Adaptation:
    """Adapts the index's model of token vectors, or the built-in one where it keeps none.

    Interrupted, the same call goes on, and the index is as it was. IndexEmpty without passages,
    ModelMismatch for a model that cannot be trained further, IndexLocked while another process adapts.
    """
    recipe, teaching = recipe or AdaptRecipe(), teaching or Teaching()
    start = starting_model(library)
    with library.reading():  # all that follows is about one commit
        snapshot, retrievers = library.snapshot, _retrievers(library)
    questions = make_questions(snapshot, library.analyzer, recipe.questions, recipe.seed, report)
    tried = Adaptation(len(questions.training), len(questions.training), tuple(questions.measured))
    if tried.has_too_few:
        return tried
    teacher = teaching.load(recipe.teacher)
    with work_folder(library.store.path, _plan(recipe, questions, start, teacher.digest)) as work:
        _mine(snapshot, retrievers, questions, work / "mined", report)
        learned, held_out = _scored(teacher, teaching, recipe, work, report)
        tried = replace(tried, consistent=len(learned))
        if tried.has_too_few:
            return tried
        teaching.train(learned, held_out or learned, work / "student", recipe, start, report)
        passages = measured_passages(snapshot, questions.measured, recipe.seed)
        models = start, str(work / "student")
        comparisons = _compared(snapshot, questions.measured, passages, models, report)
        tried = replace(tried, passages=len(passages), comparisons=tuple(comparisons))
        if not is_better(comparisons[0], recipe):
            return tried
        digest = install(library, work / "student", adaptation_record(tried)["measures"], report)
        return replace(tried, installed=digest)


def starting_model(library: Library) -> str:
    """The name of the model that is trained further."""
    name = library.colbert.name if library.colbert else BUILTIN
    if name != BUILTIN and not is_student(Path(name)):
        raise ModelMismatch(
            f"{name} is none of our own students and cannot be adapted; take ours with: "
            f"{library.sync_command} --colbert builtin"
        )
    return name


def _retrievers(library: Library) -> list[Retriever]:
    """All that the index can be searched by as it is."""
    names = ["bm25"]
    if not library.missing_vectors():
        names.append("dense")
    if library.colbert is not None and not library.missing_tokens():
        names.append("colbert")
    return [library.retriever(name) for name in names]


def _mine(
    snapshot: Snapshot, retrievers: Sequence[Retriever], questions: Questions, folder: Path, report: Report
) -> None:
    """Writes the lists of training and of validation, unless that was done before."""
    documents = questions.documents
    parts = (
        (TRAINING, questions.training, documents.training),
        (VALIDATION, questions.validation, documents.training + documents.validation),
    )
    for name, asked, among in parts:
        if not (folder / name / "lists.jsonl").is_file():
            maker = ListMaker(snapshot, retrievers, snapshot.passage_ids_of(among))
            write_ranking_examples(folder / name, maker.lists(asked, partial(_tell, report, len(asked))))


def _tell(report: Report, total: int, done: int) -> None:
    report("mined", done, total)


def _scored(
    teacher: Scorer, teaching: Teaching, recipe: AdaptRecipe, work: Path, report: Report
) -> tuple[list[RankingExample], list[RankingExample]]:
    """The lists with scores: those to learn from, which the teacher agrees with, and all to choose by."""
    scored = []
    for name in (TRAINING, VALIDATION):
        teaching.score(list(read_ranking_examples(work / "mined" / name)), teacher, work / name, report)
        scored.append(list(read_ranking_examples(work / name)))
    return list(consistent(scored[0], recipe.consistent)), scored[1]


def _compared(
    snapshot: Snapshot,
    questions: Sequence[MadeQuestion],
    passages: Sequence[int],
    models: tuple[str, str],
    report: Report,
) -> list[Comparison]:
    """What the second model does better than the first."""
    from ...models.token_encoder import load_token_encoder

    before, after = (
        measure(load_token_encoder(name), questions, snapshot, passages, report) for name in models
    )
    return compared(before, after, questions)


def _plan(recipe: AdaptRecipe, questions: Questions, start: str, teacher: str) -> dict[str, Any]:
    """What decides the result: when one of these is another, what was done so far is of no use."""
    from ...models.token_models import token_model_digest

    asked = [asdict(one) for one in (*questions.training, *questions.validation, *questions.measured)]
    made = hashlib.sha256(json.dumps(asked).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "recipe": asdict(recipe),
        "questions": made,
        "start": token_model_digest(start),
        "teacher": teacher,
    }
