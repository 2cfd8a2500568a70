"""Token vectors that depend on words alone, as if a model had made them, and MaxSim by its definition."""

import hashlib
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.snapshot import Snapshot
from spanwise.index.writer import Writer

TOKEN_MODEL = "t"  # the digest of the model that `tokens_of` stands for
WIDTH = 8


@lru_cache(maxsize=50_000)
def vector_of(text: str, width: int = WIDTH) -> NDArray[np.float32]:
    """A unit vector that depends on the text alone, as if a model had made it."""
    draw = np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))
    vector = draw.standard_normal(width)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def tokens_of(text: str) -> NDArray[np.float32]:
    """(words, 8) a unit vector for each word, and one for a text without words."""
    return np.stack([vector_of(word) for word in text.split() or ["[CLS]"]])


@cache
def codebook() -> Codebook:
    """A codebook for few tokens: a collection of some dozens outgrows it."""
    return Codebook.train(np.concatenate([vector_of(f"w{n}")[np.newaxis] for n in range(12)]), 12)


def put_tokens(writer: Writer, passage_ids: Sequence[int], texts: Sequence[str]) -> int:
    """Store the tokens of passages, and a codebook when there is none."""
    if writer.codebook(TOKEN_MODEL) is None:
        writer.put_codebook(TOKEN_MODEL, codebook())
    tokens = [tokens_of(text) for text in texts]
    vectors = np.concatenate([np.empty((0, WIDTH), np.float32), *tokens])
    return writer.put_tokens(TOKEN_MODEL, passage_ids, vectors, list(map(len, tokens)))


def maxsim(question: NDArray[np.float32], passage: NDArray[np.float32]) -> float:
    """The sum over the rows of a question of the largest product with a row of the passage."""
    return float((question.astype(np.float64) @ passage.astype(np.float64).T).max(axis=1).sum())


def decoded(snapshot: Snapshot) -> dict[int, NDArray[np.float32]]:
    """The token vectors of each live passage, as scores are defined by them."""
    stored = snapshot.stored_tokens(TOKEN_MODEL)
    known = snapshot.codebook(TOKEN_MODEL)
    assert known is not None
    vectors = known.decode(stored.read(np.arange(len(stored))))
    parts = np.split(vectors, np.cumsum(stored.lengths)[:-1])
    return dict(zip(stored.passage_ids.tolist(), parts, strict=True))
