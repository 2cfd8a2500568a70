"""An index to be damaged, the ways to damage a file, and what an index serves."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from made_corpora import MODEL, vector_of
from made_token_vectors import TOKEN_MODEL, tokens_of

from spanwise.errors import SpanwiseError
from spanwise.index import Store

Damage = Callable[[bytes, random.Random], bytes]


def flipped(whole: bytes, draw: random.Random) -> bytes:
    """One bit changed."""
    place = draw.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :]


def truncated(whole: bytes, draw: random.Random) -> bytes:
    """An end cut off."""
    return whole[: draw.randrange(len(whole))]


def zeroed(whole: bytes, draw: random.Random) -> bytes:
    """Every byte 0."""
    return bytes(len(whole))


def scrambled(whole: bytes, draw: random.Random) -> bytes:
    """Some bytes changed at once, in the header of the file in three of ten cases."""
    changed = bytearray(whole)
    end = min(100, len(whole)) if draw.random() < 0.3 else len(whole)
    for _ in range(draw.randint(1, 16)):
        changed[draw.randrange(end)] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return bytes(changed)


def spliced(whole: bytes, draw: random.Random) -> bytes:
    """A piece of the file repeated in another place of it."""
    start, to = draw.randrange(len(whole)), draw.randrange(len(whole))
    piece = whole[start : start + draw.randint(1, 4096)]
    return whole[:to] + piece + whole[to + draw.choice((0, len(piece))) :]


def files_of(index: Path) -> list[Path]:
    """Everything that answers come from; the lock holds nothing."""
    found = (path for path in index.rglob("*") if path.is_file() and path.name != "write.lock")
    return sorted(path.relative_to(index) for path in found)


def served(index: Path) -> object:
    """Everything that an index answers."""
    with Store.open(index) as store, store.snapshot() as snapshot:
        postings = snapshot.postings()
        (dense,) = snapshot.vectors(MODEL).search(vector_of("a question")[np.newaxis], 20)
        (late,) = snapshot.maxsim(TOKEN_MODEL).search([tokens_of("a question")], 20)
        return (
            list(snapshot.all_passages()),
            [snapshot.document(name) for name in snapshot.files()],
            postings.all_statistics,
            [postings.find(term)[0].tolist() for term in ("mill", "a2", "f1")],
            snapshot.passages(dense.passage_ids.tolist()),
            dense.scores.tolist(),
            snapshot.passages(late.passage_ids.tolist()),
            late.scores.tolist(),
        )


def served_or_refused(index: Path) -> tuple[object, str]:
    """What an index answers, or None and the error that took its place."""
    try:
        return served(index), ""
    except SpanwiseError as error:
        return None, str(error)


def complaints(index: Path) -> list[str]:
    """What `verify` says, or the error that keeps it from saying anything."""
    try:
        with Store.open(index) as store:
            return store.verify()
    except SpanwiseError as error:
        return [str(error)]
