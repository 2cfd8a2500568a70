"""From SQuAD-format files to ranking examples: each question with its paragraph and mined negatives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from spanwise.types import Hit, RankingExample

from ...corpora.collections.ranking_folder import write_ranking_folder
from ...corpora.shingles import jaccard
from ...corpora.squad import Article, SquadDataset
from ...eval.answer_match import match_text, match_tokens
from ...retrieval.protocol import Retriever
from ...retrieval.registry import stages_of
from ...retrieval.training.mining import Mining, negatives
from ..evaluation.open_corpus import OpenCorpus
from ..paragraph_index import contexts_of, document_id_of
from ..progress import Report, silent
from ..sync import sync_vectors
from ..validation_split import split_articles

TRAIN, VALIDATION, INDEX = "train", "validation", "index"
QUESTIONS_AT_ONCE = 256
TEXTS_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the paragraph that it was asked of, and its answers."""

    question: str
    paragraph: str
    answers: tuple[str, ...]


def mine_squad(
    datasets: Sequence[SquadDataset],
    out: Path,
    retrievers: Sequence[str] = ("bm25", "dense"),
    mining: Mining | None = None,
    limit: int | None = None,
    validation: int = 500,
    report: Report = silent,
) -> dict[str, int]:
    """Writes the ranking folders `out/train` and `out/validation`, returns how many examples each has.

    Negatives for training are paragraphs of the training articles alone, those for validation any of the
    files'. `limit` questions are drawn by the seed. `out/index` holds the paragraphs, and is used again.
    """
    mining = mining or Mining()
    articles = [article for dataset in datasets for article in dataset.articles]
    training, held_back = split_articles(articles)
    with OpenCorpus.plan(out / INDEX, contexts_of(articles)).open() as library:
        if any("dense" in stages_of(name) for name in retrievers):
            sync_vectors(library.store, library.encoder, report)
        found_by = [library.retriever(name) for name in retrievers]
        texts = {document_id_of(context): context for context in contexts_of(articles)}
        counts = {}
        for part, of, wanted, own in (
            (TRAIN, training, limit, contexts_of(training)),
            (VALIDATION, held_back, validation, list(texts.values())),
        ):
            asked = drawn(asked_of(of), wanted, mining.seed)
            miner = _Miner(found_by, texts, frozenset(own), list(dict.fromkeys(own)), mining)
            examples = miner.examples(asked, partial(_tell, report, part, len(asked)))
            counts[part] = write_ranking_folder(out / part, examples)
    return counts


def _holds(answers: Sequence[str], form: Callable[[str], str], passage: str) -> bool:
    """Whether an answer stands in the passage; both in the form of `eval.answer_match`."""
    words = form(passage)
    return any(answer in words for answer in answers)


def _tell(report: Report, part: str, total: int, done: int) -> None:
    report(part, done, total)


def asked_of(articles: Sequence[Article]) -> list[Asked]:
    """The answerable questions of the articles, in order."""
    return [
        Asked(question.text, paragraph.context, tuple(dict.fromkeys(a.text for a in question.answers)))
        for article in articles
        for paragraph in article.paragraphs
        for question in paragraph.questions
        if question.answers and question.text.strip()
    ]


def drawn(asked: list[Asked], n: int | None, seed: int) -> list[Asked]:
    """All of them shuffled by the seed, or the first `n` of that order: fewer are always a part of more."""
    order = random.Random(seed).sample(asked, len(asked))
    return order if n is None else order[:n]


@dataclass(frozen=True, slots=True)
class _Miner:
    """Asks the retrievers and keeps what is no answer; `texts` are paragraphs by document id."""

    retrievers: Sequence[Retriever]
    texts: dict[str, str]
    allowed: frozenset[str]
    others: Sequence[str]
    mining: Mining

    def examples(self, asked: Sequence[Asked], tell: Callable[[int], None]) -> Iterator[RankingExample]:
        form = lru_cache(TEXTS_KEPT)(match_text)
        for at in range(0, len(asked), QUESTIONS_AT_ONCE):
            batch = asked[at : at + QUESTIONS_AT_ONCE]
            questions = [one.question for one in batch]
            found = [each.search(questions, self.mining.depth) for each in self.retrievers]
            for i, one in enumerate(batch):
                rankings = [self._paragraphs(hits[i]) for hits in found]
                answers = [form(answer) for answer in one.answers if match_tokens(answer)]
                hard = negatives(
                    one.paragraph,
                    rankings,
                    self.others,
                    partial(_holds, answers, form),
                    jaccard,
                    self.mining,
                    random.Random(f"{self.mining.seed} {one.question}"),
                )
                yield RankingExample(one.question, (one.paragraph, *hard))
            tell(at + len(batch))

    def _paragraphs(self, hits: Sequence[Hit]) -> list[str]:
        found = dict.fromkeys(self.texts.get(hit.passage.document_id) for hit in hits)
        return [text for text in found if text is not None and text in self.allowed]  # an index may hold more
