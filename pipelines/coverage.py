"""The truncation ledger: which characters of the documents no vector stands for.

An encoder sees a passage up to its window; sync stores with each vector how far that was. A character is
covered when one passage that holds it was seen that far, so what two passages share counts once. Passages
without a vector are not in the ledger (`Library.missing_vectors` counts them), nor are those whose vectors
an older format wrote without saying how far the window reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from spanwise.types import Passage, Span

from ..index.rows import indexed_text
from ..index.snapshot import Snapshot

BATCH = 1024

Seen = tuple[Passage, int]
"""A passage, and how many code points of its own text the window saw."""


def gaps(snapshot: Snapshot, model_digest: str) -> list[Span]:
    """The parts that a model's window did not reach, without white space at their ends, in order."""
    found: list[Span] = []
    for document_id, seen in groupby(_seen(snapshot, model_digest), key=lambda one: one[0].document_id):
        passages = list(seen)
        if any(count < len(passage.text) for passage, count in passages):
            text = snapshot.document(document_id).text
            found += [
                Span(document_id, start, end, text[start:end]) for start, end in _uncovered(text, passages)
            ]
    return found


def _seen(snapshot: Snapshot, model_digest: str) -> Iterator[Seen]:
    """Every passage, by document and place; one of which nothing is known counts as seen."""
    coverage = snapshot.coverage(model_digest)
    covered = dict(zip(coverage.passage_ids.tolist(), coverage.covered.tolist(), strict=True))
    ids = snapshot.passage_ids().tolist()
    for at in range(0, len(ids), BATCH):
        for passage in snapshot.passages(ids[at : at + BATCH]):
            count = covered.get(passage.id, -1)
            above = len(indexed_text(passage)) - len(passage.text)
            yield passage, len(passage.text) if count < 0 else max(0, count - above)


def _uncovered(text: str, passages: Sequence[Seen]) -> Iterator[tuple[int, int]]:
    """The spans of the passages that none of them covers, trimmed; `passages` are in order of their start."""
    reached = 0
    for passage, count in passages:
        yield from _trimmed(text, reached, passage.start)
        reached = max(reached, passage.start + count)
    yield from _trimmed(text, reached, max(passage.end for passage, _ in passages))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    words = text[start:end].strip()
    if words:
        first = text.index(words, start)
        yield first, first + len(words)
