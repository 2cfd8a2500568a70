"""Observes what a reader finds for held-back questions: the slow step, which can be stopped and gone on with.

The collection is the validation articles of SQuAD train, which the reader never saw, among other articles as
distractors. The paragraphs of some questions are left out of it, so that their answers are absent although
the collection speaks of the same things.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spanwise.types import ProgressCallback, no_progress

from ...corpora.squad import Article, SquadDataset
from ...eval.squad import best_over_golds, f1_v1
from ..ask import Asker
from ..candidates import Candidate, said
from ..evaluation.corpus import (
    contexts_of,
    document_id_of,
    document_library,
    paragraph_documents,
    split_articles,
)
from ..evaluation.squad import GoldQuestion
from ..reading import N_BEST, read_until_enough
from ..reranking import stages_below
from .observed import Observed, ObservedFile

ABSENT_PARAGRAPHS = 0.3
DISTRACTOR_ARTICLES = 60
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True)
class Trial:
    """What is asked, in order, over which paragraphs, as (title, text); `absent` are left out of them."""

    questions: tuple[GoldQuestion, ...]
    paragraphs: tuple[tuple[str, str], ...]
    absent: frozenset[str]

    @classmethod
    def of(cls, dataset: SquadDataset, seed: int = 0) -> Trial:
        """The trial of a data set: every question of its validation articles, shuffled by the seed.

        So the first n of them are the first n of any larger number. ValueError: no such article.
        """
        training, validation = split_articles(dataset.articles)
        if not validation:
            raise ValueError(
                "the data set has no validation article (sha1 of the title divisible by 20); use SQuAD train"
            )
        rng = random.Random(seed)
        distractors = rng.sample(training, min(DISTRACTOR_ARTICLES, len(training)))
        contexts = sorted(set(contexts_of(validation)))
        absent = frozenset(rng.sample(contexts, round(ABSENT_PARAGRAPHS * len(contexts))))
        questions = _questions(validation)
        rng.shuffle(questions)
        kept = [
            (article.title.replace("_", " "), paragraph.context)
            for article in [*validation, *distractors]
            for paragraph in article.paragraphs
            if paragraph.context not in absent
        ]
        return cls(tuple(questions), tuple(kept), absent)

    @cached_property
    def digest(self) -> str:
        """The sha256 of all that is asked and searched."""
        asked = [[one.id, one.text, one.answers, one.context in self.absent] for one in self.questions]
        return hashlib.sha256(json.dumps([asked, self.paragraphs]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Observer:
    """What observes: a reader by its folder's name behind a retriever that finds `k` passages.

    `colbert` names the model of token vectors, for a retriever that needs them.
    """

    reader: str
    retriever: str
    k: int = 20
    colbert: str = "builtin"

    def observe(
        self, trial: Trial, n: int, run: Path, reader_digest: str, report: ProgressCallback = no_progress
    ) -> list[Observed]:
        """What was found for the first `n` questions of the trial, with those kept in the folder `run`.

        Files there are named by the digest of everything they depend on, so that those of several retrievers
        lie side by side. Nothing is loaded when all is there.
        """
        identity = self._identity(trial, reader_digest)
        file = ObservedFile(run / f"observed-{_digest(identity)}.jsonl", identity)
        found = file.read()
        wanted = trial.questions[:n]
        if len(found) < len(wanted):
            with self._asker(trial, run / f"index-{trial.digest[:12]}", report) as asker:
                for at in range(len(found), len(wanted), QUESTIONS_AT_ONCE):
                    report("questions", at, len(wanted))
                    more = _observed(asker, wanted[at : at + QUESTIONS_AT_ONCE], trial.absent, self.k)
                    file.add(more)
                    found += more
        return found[: len(wanted)]

    def _identity(self, trial: Trial, reader_digest: str) -> Mapping[str, Any]:
        named = {"trial": trial.digest, "reader": reader_digest, "retriever": self.retriever, "k": self.k}
        needs_tokens = "colbert" in stages_below([self.retriever])
        return {**named, "n_best": N_BEST, "colbert": self.colbert if needs_tokens else ""}

    @contextmanager
    def _asker(self, trial: Trial, index: Path, report: ProgressCallback) -> Iterator[Asker]:
        with document_library(paragraph_documents(trial.paragraphs), index) as library:
            library.encode_for({"dense"} | stages_below([self.retriever]), self.colbert, on_progress=report)
            yield library.asker(retriever=self.retriever, reader=self.reader, dedupe=False, calibrated=False)


def _questions(articles: Sequence[Article]) -> list[GoldQuestion]:
    return [
        GoldQuestion(q.id, q.text, p.context, tuple(a.text for a in q.answers))
        for article in articles
        for p in article.paragraphs
        for q in p.questions
        if q.answers
    ]


def _observed(
    asker: Asker, questions: Sequence[GoldQuestion], absent: frozenset[str], k: int
) -> list[Observed]:
    texts = [question.text for question in questions]
    hits = asker.retriever.search(texts, k)
    readings = read_until_enough(asker.reader, texts, hits, None)
    return [
        _judged(question, asker.weigh(question.text, found, spans), question.context not in absent).rounded()
        for question, found, spans in zip(questions, hits, readings, strict=True)
    ]


def _judged(question: GoldQuestion, candidates: Sequence[Candidate], answerable: bool) -> Observed:
    texts = [candidate.scored.span.text for candidate in candidates]
    numbers = {words: number for number, words in enumerate(dict.fromkeys(map(said, texts)))}
    return Observed(
        tuple(candidate.features for candidate in candidates),
        tuple(best_over_golds(f1_v1, question.answers, text) if answerable else 0.0 for text in texts),
        answerable,
        tuple(numbers[said(text)] for text in texts),
        document_id_of(question.context),
    )


def _digest(identity: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
