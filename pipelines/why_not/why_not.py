"""Why not this document? The question is asked as `ask` would, and the document followed through every stage.

Costs one `ask`, and for each stage of the retriever one search of the whole index that reads no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Document, Filter, Passage

from ...index.analysis import Analyzer
from ..ask import Asked, Asker
from ..explaining.question_words import lacking, question_words
from ..explaining.stage_ranks import StageRank, hit_rank, single_stages, stage_ranks
from ..explaining.weighed import Weighed, weighed
from ..named import Named, named
from .file_fate import changes, file_fate
from .filtered import left_out_by
from .loss import WhyNot
from .sought import Sought, sought
from .verdict import verdict

if TYPE_CHECKING:
    from ..library import Library

DEPTH = 1_000  # hits of the whole retriever that are looked through


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of `Library.ask`, and the words that should have answered."""

    k: int
    retriever: str
    rerank: str | None
    rerank_depth: int
    reader: str
    alternatives: int
    threshold: float | None
    group: bool
    where: Filter | None
    words: str | None
    read_all: bool = False


def why_not(library: Library, given: str, question: str, settings: Settings) -> WhyNot:
    """What became of the document called `given`; see `named` for names, and `WhyNot`."""
    with library.reading() as snapshot:
        files, refusals = snapshot.files(), snapshot.refusals()
    one = named(given, files.keys() | refusals.keys(), library.roots)
    if one.id not in files:
        fate = file_fate(one, refusals, library.roots, library.sync_command)
        return WhyNot(question, one.id, fate.stage, fate.reason, fate.advice)
    remarks = changes(one, files[one.id], library.sync_command)
    if settings.where is not None:
        with library.reading() as snapshot:
            ids = snapshot.passage_ids_of([one.id])
            left_out = left_out_by(snapshot, settings.where, ids)
        if left_out:
            reason = f"the filter leaves it out: {'; '.join(left_out)}"
            return WhyNot(question, one.id, "filtered", reason, "ask without that condition", tuple(remarks))
    return _followed(library, one, question, settings, remarks)


def _followed(
    library: Library, one: Named, question: str, settings: Settings, remarks: Sequence[str]
) -> WhyNot:
    asker = library.asker(
        settings.retriever,
        settings.reader,
        group=settings.group,
        where=settings.where,
        rerank=settings.rerank,
        rerank_depth=settings.rerank_depth,
    )
    [asked] = asker.trace(
        [question], settings.k, settings.alternatives, settings.threshold, read_all=settings.read_all
    )
    ids = asker.snapshot.passage_ids_of([one.id])
    passages = asker.snapshot.passages(ids.tolist())
    ranks = _ranks(library, asker, one.id, ids, question, settings)
    own, winner = _best(asked, asker, one.id), _best(asked, asker)
    found = verdict(asked, one.id, own, ranks)
    places = _places(settings.words, asker.snapshot.document(one.id), passages, asked)
    if settings.words is not None and not places:
        remarks = [*remarks, f"the words {settings.words!r} do not stand in it"]
    return WhyNot(
        question,
        one.id,
        found.stage,
        found.reason,
        found.advice,
        tuple(remarks),
        _lacks(question, passages, asker.analyzer),
        tuple(ranks),
        min((hit.rank for hit in asked.read if hit.passage.document_id == one.id), default=None),
        own,
        winner if own != winner else None,
        places,
        asked.answer,
    )


def _places(
    words: str | None, document: Document, passages: Sequence[Passage], asked: Asked
) -> tuple[Sought, ...]:
    return () if words is None else sought(words, document, passages, asked.read, asked.readings)


def _ranks(
    library: Library,
    asker: Asker,
    document_id: str,
    ids: NDArray[np.int64],
    question: str,
    settings: Settings,
) -> list[StageRank]:
    """In each stage, among all passages; then in the whole retriever, among those that the filter leaves."""
    whole = library.retriever(settings.retriever, settings.rerank, settings.rerank_depth)
    stages = single_stages(library, settings.retriever)
    among = asker.selection.passage_ids if asker.selection else None
    [hits] = whole.search([question], max(DEPTH, settings.k), among)
    return [*stage_ranks(question, ids, stages, asker.snapshot), hit_rank(whole.name, hits, document_id)]


def _best(asked: Asked, asker: Asker, document_id: str | None = None) -> Weighed | None:
    """The best candidate, of that document or of all."""
    ranked = (
        weighed(one, asker.calibration)
        for one in asked.ranked
        if document_id in (None, one.candidate.scored.span.document_id)
    )
    return next(ranked, None)


def _lacks(question: str, passages: Sequence[Passage], analyzer: Analyzer) -> tuple[str, ...]:
    missing = lacking(question_words(question, analyzer), passages, analyzer)
    return tuple(word.of(question) for word in missing)
