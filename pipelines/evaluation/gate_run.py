"""A gate's questions, and what the present system makes of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.beir import Collection
from ...eval.question_set import FolderQuestion
from ...eval.ranking.measures import parse_measure
from ..default_retriever import DEFAULT_RETRIEVER
from ..library import Library
from ..progress import Report, silent
from ..question_files import read_questions
from .folder import evaluate_folder, unindexed_documents
from .result_folder import ResultFolder
from .retrieval import RetrievalTest, open_collection
from .scored_files import RUN_MEASURES

GateQuestions = tuple[FolderQuestion, ...] | Collection


@dataclass(frozen=True, slots=True)
class Present:
    """The system as it is now; the options are those of `eval folder`. Rankings take the retriever alone."""

    retriever: str | None = None
    reader: str = "builtin"
    k: int = 20
    threshold: float | None = None
    group: bool = True


def read_gate_questions(path: Path, split: str | None = None) -> GateQuestions:
    """The test collection in a folder, or the questions of a file about a folder."""
    return open_collection(path, split) if path.is_dir() else read_questions(path)


def question_ids(questions: GateQuestions) -> frozenset[str]:
    """The ids of the questions that are judged."""
    if isinstance(questions, Collection):
        return frozenset(query.id for query in questions.judged)
    return frozenset(question.id for question in questions)


def answer_questions(
    library: Library,
    questions: Sequence[FolderQuestion],
    out: Path,
    present: Present,
    report: Report = silent,
) -> list[str]:
    """Keeps in the result folder `out` how the questions are answered; returns what is odd, a line each."""
    options = (present.retriever, present.reader, present.k, present.threshold)
    evaluate_folder(library, questions, out, *options, report, present.group)
    return [
        f"{name} is not in the index: no answer from it can be right (questions that name it: {count})"
        for name, count in unindexed_documents(library, questions).items()
    ]


def rank_documents_of(
    collection: Collection,
    out: Path,
    present: Present,
    measures: Sequence[str] = (),
    index: Path | None = None,
    report: Report = silent,
) -> None:
    """Keeps in the result folder `out` how the judged queries are ranked, as `eval retrieval` does.

    The collection's index is made at `index`, or in `out`, and used again when it is there.
    """
    test = RetrievalTest(collection, [parse_measure(name) for name in measures or RUN_MEASURES])
    names = [present.retriever or DEFAULT_RETRIEVER]
    with (
        ResultFolder.start(out, "retrieval", test.settings) as results,
        test.library(index or out / "index", names, report) as library,
    ):
        test.run(library, names, results, report)


def missing_baseline(baseline: Path, questions: Path | None, folder: Path | None) -> str:
    """What to say when there is no baseline: how one is made."""
    asked = "QUESTIONS" if questions is None else shlex.quote(str(questions))
    place = "FOLDER" if folder is None else shlex.quote(str(folder))
    verb = f"folder {place} --questions {asked}"
    if questions is not None and questions.is_dir():
        verb = f"retrieval --data {asked}"
    command = f"spanwise eval {verb} --out {shlex.quote(str(baseline))}"
    return f"there is no baseline at {baseline}; make one with the system that is not to get worse: {command}"
