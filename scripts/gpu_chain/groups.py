"""Training groups as numbers: a text is stored once, as the ids of its tokens, and rows refer to it.

The ids are those of the student's vocabulary; the teacher's has the same pieces of words, `shift` further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import DataMalformed
from spanwise.reader.training import TrainingRow

NOWHERE = -1  # the answer of a row without one
Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class PackedGroups:
    """Groups of rows; T texts, S sentences, G groups and R rows, group after group.

    `tokens` are the ids of all texts, which end before `ends` (T,). The sentences of a text, [first, after)
    of its tokens in `sentences` (S, 2), end before `sentence_ends` (T,). A group has `sizes` (G,) rows and
    its question's text in `questions` (G,); groups `held_out` (G,) are not trained on. A row has its context
    and its passage in `texts` (R, 2), and the first token and the length of its window in `windows` (R, 2).
    `answers` and `support` (R, 2) are in the window, NOWHERE without an answer; `labels` are (R, 3).
    """

    tokens: NDArray[np.uint16]
    ends: NDArray[np.uint32]
    sentences: NDArray[np.uint16]
    sentence_ends: NDArray[np.uint32]
    sizes: NDArray[np.uint8]
    questions: NDArray[np.uint32]
    held_out: NDArray[np.bool_]
    texts: NDArray[np.uint32]
    windows: NDArray[np.uint16]
    answers: NDArray[np.int16]
    support: NDArray[np.int16]
    labels: NDArray[np.int8]

    @classmethod
    def of(
        cls,
        groups: Sequence[Sequence[TrainingRow]],
        held_out: Sequence[bool],
        passages: Sequence[Sequence[str]],
        tokens_of: Mapping[str, tuple[Ids, NDArray[np.int64]]],
    ) -> Self:
        """The groups, whose rows read these passages; `tokens_of` has ids and sentences of each passage."""
        numbers: dict[bytes, int] = {}
        stored: list[Ids] = []
        sentences: dict[int, NDArray[np.int64]] = {}

        def number_of(ids: Ids) -> int:
            key = np.ascontiguousarray(ids, dtype=np.uint16).tobytes()
            if key not in numbers:
                numbers[key] = len(stored)
                stored.append(ids)
            return numbers[key]

        texts = []
        for group, of_group in zip(groups, passages, strict=True):
            for row, passage in zip(group, of_group, strict=True):
                ids, bounds = tokens_of[passage]
                texts.append((number_of(row.context), number_of(ids)))
                sentences.setdefault(texts[-1][1], bounds)
        questions = [number_of(group[0].question) for group in groups]
        rows = [row for group in groups for row in group]
        none = np.zeros((0, 2), dtype=np.int64)
        bounds_of = [sentences.get(number, none) for number in range(len(stored))]
        return cls(
            np.concatenate(stored).astype(np.uint16),
            np.cumsum([len(ids) for ids in stored]).astype(np.uint32),
            np.concatenate(bounds_of).astype(np.uint16),
            np.cumsum([len(bounds) for bounds in bounds_of]).astype(np.uint32),
            np.array([len(group) for group in groups], dtype=np.uint8),
            np.array(questions, dtype=np.uint32),
            np.array(held_out, dtype=np.bool_),
            np.array(texts, dtype=np.uint32),
            np.array([(row.first, len(row.window)) for row in rows], dtype=np.uint16),
            np.array([row.answer or (NOWHERE, NOWHERE) for row in rows], dtype=np.int16),
            np.array([row.support or (NOWHERE, NOWHERE) for row in rows], dtype=np.int16),
            np.array([row.labels for row in rows], dtype=np.int8),
        )

    def save(self, path: Path) -> None:
        """Writes a compressed file."""
        with path.open("wb") as file:
            np.savez_compressed(file, **{one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Self:
        """The groups of a file; DataMalformed for a damaged one."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(**{one.name: file[one.name] for one in fields(cls)})
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise DataMalformed(f"{path} cannot be read: {error}. Carry its parts again") from error

    def rows(self, shift: int) -> list[list[TrainingRow]]:
        """The rows of every group, each id `shift` further."""
        shifted = self.tokens.astype(np.int32) + shift
        texts = np.split(shifted, self.ends[:-1])
        found: list[list[TrainingRow]] = []
        last = np.cumsum(self.sizes, dtype=np.int64)
        for question, size, end in zip(self.questions, self.sizes, last, strict=True):
            found.append([self._row(texts, int(question), row) for row in range(end - size, end)])
        return found

    def sentences_in(self, row: int) -> NDArray[np.int64]:
        """(s, 2): the sentences of the passage of a row, [first, after) in its window; some may be empty."""
        text = int(self.texts[row, 1])
        begin = int(self.sentence_ends[text - 1]) if text else 0
        bounds = self.sentences[begin : self.sentence_ends[text]].astype(np.int64)
        first, length = map(int, self.windows[row])
        inside: NDArray[np.int64] = np.clip(bounds - first, 0, length)
        return inside

    def _row(self, texts: Sequence[Ids], question: int, row: int) -> TrainingRow:
        context, passage = self.texts[row]
        first, length = map(int, self.windows[row])
        answer, support = (_range(values[row]) for values in (self.answers, self.support))
        yes_no, yes, several = map(float, self.labels[row])
        window = texts[passage][first : first + length]
        labels = (yes_no, yes, several)
        return TrainingRow(texts[question], texts[context], window, answer, support, labels, first=first)


def _range(values: NDArray[Any]) -> tuple[int, int] | None:
    first, last = map(int, values)
    return None if first == NOWHERE else (first, last)
