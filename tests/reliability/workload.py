"""The index of the crash tests: its commits, the check that it holds one commit whole, ways to damage it.

Nothing is random: the documents of generation n are those of the first n commits, and every version of a
document has words and vectors of its own, so that half a commit shows.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from crashes import killed_at
from helpers.corpora import MODEL, PLAIN, Corpus, Texts, stage, vector_of
from helpers.token_vectors import TOKEN_MODEL, tokens_of

from spanwise.errors import SpanwiseError
from spanwise.index.catalog import Catalog
from spanwise.index.snapshot import Snapshot
from spanwise.index.store import Store
from spanwise.retrieval.bm25 import bm25_retriever


def texts(name: str, version: int, n: int = 2) -> tuple[str, ...]:
    """The passages of one version of a document; the first word of each is in no other passage."""
    return tuple(f"{name}{version}p{part} mill {name}{version}" for part in range(n))


@dataclass(frozen=True, slots=True)
class Change:
    """The documents that one commit puts and removes."""

    put: Texts = field(default_factory=dict)
    remove: Sequence[str] = ()


HISTORY = (
    Change({name: texts(name, 1) for name in "abc"}),
    Change({"d": texts("d", 1, 1)}),
    Change({"a": texts("a", 2)}),
    Change(remove=["b"]),  # more than half of the first segment is dead: it is rewritten
    Change({"e": texts("e", 1, 1)}),  # the fourth small segment: they are merged
    Change({"f": texts("f", 1)}),
    Change(remove=["d"]),
)
MERGING = 4  # the number of the commit that merges


def contents(generation: int) -> dict[str, Sequence[str]]:
    """The documents after this many commits."""
    held: dict[str, Sequence[str]] = {}
    for change in HISTORY[:generation]:
        held |= change.put
        held = {name: parts for name, parts in held.items() if name not in change.remove}
    return held


def commit(store: Store, change: Change) -> int:
    """Write one commit of words, vectors and tokens; returns its generation."""
    with store.writer() as writer:
        stage(writer, change.put, change.remove, vectors=True)
        return writer.commit()


def commit_and_die(say: Callable[[int], None], path: Path, change: Change, last: int | None) -> None:
    """A task: commit, killed before the change of a file number `last`; sends the generation, then how many
    changes there were.
    """
    with killed_at(last, path) as made, Store.open(path) as store:
        say(commit(store, change))
    say(len(made))


def make_index(path: Path, generation: int = len(HISTORY)) -> Path:
    """A closed index of the first commits, with postings, vectors, tokens and tombstones."""
    with Corpus(path).store as store:
        for change in HISTORY[:generation]:
            commit(store, change)
    return path


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
    assert {
        (passage.document_id, passage.text) for passage in snapshot.passages(snapshot.passage_ids())
    } == expected
    if not expected:
        return
    texts = [text for _, text in sorted(expected)]
    every = sorted({part for change in HISTORY for parts in change.put.values() for part in parts})
    results = bm25_retriever(snapshot, PLAIN).search([text.split()[0] for text in every], 3)
    for text, hits in zip(every, results, strict=True):
        assert [hit.passage.text for hit in hits] == [text] * (text in texts)
    nearest = snapshot.vectors(MODEL).search(np.stack([vector_of(text) for text in texts]), 1)
    late = snapshot.maxsim(TOKEN_MODEL).search([tokens_of(text) for text in texts], 1)
    for text, ranking in zip(texts * 2, [*nearest, *late], strict=True):
        assert [passage.text for passage in snapshot.passages(ranking.passage_ids.tolist())] == [text]


def check_recovered(path: Path, at_least: int, at_most: int) -> None:
    """The index holds one commit whole; the next writer finishes the history and leaves nothing behind."""
    generation = check(path, at_least, at_most)
    with Store.open(path) as store:
        for change in HISTORY[generation:]:
            commit(store, change)
    check(path, len(HISTORY), len(HISTORY))
    catalog = Catalog.open(path / "catalog.sqlite")
    assert {entry.name for entry in (path / "segments").iterdir()} == {
        segment.id for segment in catalog.segments()
    }
    catalog.close()


def stamp(generation: int) -> Change:
    """A commit that writes its own number into the catalog, the postings, the vectors and the tokens."""
    text = f"n{generation} generation {generation}"
    return Change({"stamp": (text,), f"d{generation % 4}": (text,)})


def write_stamps(say: Callable[[int], None], path: Path, last: int) -> None:
    """Commit stamps up to generation `last`, and send each number when it is on the disk."""
    with Store.open(path) as store:
        with store.snapshot() as snapshot:
            before = snapshot.generation
        for generation in range(before, last):
            say(commit(store, stamp(generation + 1)))


def check_stamp(snapshot: Snapshot) -> int:
    """The generation, after catalog, postings, vectors and tokens proved to be of the same one."""
    generation = snapshot.generation
    if generation:
        (text,) = stamp(generation).put["stamp"]
        assert snapshot.document("stamp").text == text
        assert len(snapshot.postings().term(f"n{generation}").rows) == 2
        (nearest,) = snapshot.vectors(MODEL).search(vector_of(text)[np.newaxis], 2)
        (late,) = snapshot.maxsim(TOKEN_MODEL).search([tokens_of(text)], 2)
        for ranking in (nearest, late):
            assert {passage.text for passage in snapshot.passages(ranking.passage_ids.tolist())} == {text}
    return generation


Damage = Callable[[bytes, random.Random], bytes]


def flipped(whole: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :]


def truncated(whole: bytes, draw: random.Random) -> bytes:
    return whole[: draw.randrange(len(whole))]


def zeroed(whole: bytes, draw: random.Random) -> bytes:
    return bytes(len(whole))


def scrambled(whole: bytes, draw: random.Random) -> bytes:
    """Some bytes changed at once, in the header of the file in three of ten cases."""
    changed = bytearray(whole)
    end = min(100, len(whole)) if draw.random() < 0.3 else len(whole)
    for _ in range(draw.randint(1, 16)):
        changed[draw.randrange(end)] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return bytes(changed)


def files_of(index: Path) -> list[Path]:
    """Everything that answers come from; the lock holds nothing."""
    paths = (path for path in index.rglob("*") if path.is_file() and path.name != "write.lock")
    return sorted(path.relative_to(index) for path in paths)


def answers(index: Path) -> object:
    """Everything that an index answers."""
    with Store.open(index) as store, store.snapshot() as snapshot:
        postings = snapshot.postings()
        (dense,) = snapshot.vectors(MODEL).search(vector_of("a question")[np.newaxis], 20)
        (late,) = snapshot.maxsim(TOKEN_MODEL).search([tokens_of("a question")], 20)
        return (
            snapshot.passages(snapshot.passage_ids()),
            [snapshot.document(name) for name in snapshot.files()],
            postings.all_statistics,
            [postings.term(term).rows.tolist() for term in ("mill", "a2", "f1")],
            [(snapshot.passages(each.passage_ids.tolist()), each.scores.tolist()) for each in (dense, late)],
        )


def answers_or_error(index: Path) -> tuple[object, str]:
    """The answers of an index, or None and the error that took their place."""
    try:
        return answers(index), ""
    except SpanwiseError as error:
        return None, str(error)


def complaints(index: Path) -> list[str]:
    """The report of `verify`, or the error that prevents one."""
    try:
        with Store.open(index) as store:
            return store.verify()
    except SpanwiseError as error:
        return [str(error)]
