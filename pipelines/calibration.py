"""Fits what evidence is worth: weights of the features, confidence, and the threshold for declining.

The collection is the validation articles of SQuAD train, which the reader never saw, among other
articles as distractors. The paragraphs of some questions are left out of it, so that their answers are
absent although the collection speaks of the same things.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..corpora.squad import Article, SquadDataset
from ..eval.calibration.platt import fit_logistic
from ..eval.calibration.threshold import HeldBack, Threshold, choose_threshold
from ..eval.listwise import fit_listwise
from ..eval.squad import best_over_golds, f1_v1
from ..reader.calibrations import Calibrations
from ..reader.evidence import FEATURES, Calibration, Features
from ..reader.folder import CALIBRATION
from ..retrieval.registry import stages_of
from .ask import N_BEST, Asker
from .candidates import Candidate
from .default_retriever import DEFAULT_RETRIEVER
from .evaluation.squad import GoldQuestion
from .paragraph_index import contexts_of, paragraph_library
from .progress import Report, silent
from .reranking import below_reranking, stages_below
from .validation_split import split_articles

ABSENT_PARAGRAPHS = 0.3
DISTRACTOR_ARTICLES = 60
RIGHT_F1 = 0.6
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Observed:
    """A held-back question: the features of its candidates, and which of them are right."""

    features: tuple[Features, ...]
    right: tuple[bool, ...]
    answerable: bool


def fit_calibration(
    dataset: SquadDataset,
    reader: str,
    retriever: str,
    k: int = 20,
    n_questions: int = 1500,
    seed: int = 0,
    report: Report = silent,
    colbert: str = "builtin",
) -> tuple[Calibration, Threshold]:
    """The calibration of a reader, and what its threshold does on the questions it was fitted on.

    `colbert` names the model of token vectors, for a retriever that needs them.
    """
    training, validation = split_articles(dataset.articles)
    if not validation:
        raise ValueError(
            "the data set has no validation article (sha1 of the title divisible by 20); use SQuAD train"
        )
    rng = random.Random(seed)
    distractors = rng.sample(training, min(DISTRACTOR_ARTICLES, len(training)))
    absent = _absent_contexts(validation, rng)
    stages = stages_below([retriever])
    with TemporaryDirectory() as folder:
        kept = [
            (article.title.replace("_", " "), paragraph.context)
            for article in [*validation, *distractors]
            for paragraph in article.paragraphs
            if paragraph.context not in absent
        ]
        with paragraph_library(kept, Path(folder) / "index") as library:
            library.encode_for({"dense"} | stages, colbert, report=report)
            questions = _questions(validation, n_questions, rng)
            asker = library.asker(retriever, reader, calibrated=False)
            observed = _observe(asker, questions, absent, k, report)
    return fit(
        observed,
        asker.reader.digest,
        f"{len(observed)} questions of SQuAD train's validation articles, {retriever}",
    )


def fit(observed: Sequence[Observed], reader: str, fitted_on: str) -> tuple[Calibration, Threshold]:
    """Weights that rank the candidates of a question, then confidence in the best one of each question."""
    weights = fit_listwise(
        [np.array([row(f) for f in o.features]).reshape(-1, len(FEATURES)) for o in observed],
        [np.array(o.right, dtype=np.bool_) for o in observed],
    )
    by_name = dict(zip(FEATURES, weights.tolist(), strict=True))
    raw = Calibration(by_name, 1.0, 0.0, 0.0, reader, fitted_on)
    best = [max(zip(map(raw.evidence, o.features), o.right, strict=True), default=None) for o in observed]
    found = [(one, o.answerable) for one, o in zip(best, observed, strict=True) if one is not None]
    platt = fit_logistic(
        [[evidence] for (evidence, _), _ in found], [float(right) for (_, right), _ in found]
    )
    scaled = replace(raw, slope=platt.weights[0], offset=platt.bias)
    records = [HeldBack(scaled.confidence(e), float(right), answerable) for (e, right), answerable in found]
    threshold = choose_threshold(records)
    return replace(scaled, threshold=threshold.value), threshold


def keep_calibration(calibration: Calibration, folder: Path, retriever: str) -> None:
    """Writes it into the reader's folder, beside those for other retrievers.

    Fitted behind the default retriever, or as the first one, it holds for all that have none of their own.
    """
    path, name = folder / CALIBRATION, _spelled(retriever)
    held = Calibrations.load(path) if path.is_file() else Calibrations(calibration)
    held.fitted(calibration, name, name == _spelled(DEFAULT_RETRIEVER)).save(path)


def _spelled(retriever: str) -> str:
    """The `Retriever.name` that a name stands for."""
    below = below_reranking(retriever)
    return "+".join(stages_of(below)) + retriever.removeprefix(below)


def row(features: Features) -> list[float]:
    """The features as numbers, in the order of FEATURES."""
    return [getattr(features, name) for name in FEATURES]


def _absent_contexts(articles: Sequence[Article], rng: random.Random) -> set[str]:
    contexts = sorted(set(contexts_of(articles)))
    return set(rng.sample(contexts, round(ABSENT_PARAGRAPHS * len(contexts))))


def _questions(articles: Sequence[Article], n: int, rng: random.Random) -> list[GoldQuestion]:
    every = [
        GoldQuestion(q.id, q.text, p.context, tuple(a.text for a in q.answers))
        for article in articles
        for p in article.paragraphs
        for q in p.questions
        if q.answers
    ]
    return rng.sample(every, min(n, len(every)))


def _observe(
    asker: Asker, questions: Sequence[GoldQuestion], absent: set[str], k: int, report: Report
) -> list[Observed]:
    observed: list[Observed] = []
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        batch = questions[at : at + QUESTIONS_AT_ONCE]
        hits = asker.retriever.search([q.text for q in batch], k)
        readings = asker.reader.read(
            [q.text for q in batch], [[hit.passage for hit in found] for found in hits], N_BEST
        )
        for question, found, spans in zip(batch, hits, readings, strict=True):
            candidates = asker.weigh(question.text, found, spans)
            observed.append(_observed(question, candidates, question.context not in absent))
        report("questions", len(observed), len(questions))
    return observed


def _observed(question: GoldQuestion, candidates: Sequence[Candidate], answerable: bool) -> Observed:
    right = tuple(
        answerable and best_over_golds(f1_v1, question.answers, c.scored.span.text) >= RIGHT_F1
        for c in candidates
    )
    return Observed(tuple(c.features for c in candidates), right, answerable)
