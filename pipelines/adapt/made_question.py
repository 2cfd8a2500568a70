"""A question that a corpus asks of itself, and which of its passages answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["cloze", "heading", "definition"]
KINDS: tuple[Kind, ...] = ("cloze", "heading", "definition")
MEASURED: tuple[Kind, ...] = ("cloze", "heading")
"""The kinds that say whether a model became better: their words are the documents' own. "What is X?" is a
form that a model could learn instead."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """`document.text[start:end]` is the sentence or the line of the heading that the question was made of.

    `passage_ids` answer it, those that hold most of the answer first.
    """

    text: str
    kind: Kind
    document_id: str
    start: int
    end: int
    passage_ids: tuple[int, ...]
