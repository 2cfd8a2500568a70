"""What the crash tests write, commit by commit, and the proof that an index holds one commit whole.

Nothing is random: the documents of generation n are those of the first n commits, and every version of a
document has words and vectors of its own, so that a half of a commit shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from made_corpora import MODEL, PLAIN, Texts, stage, vector_of
from made_token_vectors import TOKEN_MODEL, tokens_of

from spanwise.index import Snapshot, Store
from spanwise.index.catalog import Catalog
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
    """Write one commit, words, vectors and tokens; the generation it made."""
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
    """Each passage is found by its own word, vector and tokens, and no other version of any document is."""
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
    late = snapshot.maxsim(TOKEN_MODEL).search([tokens_of(text) for _, text in sorted(expected)], 1)
    for (_, text), ranking in zip([*sorted(expected)] * 2, [*nearest, *late], strict=True):
        assert [passage.text for passage in snapshot.passages(ranking.passage_ids.tolist())] == [text]


def unnamed_segments(path: Path) -> set[str]:
    """What lies among the segments of the index at `path` that its last commit does not name."""
    catalog = Catalog.open(path / "catalog.sqlite")
    try:
        return {entry.name for entry in (path / "segments").iterdir()} - {
            entry.id for entry in catalog.segments()
        }
    finally:
        catalog.close()


def stamp(generation: int) -> Change:
    """A commit that writes its own number into the catalog, the postings, the vectors and the tokens."""
    text = f"n{generation} generation {generation}"
    return Change("stamp", {"stamp": (text,), f"d{generation % 4}": (text,)})


def write_stamps(say: Callable[[int], None], path: Path, last: int) -> None:
    """Commit stamps up to generation `last`, saying each when it is on the disk."""
    with Store.open(path) as store:
        with store.snapshot() as snapshot:
            first = snapshot.generation + 1
        for generation in range(first, last + 1):
            say(commit(store, stamp(generation)))


def check_stamp(snapshot: Snapshot) -> int:
    """The generation, after catalog, postings, vectors and tokens have told the same one."""
    generation = snapshot.generation
    if generation:
        (text,) = stamp(generation).put["stamp"]
        assert snapshot.document("stamp").text == text
        assert len(snapshot.postings().find(f"n{generation}")[0]) == 2
        (nearest,) = snapshot.vectors(MODEL).search(vector_of(text)[np.newaxis], 2)
        assert {passage.text for passage in snapshot.passages(nearest.passage_ids.tolist())} == {text}
        (late,) = snapshot.maxsim(TOKEN_MODEL).search([tokens_of(text)], 2)
        assert {passage.text for passage in snapshot.passages(late.passage_ids.tolist())} == {text}
    return generation
