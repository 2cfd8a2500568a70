"""At which stage of a traced question a document was lost: by its hits, its candidates, what was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ask import Asked
from ..explaining.rejected import reasons
from ..explaining.stage_ranks import StageRank
from ..explaining.weighed import Weighed
from .loss import Stage


@dataclass(frozen=True, slots=True)
class Verdict:
    """The stage, why, and what would change it."""

    stage: Stage
    reason: str
    advice: str = ""


def verdict(asked: Asked, document_id: str, own: Weighed | None, ranks: Sequence[StageRank]) -> Verdict:
    """Where it was lost; `own` is its best candidate, the last of `ranks` that of the whole retriever."""
    answer = asked.answer
    if answer.best is not None and answer.best.span.document_id == document_id:
        return Verdict("answer", "it is the answer")
    shown = [other.span.document_id for other in answer.alternatives]
    if document_id in shown:
        place = shown.index(document_id) + 1
        return Verdict("alternative", f"it is shown as other answer {place}; another has more evidence")
    if own is not None:
        return _not_shown(asked, document_id)
    if any(hit.passage.document_id == document_id for hit in asked.read):
        return Verdict("unread", "its passages were read, and no words of them became a candidate")
    return _skipped(asked, document_id) or _not_retrieved(asked, document_id, ranks[-1])


def _not_shown(asked: Asked, document_id: str) -> Verdict:
    rejected = asked.answer.rejected
    if rejected and rejected[0].answer.span.document_id == document_id:
        best = rejected[0]
        why = "; ".join(reasons(best, asked.answer.question))
        known = best.answer.confidence
        advice = "show it with: --threshold 0" if known is None else f"show it with: --threshold {known:.4f}"
        return Verdict("declined", f"its words came nearest, and the question was declined: {why}", advice)
    place = next(
        at for at, one in enumerate(asked.ranked, 1) if one.candidate.scored.span.document_id == document_id
    )
    best_of_all = asked.ranked[0].candidate.scored.span
    declined = "; the question was declined" if asked.answer.no_answer else ""
    return Verdict(
        "outscored",
        f"its best words are candidate {place} of {len(asked.ranked)}; {best_of_all.document_id} has more "
        f"evidence{declined}",
    )


def _skipped(asked: Asked, document_id: str) -> Verdict | None:
    """Of a document that was found, in a passage of its own or in one that says nearly the same."""
    if any(passage.document_id == document_id for hit in asked.read for passage in hit.duplicates):
        return None
    n_read = len(asked.readings)
    for hit in asked.hits[n_read:]:
        if any(one.document_id == document_id for one in (hit.passage, *hit.duplicates)):
            reason = f"it was found at rank {hit.rank} and left unread: the best {n_read} were enough"
            return Verdict("skipped", reason, "read it with: --read-all")
    return None


def _not_retrieved(asked: Asked, document_id: str, whole: StageRank) -> Verdict:
    for hit in asked.hits:
        if any(passage.document_id == document_id for passage in hit.duplicates):
            at = f"{hit.passage.document_id} at rank {hit.rank}"
            reason = f"what it says is nearly that of {at}, which was read"
            return Verdict("duplicate", reason, "read each with: --no-group")
    n_found = len(asked.hits)
    if whole.rank is not None:
        reason = f"its best passage has rank {whole.rank}, and the best {n_found} were asked for"
        return Verdict("unretrieved", reason, f"read that far with: -k {whole.rank}")
    return Verdict("unretrieved", f"none of its passages is among the first {whole.depth} that were found")
