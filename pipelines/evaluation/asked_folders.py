"""Folders with questions, and everything that answers them as it is shipped; hits and readings are recorded.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. A checkout has
everyday wordings of many questions (see corpora/questions/README.md); each is asked as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwise.types import AskOptions, ProgressCallback, no_progress

from ...corpora.datasets.folder_questions import domains_of, everyday_wordings, wording_key
from ...eval.calibration import aurc, expected_calibration_error, threshold_at
from ...eval.questions import FolderQuestion, QuestionRecord
from ...reader.evidence import Calibration
from ...reader.reader_pair import ReaderPair
from ..answering.ask import Answerer
from ..answering.mentions import answered
from ..answering.reading import HitReader, Material
from ..open import open_encoded
from ..understanding.question import Question
from .corpus import read_questions
from .folder import folder_record
from .recorded import RecordedReader, RecordedRetriever, Recording
from .results import digest

QUESTIONS_AT_ONCE = 16
MAX_FALSE = 0.1  # share of the questions without an answer that the threshold may answer


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it is asked: as it was written first, or in everyday words."""

    question: FolderQuestion
    everyday: bool


@dataclass(frozen=True, slots=True)
class AskedFolder:
    """A folder with its questions.

    domain: its name.
    wordings: each question, followed by its everyday wordings.
    answerer: answers with the defaults, without a calibration.
    """

    domain: str
    wordings: Sequence[Wording]
    answerer: Answerer

    def record(self, on_progress: ProgressCallback = no_progress) -> None:
        """Searches for all questions and reads all hits, where that is not recorded yet."""
        for begin in range(0, len(self.wordings), QUESTIONS_AT_ONCE):
            on_progress(f"questions about {self.domain}", begin, len(self.wordings))
            batch = [self.question(wording) for wording in self.wordings[begin : begin + QUESTIONS_AT_ONCE]]
            for answerer in filter(None, (self.answerer.small, self.answerer)):
                all_read(answerer, batch)

    def question(self, wording: Wording) -> Question:
        """The question of a wording."""
        return Question.of(wording.question.question, self.answerer.snapshot, self.answerer.analyzer)

    def decided(
        self, calibration: Calibration, small: Calibration | None, threshold: float | None = None
    ) -> list[QuestionRecord]:
        """The judged answer to each question with these calibrations, as `ask` gives it."""
        options = replace(self.answerer.options, threshold=threshold)
        answerer = replace(self.answerer, calibration=calibration, options=options)
        if answerer.small:
            alone = replace(answerer, reader=answerer.small.reader, calibration=small)
            answerer = replace(answerer, small=alone)
        records = []
        for wording in self.wordings:
            [trace] = answered([self.question(wording)], answerer)
            records.append(folder_record(wording.question, trace.answer, trace.hits, options.k, self.domain))
        return records


def all_read(answerer: Answerer, questions: Sequence[Question]) -> list[Material]:
    """The hits of each question, all read, without tables."""
    hits = answerer.retriever.search([question.text for question in questions], answerer.options.k)
    unread = [Material(*pair) for pair in zip(questions, hits, strict=True)]
    return HitReader(answerer.reader, answerer.analyzer).read_remaining(unread)


@contextmanager
def asked_folders(
    folders: Path,
    run: Path,
    options: AskOptions,
    every: int = 1,
    on_progress: ProgressCallback = no_progress,
) -> Iterator[list[AskedFolder]]:
    """The folders in `folders`; `run` gets their indexes, hits and readings.

    Every n-th question is asked, in all its wordings. ValueError for `every` below 1.
    """
    if every < 1:
        raise ValueError(f"every is {every}; expected 1 for all questions, or more")
    everyday = everyday_wordings()
    with ExitStack() as stack:
        asked = []
        for domain, path in domains_of(folders).items():
            wordings = wordings_of(read_questions(path)[::every], everyday)
            library = stack.enter_context(
                open_encoded(folders / domain, run / f"index-{domain}", [str(options.retriever)], on_progress)
            )
            plain = library.answerer(options, calibrated=False)
            with library.reading() as snapshot:
                documents = digest({name: state.sha256 for name, state in snapshot.files().items()})
            hits = Recording(run / f"hits-{domain}.jsonl")
            retriever = RecordedRetriever(plain.retriever, hits, plain.snapshot, documents)
            reader = RecordedReader(plain.reader, Recording(run / f"readings-{domain}.jsonl"))
            answerer = replace(plain, retriever=retriever, reader=reader)
            if isinstance(plain.reader, ReaderPair):
                alone = RecordedReader(plain.reader.small, Recording(run / f"small-{domain}.jsonl"))
                answerer = replace(answerer, small=replace(answerer, reader=alone))
            asked.append(AskedFolder(domain, wordings, answerer))
        yield asked


