"""What the crash tests write, commit by commit, and the proof that an index holds one commit whole.

Nothing is random: the documents of generation n are those of the first n commits, and every version of a
document has words and vectors of its own, so that a half of a commit shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from made_corpora import MODEL, PLAIN, Texts, stage, vector_of

from spanwise.errors import SpanwiseError
from spanwise.index import Snapshot, Store
from spanwise.retrieval.bm25 import bm25_retriever


def texts(name: str, version: int, n: int = 2) -> tuple[str, ...]:
    """The passages of one version of a document; the first word of each is in no other passage."""
    return tuple(f"{name}{version}p{part} mill {name}{version}" for part in range(n))


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit does; `kind` is the phase of an index's life that it stands for."""

    kind: str
    put: Texts = field(default_factory=dict)
    remove: Sequence[str] = ()


HISTORY = (
    Change("add", {name: texts(name, 1) for name in "abc"}),
    Change("add", {"d": texts("d", 1, 1)}),
    Change("update", {"a": texts("a", 2)}),
    Change("delete and rewrite", remove=["b"]),  # more than half of the first segment is dead
    Change("merge", {"e": texts("e", 1, 1)}),  # the fourth small segment
    Change("add", {"f": texts("f", 1)}),
    Change("delete", remove=["d"]),
)


def contents(generation: int) -> dict[str, tuple[str, ...]]:
    """The documents after so many commits."""
    held: dict[str, tuple[str, ...]] = {}
    for change in HISTORY[:generation]:
        held |= {name: tuple(parts) for name, parts in change.put.items()}
        held = {name: parts for name, parts in held.items() if name not in change.remove}
    return held


def commit(store: Store, change: Change) -> int:
    """Write one commit, words and vectors; the generation it made."""
    with store.writer() as writer:
        stage(writer, change.put, change.remove, vectors=True)
        return writer.commit()


def write_history(store: Store, after: int = 0) -> None:
    """Write all commits that come after a generation."""
    for change in HISTORY[after:]:
        commit(store, change)


def check(path: Path, at_least: int, at_most: int) -> int:
    """The generation of the index at `path`, after every answer proved to be that of its documents alone."""
    with Store.open(path) as store:
        assert store.verify() == []
        with store.snapshot() as snapshot:
            assert at_least <= snapshot.generation <= at_most
            check_answers(snapshot, contents(snapshot.generation))
            return snapshot.generation


def check_answers(snapshot: Snapshot, held: Texts) -> None:
    """Each passage is found by its own word and its own vector, and no other version of any document is."""
    assert {name: snapshot.document(name).text for name in snapshot.files()} == {
        name: "\n".join(parts) for name, parts in held.items()
    }
    expected = {(name, part) for name, parts in held.items() for part in parts}
    assert {(passage.document_id, passage.text) for passage in snapshot.all_passages()} == expected
    if not expected:
        return
    questions = sorted({part for change in HISTORY for parts in change.put.values() for part in parts})
    words = [text.split()[0] for text in questions]
    found = bm25_retriever(snapshot, PLAIN).search(words, 3)
    assert {hit.passage.text for hits in found for hit in hits} == {text for _, text in expected}
    for text, hits in zip(questions, found, strict=True):
        assert {hit.passage.text for hit in hits} <= {text}
    nearest = snapshot.vectors(MODEL).search(np.stack([vector_of(text) for _, text in sorted(expected)]), 1)
    for (_, text), ranking in zip(sorted(expected), nearest, strict=True):
        assert [passage.text for passage in snapshot.passages(ranking.passage_ids.tolist())] == [text]


def generation_of(path: Path) -> int | None:
    """The generation of the index at `path`, None when there is no index."""
    try:
        with Store.open(path) as store, store.snapshot() as snapshot:
            return snapshot.generation
    except SpanwiseError:
        return None
