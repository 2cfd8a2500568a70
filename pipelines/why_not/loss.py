"""The answer to "why not this document?": the stage at which it was lost, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spanwise.types import Answer

from ..explaining.stage_ranks import StageRank
from ..explaining.weighed import Weighed
from .sought import Sought

Stage = Literal[
    "outside",
    "ignored",
    "refused",
    "pending",
    "filtered",
    "unretrieved",
    "duplicate",
    "skipped",
    "unread",
    "outscored",
    "declined",
    "alternative",
    "answer",
]
"""In the order that a document passes them: the file, the filter, the retriever, the reader, the answer."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """At which `stage` a document was lost for a question, why in a sentence, and what would change it.

    What lies behind that stage is empty. `remarks` are on its file and on words that were sought in vain.
    `lacks` are words of the question that none of its passages holds. `ranks` are those of its best passage,
    a stage of the retriever each, then the whole of it; `read` is the rank of its best passage that was read.
    `own` is its best candidate, `winner` the best of all where that is another.
    """

    question: str
    document: str
    stage: Stage
    reason: str
    advice: str = ""
    remarks: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    ranks: tuple[StageRank, ...] = ()
    read: int | None = None
    own: Weighed | None = None
    winner: Weighed | None = None
    sought: tuple[Sought, ...] = ()
    answer: Answer | None = None
