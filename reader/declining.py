"""Whether a reader's null score means anything: found out by asking it, not by its name.

A model that was trained on answerable questions alone has a null score, too, and it says nothing. So every
reader is asked a few questions of passages that answer them and of passages that do not. It can decline when
its null margin (best span minus null score) tells the two apart, and lies on the right side of zero for some
of each. A folder that knows better says so in its `settings.json`: {"answers_null": true}.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from spanwise.types import Passage

from ..models.model_folder import read_json, stated
from .declining_pairs import PAIRS
from .span_reader import SpanReader

SETTINGS = "settings.json"
LEAST_AUC, LEAST_SHARE = 0.8, 0.25


def declining(reader: SpanReader, folder: Path) -> SpanReader:
    """The reader, with `answers_null` as the settings of its folder say, or else as it turns out."""
    path = folder / SETTINGS
    said = stated(read_json(path), "answers_null", bool, path) if path.is_file() else None
    reader.answers_null = answers_null(reader) if said is None else said
    return reader


def answers_null(reader: SpanReader) -> bool:
    """Whether the reader's null score tells what a passage answers from what it does not."""
    reader.answers_null = True  # else it has no null scores to look at
    asked = [question for question, _ in PAIRS]
    texts = [text for _, text in PAIRS]
    others = [*texts[1:], texts[0]]
    return is_telling(_margins(reader, asked, texts), _margins(reader, asked, others))


def is_telling(answered: Sequence[float], absent: Sequence[float]) -> bool:
    """Whether margins are mostly higher where there is an answer, some above 0 there, some below 0 elsewhere.

    >>> is_telling([3.0, 1.0], [-2.0, 0.5]), is_telling([9.0, 8.0], [5.0, 4.0]), is_telling([0.0], [0.0])
    (True, False, False)
    """
    found = sum(margin > 0 for margin in answered) / len(answered)
    declined = sum(margin < 0 for margin in absent) / len(absent)
    return auc(answered, absent) >= LEAST_AUC and min(found, declined) >= LEAST_SHARE


def auc(high: Sequence[float], low: Sequence[float]) -> float:
    """How likely one of `high` is above one of `low`, a tie counting half: the area under the ROC curve.

    Source: Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.

    >>> auc([3, 1], [0, 1])
    0.875
    """
    wins = sum((a > b) + (a == b) / 2 for a, b in product(high, low))
    return wins / (len(high) * len(low))


def _margins(reader: SpanReader, questions: Sequence[str], texts: Sequence[str]) -> list[float]:
    """The best span of each pair minus its null score; a passage without a span is as good as declined."""
    passages = [[Passage(i, "pair", 0, len(text), text)] for i, text in enumerate(texts)]
    read = reader.read(questions, passages, n_best=1)
    return [spans[0].score - spans[0].null_score if spans else -1.0 for [spans] in read]
