"""Damaged SQuAD data, predictions and no-answer probabilities, each with what must come of scoring them.

A corruption knows what it did: either the files must be refused with certain words, or they must be scored
with certain counts on stderr. Those that change JSON values change them in the case, so that the right score
is that of what the case then holds; those that change bytes never change what the bytes still say.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DATA, PREDICTIONS, NA = "data", "predictions", "na_probs"


@dataclass(frozen=True)
class Refused:
    """One line on stderr with these words and the name of the file, nothing on stdout, exit 1."""

    words: str
    file: str


@dataclass(frozen=True)
class Scored:
    """The score of what the case holds, and these counts on stderr; 0 is not said."""

    unanswered: int = 0
    unknown_predictions: int = 0
    unknown_probabilities: int = 0
    relocated: int = 0


@dataclass
class Case:
    """What three files say; `raw` holds the bytes of those that do not simply say it."""

    data: Any
    predictions: Any
    na_probs: Any
    raw: dict[str, bytes] = field(default_factory=dict)

    @property
    def version(self) -> str:
        return "1.1" if self.na_probs is None else "2.0"

    def bytes_of(self, name: str) -> bytes:
        if name in self.raw:
            return self.raw[name]
        return json.dumps(getattr(self, name), ensure_ascii=False).encode()

    def paragraphs(self) -> list[dict[str, Any]]:
        return [paragraph for article in self.data["data"] for paragraph in article["paragraphs"]]

    def questions(self) -> list[dict[str, Any]]:
        return [question for paragraph in self.paragraphs() for question in paragraph["qas"]]

    def golds(self) -> dict[str, list[str]]:
        return {q["id"]: [answer["text"] for answer in q["answers"]] for q in self.questions()}


Corruption = Callable[[Case, random.Random], Refused | Scored]
NOT_JSON = {DATA: "not JSON", PREDICTIONS: "not a JSON object", NA: "not a JSON object"}
WRONG_TYPES: dict[type, tuple[Any, ...]] = {
    str: (None, 7, 0.5, ["x"], {"text": "x"}, True, float("nan"), float("inf"), []),
    list: (None, 7, "x", {"0": []}, False, float("nan")),
    dict: (None, 7, "x", [], [[]], True),
    int: (None, "3", 3.5, [3], {}, True, float("nan"), float("-inf")),
    bool: (None, 0, "false", [], {}),
    float: (None, "0.5", [0.5], {}, True, float("nan"), float("inf"), float("-inf")),
}
