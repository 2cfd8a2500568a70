"""Where passages stand in the ranking of each stage of a retriever, however far down.

The score is that of the best of the passages, searched for alone; the rank is exact down to DEEPEST, which
takes one more search of that depth a stage, without reading any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage

from ...index.snapshot import Snapshot
from ...retrieval.protocol import Ranker
from ...retrieval.retrievers import CheckedRetriever, stages_of
from ...retrieval.stage import Stage
from ..reranking import below_reranking

if TYPE_CHECKING:
    from ..library import Library

DEEPEST = 100_000


@dataclass(frozen=True, slots=True)
class StageRank:
    """The best of some passages in the ranking of one stage.

    `rank` counts from 1, None below `depth`; all are None where the stage finds none of them: without a
    common word, or without a vector.
    """

    stage: str
    depth: int
    rank: int | None = None
    score: float | None = None
    passage: Passage | None = None


def single_stages(library: Library, retriever: str) -> list[Ranker]:
    """The stages that a retriever is made of, each over the last commit; without re-ranking."""
    below = below_reranking(retriever)
    names = stages_of(below, library._models.plugged.retrievers(below))
    found = [library.retriever(name) for name in names]
    return [stage for stage in found if isinstance(stage, Stage | CheckedRetriever)]


def stage_ranks(
    question: str, passage_ids: NDArray[np.int64], stages: Sequence[Ranker], snapshot: Snapshot
) -> list[StageRank]:
    """The best of these passages, ascending ids, in each stage among all passages of the index."""
    return [_stage_rank(question, passage_ids, stage, snapshot) for stage in stages]


def hit_rank(name: str, hits: Sequence[Hit], document_id: str) -> StageRank:
    """The best passage of a document among the hits of a whole retriever, fusion and re-ranking included."""
    hit = next((hit for hit in hits if hit.passage.document_id == document_id), None)
    return StageRank(name, len(hits), hit.rank, hit.score, hit.passage) if hit else StageRank(name, len(hits))


def _stage_rank(
    question: str, passage_ids: NDArray[np.int64], stage: Ranker, snapshot: Snapshot
) -> StageRank:
    depth = min(DEEPEST, snapshot.n_passages)
    [own] = stage.rank([question], 1, passage_ids)
    if not len(own.passage_ids):
        return StageRank(stage.name, depth)
    best, score = int(own.passage_ids[0]), float(own.scores[0])
    [ranking] = stage.rank([question], depth)
    found = np.flatnonzero(ranking.passage_ids == best)
    rank = int(found[0]) + 1 if len(found) else None
    return StageRank(stage.name, depth, rank, score, snapshot.passages([best])[0])
