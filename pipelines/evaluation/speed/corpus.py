"""The corpus of a comparison: paragraphs, their passages, questions with the paragraph that answers each.

All engines index the same passages: those that spanwise makes of the paragraphs. A corpus goes from process
to process as a folder: corpus.json and, where a comparison is about vectors, their matrices.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Document

from ....corpora.passages import split
from .tokens import Tokens

CORPUS, PASSAGE_VECTORS, QUESTION_VECTORS = "corpus.json", "passages.npy", "questions.npy"
WITHOUT_VECTORS = "this corpus has no vectors: its comparison should say that it starts from them"


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage: the number of its paragraph, where it starts in it, and its text."""

    paragraph: int
    start: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Distinct paragraphs, their passages in order, and questions; `gold[i]` is the paragraph of question i.

    The vectors, one unit row a passage and a question, are there only for comparisons that begin with them,
    and so are the tokens, several rows each.
    """

    paragraphs: tuple[str, ...]
    passages: tuple[Piece, ...]
    questions: tuple[str, ...]
    gold: tuple[int, ...]
    vectors: NDArray[np.float32] | None = None
    question_vectors: NDArray[np.float32] | None = None
    tokens: Tokens | None = None

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [passage.text for passage in self.passages]

    @property
    def given_vectors(self) -> NDArray[np.float32]:
        """The vectors of the passages; `ValueError` for a corpus without."""
        if self.vectors is None:
            raise ValueError(WITHOUT_VECTORS)
        return self.vectors

    def vector_of_question(self) -> dict[str, NDArray[np.float32]]:
        """The vector of each question, (1, width), by its text; `ValueError` for a corpus without."""
        if self.question_vectors is None:
            raise ValueError(WITHOUT_VECTORS)
        return dict(zip(self.questions, self.question_vectors[:, np.newaxis], strict=True))

    @property
    def given_tokens(self) -> Tokens:
        """The tokens of passages and questions; `ValueError` for a corpus without."""
        if self.tokens is None:
            raise ValueError(WITHOUT_VECTORS)
        return self.tokens

    def beginning(self, n_paragraphs: int) -> Corpus:
        """The same without what comes after the first paragraphs; the questions stay."""
        n = sum(passage.paragraph < n_paragraphs for passage in self.passages)
        vectors = None if self.vectors is None else self.vectors[:n]
        tokens = self.tokens and self.tokens.beginning(n)
        paragraphs, passages = self.paragraphs[:n_paragraphs], self.passages[:n]
        return replace(self, paragraphs=paragraphs, passages=passages, vectors=vectors, tokens=tokens)

    def save(self, folder: Path) -> None:
        """Write it into an existing folder."""
        record = {
            "paragraphs": self.paragraphs,
            "passages": [(p.paragraph, p.start, p.text) for p in self.passages],
            "questions": self.questions,
            "gold": self.gold,
        }
        (folder / CORPUS).write_text(json.dumps(record), encoding="utf-8")
        if self.vectors is not None and self.question_vectors is not None:
            np.save(folder / PASSAGE_VECTORS, self.vectors, allow_pickle=False)
            np.save(folder / QUESTION_VECTORS, self.question_vectors, allow_pickle=False)
        if self.tokens is not None:
            self.tokens.save(folder)

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """What `save` wrote."""
        record = json.loads((folder / CORPUS).read_text(encoding="utf-8"))
        return cls(
            tuple(record["paragraphs"]),
            tuple(Piece(*fields) for fields in record["passages"]),
            tuple(record["questions"]),
            tuple(record["gold"]),
            _matrix(folder / PASSAGE_VECTORS),
            _matrix(folder / QUESTION_VECTORS),
            Tokens.load(folder),
        )


def corpus_of(asked: Sequence[tuple[str, Sequence[str]]], n_questions: int, seed: int) -> Corpus:
    """The corpus of paragraphs, each with the questions on it, of which so many are drawn by the seed.

    `ValueError` when there is no question.
    """
    texts = tuple(paragraph for paragraph, _ in asked)
    pieces = (
        Piece(number, passage.start, passage.text)
        for number, text in enumerate(texts)
        for passage in split(Document("", "text/plain", "", "", text))
    )
    every = [(question, number) for number, (_, questions) in enumerate(asked) for question in questions]
    if not every:
        raise ValueError(f"none of the {len(texts)} paragraphs has a question: take more of them")
    drawn = random.Random(seed).sample(every, min(n_questions, len(every)))
    return Corpus(texts, tuple(pieces), tuple(text for text, _ in drawn), tuple(gold for _, gold in drawn))


def _matrix(path: Path) -> NDArray[np.float32] | None:
    if not path.is_file():
        return None
    rows: NDArray[np.float32] = np.load(path, allow_pickle=False)
    return rows
