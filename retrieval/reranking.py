"""Re-ranking: a scorer reads question and passage together and sorts the best hits of a retriever.

The scorer ranks the first `depth` passages; those below keep the order of the retriever. Their scores are
shifted below the scorer's lowest score, so that scores fall along the whole ranking:

    score(d) = lowest - 1 - (s(last) - s(d))    s: the retriever's score, last: the last of the first `depth`

Apart from the order, a shifted score has no meaning. Hits that the scorer read have a score of the stage
`rerank`.

Source: Nogueira and Cho, "Passage Re-ranking with BERT", 2019, section 3.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spanwise.types import Hit, ProgressCallback, no_progress

from ..index.protocol import Floats, Ids
from ..index.schema import indexed_text
from .protocol import Retriever, Scorer
from .stage import check_questions

STAGE = "rerank"
SUFFIX = f"+{STAGE}"  # of a retriever's name

Scores = list[Floats]


class RerankingRetriever:
    """Re-ranks the first `depth` hits of `retriever` by `scorer`; hits keep the scores of all stages.

    Passages are scored with their headings, as they are indexed.
    """

    def __init__(
        self,
        retriever: Retriever,
        scorer: Scorer,
        depth: int,
        on_progress: ProgressCallback = no_progress,
    ) -> None:
        if depth < 1:
            raise ValueError(f"the depth of re-ranking must be at least 1, not {depth}")
        self.name = retriever.name + SUFFIX
        self._retriever = retriever
        self._scorer = scorer
        self._depth = depth
        self._on_progress = on_progress
        self._last: tuple[Any, Scores] = (None, [])  # deduplication repeats a question to get more hits

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question, after the retriever's first `depth` hits are re-ranked.

        All pairs are scored together. The hits for a smaller k are the first hits for a larger one.
        """
        check_questions(questions, k)
        rankings = self._retriever.search(questions, max(k, self._depth), among)
        scores = self._scored(questions, [hits[: self._depth] for hits in rankings])
        return [reranked(hits, column)[:k] for hits, column in zip(rankings, scores, strict=True)]

    def _scored(self, questions: Sequence[str], rankings: Sequence[Sequence[Hit]]) -> Scores:
        pairs = (tuple(questions), [[hit.passage.id for hit in hits] for hits in rankings])
        if self._last[0] != pairs:
            texts = [[indexed_text(hit.passage) for hit in hits] for hits in rankings]
            n_pairs = sum(map(len, texts))
            scores = self._scorer.score(questions, texts, lambda n: self._on_progress(STAGE, n, n_pairs))
            self._last = (pairs, scores)
        return self._last[1]


def reranked(hits: Sequence[Hit], scores: Floats) -> list[Hit]:
    """The scored hits in the order of their new scores, then the others.

    Equal scores are ordered by (document id, start).
    """
    scored = [
        replace(hit, score=score, scores={**hit.scores, STAGE: score})
        for hit, score in zip(hits, scores.tolist(), strict=False)
    ]
    scored.sort(key=lambda hit: (-hit.score, hit.passage.document_id, hit.passage.start))
    ranked = scored + _below(scored, hits[len(scored) - 1 :]) if scored else []
    return [replace(hit, rank=rank) for rank, hit in enumerate(ranked, start=1)]


def _below(scored: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """All `hits` but the first (the last scored one), with scores below those of all scored hits."""
    last, *rest = hits
    return [replace(hit, score=scored[-1].score - 1 - (last.score - hit.score)) for hit in rest]
