"""Observes the candidates that a reader finds for held-out questions, the slow step of `calibrate`.

The collection are the validation articles of SQuAD train, which the reader never saw, among other articles.
The paragraphs of some questions are left out, so that their answers are absent. Observations are kept in a
file, so that an interrupted run resumes, and fitting again takes minutes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import ProgressCallback, no_progress

from ...corpora.squad import SquadDataset
from ...eval.squad import best_over_golds, f1_v1
from ...reader.evidence import FEATURES, Features
from ..candidates import answer_key
from ..evaluation.corpus import (
    GoldQuestion,
    contexts_of,
    document_id_of,
    document_library,
    gold_questions,
    paragraph_documents,
    split_articles,
)
from ..evaluation.results import digest as digest_of
from ..evaluation.results import whole_lines
from ..models import stages_below

RUN = Path("run") / "calibration"
RIGHT_F1 = 0.6  # from which an answer counts as right
ABSENT_PARAGRAPHS = 0.3
DISTRACTOR_ARTICLES = 60
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Observed:
    """The candidates of a held-out question: their features and the F1 of each, 0 where nothing is right.

    `same` has one number a candidate, equal for equal normalised answers. Questions of one `group`, those on
    one paragraph, are never divided between folds.
    """

    features: tuple[Features, ...]
    f1: tuple[float, ...]
    answerable: bool
    same: tuple[int, ...]
    group: str

    @property
    def right(self) -> list[bool]:
        """Which of the candidates are right."""
        return [one >= RIGHT_F1 for one in self.f1]


def observe(
    dataset: SquadDataset,
    reader: Path,
    digest: str,
    retriever: str,
    k: int,
    n: int,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> list[Observed]:
    """The candidates of n questions; those in the reader's observation file are not read again.

    The first n questions are the first n of any larger number. Files are named by the digest of everything
    that they depend on.
    """
    training, validation = split_articles(dataset.articles)
    if not validation:
        raise ValueError("the data set has no validation article (one in twenty). Use SQuAD train")
    rng = random.Random(seed)
    distractors = rng.sample(training, min(DISTRACTOR_ARTICLES, len(training)))
    contexts = sorted(set(contexts_of(validation)))
    absent = frozenset(rng.sample(contexts, round(ABSENT_PARAGRAPHS * len(contexts))))
    questions = [one for one in gold_questions(validation) if one.answers]
    rng.shuffle(questions)
    paragraphs = [
        (article.title.replace("_", " "), paragraph.context)
        for article in [*validation, *distractors]
        for paragraph in article.paragraphs
        if paragraph.context not in absent
    ]
    trial = digest_of([[[q.id, q.text, q.context] for q in questions], paragraphs])[:12]
    file = ObservedFile(
        reader / RUN / f"observed-{digest_of([trial, digest, retriever, k])[:12]}.jsonl",
        {"trial": trial, "reader": digest, "retriever": retriever, "k": k},
    )
    found, wanted = file.read(), questions[:n]
    if len(found) >= len(wanted):
        return found[: len(wanted)]
    documents, index = paragraph_documents(paragraphs), reader / RUN / f"index-{trial}"
    with document_library(documents, index, on_progress=on_progress) as library:
        library.encode_for({"dense"} | stages_below([retriever]), "builtin", on_progress=on_progress)
        asker = library.answerer(retriever=retriever, reader=str(reader), dedupe=False, calibrated=False)
        for at in range(len(found), len(wanted), QUESTIONS_AT_ONCE):
            on_progress("questions", at, len(wanted))
            batch = wanted[at : at + QUESTIONS_AT_ONCE]
            texts = [q.text for q in batch]
            hits = asker.retriever.search(texts, k)
            spans = asker.read(texts, hits)
            more = [
                _judged(asker.score_candidates(q.text, passages, read), q, q.context in absent)
                for q, passages, read in zip(batch, hits, spans, strict=True)
            ]
            file.add(more)
            found += more
    return found


def _judged(candidates: Sequence[Any], question: GoldQuestion, is_absent: bool) -> Observed:
    """The candidates of a question, with the six digits that the file keeps."""
    texts = [candidate.scored.span.text for candidate in candidates]
    numbers = {words: number for number, words in enumerate(dict.fromkeys(map(answer_key, texts)))}
    return Observed(
        tuple(Features(*(_short(getattr(c.features, name)) for name in FEATURES)) for c in candidates),
        tuple(0.0 if is_absent else _short(best_over_golds(f1_v1, question.answers, text)) for text in texts),
        not is_absent,
        tuple(numbers[answer_key(text)] for text in texts),
        document_id_of(question.context),
    )


@dataclass(frozen=True, slots=True)
class ObservedFile:
    """A file of observations, one question a line; its first line tells what was observed."""

    path: Path
    identity: Mapping[str, Any]

    def read(self) -> list[Observed]:
        """The observations in order; a torn last line is dropped. DataMalformed for a damaged file."""
        lines = whole_lines(self.path)
        try:
            if lines and json.loads(lines[0]) != self.identity:
                raise ValueError("other observations")
            found = [_observed(json.loads(line)) for line in lines[1:]]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataMalformed(f"{self.path} cannot be read: {error!r}. Remove it to start anew") from error
        if not lines:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.identity) + "\n", encoding="utf-8")
        return found

    def add(self, observed: Sequence[Observed]) -> None:
        """Appends observations."""
        with self.path.open("a", encoding="utf-8") as file:
            for one in observed:
                columns = {name: [getattr(found, name) for found in one.features] for name in FEATURES}
                record = {"group": one.group, "answerable": one.answerable, "f1": one.f1, "same": one.same}
                file.write(json.dumps(record | {"features": columns}, allow_nan=False) + "\n")


def _observed(record: Mapping[str, Any]) -> Observed:
    """A feature that the file does not have is 0."""
    n = len(record["f1"])
    columns = [record["features"].get(name, [0.0] * n) for name in FEATURES]
    features = tuple(Features(*values) for values in zip(*columns, strict=True))
    if {len(features), len(record["same"])} != {n}:
        raise ValueError(f"{len(features)} features and {len(record['same'])} answers of {n} candidates")
    same = tuple(record["same"])
    return Observed(features, tuple(record["f1"]), record["answerable"], same, record["group"])


def _short(value: float) -> float:
    return float(f"{value:.6g}")
