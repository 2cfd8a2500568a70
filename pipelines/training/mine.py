"""From questions with the passages that answer them to ranking examples: each gets mined negatives."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from spanwise.types import ProgressCallback, RankingExample, no_progress

from ...corpora.ranking_examples import write_ranking_examples
from ...corpora.squad import Article, SquadDataset
from ...retrieval.training.mining import Mining
from ..evaluation.corpus import (
    contexts_of,
    document_id_of,
    document_library,
    is_validation,
    paragraph_documents,
    split_articles,
)
from ..library import Library
from ..stages import stages_named
from ..sync import sync_vectors
from .leaks import Leaks
from .miner import Asked, Miner

TRAIN, VALIDATION, INDEX = "train", "validation", "index"
RETRIEVERS = ("bm25", "dense")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """A set of examples to make: their questions, in order, and the passages that negatives come from."""

    asked: Sequence[Asked]
    passages: Sequence[str]


def mine_squad(
    datasets: Sequence[SquadDataset],
    out: Path,
    retrievers: Sequence[str] = RETRIEVERS,
    mining: Mining | None = None,
    limit: int | None = None,
    validation: int = 500,
    report: ProgressCallback = no_progress,
    leaks: Leaks | None = None,
) -> dict[str, int]:
    """Writes the ranking folders `out/train` and `out/validation`, returns how many examples each has.

    Negatives for training are paragraphs of the training articles alone, those for validation any of the
    files'. `limit` questions are drawn by the seed. `out/index` holds the paragraphs, and is used again.
    What `leaks` holds is neither a question nor a passage of an example.
    """
    mining = mining or Mining()
    articles = [article for dataset in datasets for article in dataset.articles]
    training, held_back = split_articles(articles)
    parts = {
        TRAIN: _part(asked_of(training), contexts_of(training), limit, mining.seed, leaks),
        VALIDATION: _part(asked_of(held_back), contexts_of(articles), validation, mining.seed, leaks),
    }
    return mine(parts, contexts_of(articles), out, retrievers, mining, report)


def mine_examples(
    examples: Sequence[RankingExample],
    passages: Iterable[str],
    out: Path,
    retrievers: Sequence[str] = RETRIEVERS,
    mining: Mining | None = None,
    limit: int | None = None,
    validation: int = 500,
    report: ProgressCallback = no_progress,
    leaks: Leaks | None = None,
) -> dict[str, int]:
    """The same for examples that have positives alone, over any passages; negatives they have are not kept.

    Held back for validation are the questions whose sha1 is a multiple of 20.
    """
    mining = mining or Mining()
    asked = [Asked(e.question, e.passages[0], (), e.passages[1 : e.n_positive]) for e in examples]
    positives = (text for e in examples for text in e.passages[: e.n_positive])
    corpus = [text for text in dict.fromkeys([*passages, *positives]) if text.strip()]
    held_back = [one for one in asked if is_validation(one.question)]
    training = [one for one in asked if not is_validation(one.question)]
    parts = {
        TRAIN: _part(training, corpus, limit, mining.seed, leaks),
        VALIDATION: _part(held_back, corpus, validation, mining.seed, leaks),
    }
    return mine(parts, corpus, out, retrievers, mining, report)


def mine(
    parts: Mapping[str, Part],
    corpus: Sequence[str],
    out: Path,
    retrievers: Sequence[str],
    mining: Mining,
    report: ProgressCallback = no_progress,
    colbert: str = "builtin",
) -> dict[str, int]:
    """Writes a ranking folder below `out` for each part; the corpus is searched in `out/index`."""
    counts = {}
    documents = paragraph_documents(("", text) for text in corpus)
    with document_library(documents, out / INDEX, superset=True) as library:
        _prepare(library, retrievers, colbert, report)
        found_by = [library.retriever(name) for name in retrievers]
        texts = {document_id_of(text): text for text in corpus}
        for name, part in parts.items():
            miner = Miner(found_by, texts, frozenset(part.passages), part.passages, mining)
            examples = miner.examples(part.asked, partial(_tell, report, name, len(part.asked)))
            counts[name] = write_ranking_examples(out / name, examples)
    return counts


def asked_of(articles: Sequence[Article]) -> list[Asked]:
    """The answerable questions of the articles, in order."""
    return [
        Asked(question.text, paragraph.context, tuple(dict.fromkeys(a.text for a in question.answers)))
        for article in articles
        for paragraph in article.paragraphs
        for question in paragraph.questions
        if question.answers and question.text.strip()
    ]


def drawn(values: Sequence[T], n: int | None, seed: int) -> list[T]:
    """All of them shuffled by the seed, or the first `n` of that order: fewer are always a part of more."""
    order = random.Random(seed).sample(values, len(values))
    return order if n is None else order[:n]


def _part(
    asked: Sequence[Asked], passages: Sequence[str], n: int | None, seed: int, leaks: Leaks | None
) -> Part:
    passages = list(dict.fromkeys(passages))
    if leaks is not None:
        asked = [one for one in asked if not leaks.repeats(one.question, (one.paragraph, *one.also))]
        passages = [text for text in passages if not leaks.holds(text)]
    return Part(drawn(asked, n, seed), passages)


def _prepare(library: Library, retrievers: Sequence[str], colbert: str, report: ProgressCallback) -> None:
    """Makes the vectors that the retrievers need."""
    stages = {stage for name in retrievers for stage in stages_named(name)}
    if "dense" in stages:
        sync_vectors(library.store, library.encoder, report)
    if "colbert" in stages:
        library.require_colbert(colbert)
        library.sync_tokens(report)


def _tell(report: ProgressCallback, part: str, total: int, done: int) -> None:
    report(part, done, total)