def wordings_of(questions: Sequence[FolderQuestion], everyday: Mapping[str, Sequence[str]]) -> list[Wording]:
    """Each question, followed by its everyday wordings, which are given by `wording_key`."""
    wordings = []
    for question in questions:
        wordings.append(Wording(question, question.everyday))
        for number, text in enumerate(everyday.get(wording_key(question.question), ()), start=1):
            reworded = replace(question, id=f"{question.id}-{number}", question=text)
            wordings.append(Wording(reworded, everyday=True))
    return wordings


@dataclass(frozen=True, slots=True)
class AnsweredWording:
    """The answers to a question in one wording.

    everyday: true for an everyday wording.
    shown: with the fitted threshold.
    least: with the lowest one.
    forced: with none declined.
    """

    everyday: bool
    shown: QuestionRecord
    least: QuestionRecord
    forced: QuestionRecord

    @property
    def confidence(self) -> float:
        """The confidence of the answer; 0 where it is declined by anything but its confidence."""
        return shown_confidence(self.least)


def shown_confidence(record: QuestionRecord) -> float:
    """The confidence of an answer that is shown; 0 where the question is declined."""
    return (record.confidence or 0.0) if record.prediction else 0.0


def answer_figures(rows: Sequence[AnsweredWording]) -> dict[str, Any]:
    """Shares of the questions with an answer, of those without one, and figures of the confidences.

    right: answered and right as shown.
    wrong: answered and not right.
    right_span: answered, and the span alone is right.
    right_forced, right_span_forced: the same if no question were declined.
    right_shown: answered and right, or declined with a right candidate.
    right_at_10: right with the threshold that answers a tenth of the questions without an answer here.
    false: of the questions without an answer, those answered.
    false_by_folder: the same by folder.
    absent_shown: of these, those answered or declined with candidates.
    ece: calibration error over 15 bins of equal mass.
    aurc: area under risk against coverage.
    """
    present = [row for row in rows if row.shown.answerable]
    absent = [row for row in rows if not row.shown.answerable]
    strict = threshold_at([row.confidence for row in absent], MAX_FALSE)
    confidences = [row.confidence for row in rows]
    outcomes = [row.least.scores.get("right", 0.0) for row in rows]
    folders = dict.fromkeys(row.shown.system for row in absent)

    return {
        "questions": len(rows),
        "right": _share([row.shown.scores["right"] for row in present]),
        "wrong": _share([bool(row.shown.prediction) and not row.shown.scores["right"] for row in present]),
        "right_span": _share([row.shown.scores["right_span"] for row in present]),
        "right_forced": _share([row.forced.scores["right"] for row in present]),
        "right_span_forced": _share([row.forced.scores["right_span"] for row in present]),
        "right_shown": _share([row.shown.scores["right_shown"] for row in present]),
        "right_at_10": _share([row.least.scores["right"] and row.confidence >= strict for row in present]),
        "false": _share([not row.shown.scores["declined"] for row in absent]),
        "false_by_folder": {
            name: _share([not row.shown.scores["declined"] for row in absent if row.shown.system == name])
            for name in folders
        },
        "absent_shown": _share([not row.shown.scores["nothing_shown"] for row in absent]),
        "ece": expected_calibration_error(confidences, outcomes),
        "aurc": aurc(confidences, outcomes),
    }


def _share(outcomes: Sequence[float]) -> float:
    return sum(outcomes) / max(1, len(outcomes))
