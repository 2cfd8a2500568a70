"""The truncation ledger: which characters of the documents no vector stands for.

An encoder sees a passage up to its window; sync stores with each vector how far that was. A character is
covered when one passage that holds it was seen that far, so what two passages share counts once. Passages
without a vector are not in the ledger (`Library.missing_vectors` and `missing_tokens` count them), nor are
those whose vectors an older format wrote without saying how far the window reached.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from spanwise.types import Passage, Span

from ..index.rows import indexed_text
from ..index.snapshot import Snapshot
from ..index.vectors import Coverage

BATCH = 1024

Place = tuple[int, int]
Seen = tuple[Passage, int]
"""A passage, and how many code points of its own text the window saw."""


def gaps(snapshot: Snapshot) -> list[Span]:
    """The parts that the window of an encoder did not reach, dense or of tokens, by document and place.

    There is no white space at their ends; what two encoders missed is one part.
    """
    missed: dict[str, list[Place]] = defaultdict(list)
    for model in sorted(snapshot.vector_models().keys() | snapshot.token_models().keys()):
        for document_id, places in _missed(snapshot, snapshot.coverage(model)):
            missed[document_id] += places
    found: list[Span] = []
    for document_id in sorted(missed):
        text = snapshot.document(document_id).text
        found += [
            Span(document_id, start, end, text[start:end]) for start, end in joined(missed[document_id])
        ]
    return found


def joined(places: Iterable[Place]) -> list[Place]:
    """Places in order, those that overlap or touch made one.

    >>> joined([(8, 9), (0, 3), (2, 5)])
    [(0, 5), (8, 9)]
    """
    found: list[Place] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _missed(snapshot: Snapshot, coverage: Coverage) -> Iterator[tuple[str, list[Place]]]:
    """Each document that a window did not reach in whole, and the places that it missed."""
    for document_id, seen in groupby(_seen(snapshot, coverage), key=lambda one: one[0].document_id):
        passages = list(seen)
        if any(count < len(passage.text) for passage, count in passages):
            yield document_id, list(_uncovered(snapshot.document(document_id).text, passages))


def _seen(snapshot: Snapshot, coverage: Coverage) -> Iterator[Seen]:
    """Every passage, by document and place; one of which nothing is known counts as seen."""
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
