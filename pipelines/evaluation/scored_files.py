"""Whatever a comparison is given: result folders, records, SQuAD predictions, TREC runs."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from spanwise.errors import DataMalformed

from ...corpora.squad import SquadDataset
from ...eval.pairing import Asked, Scored
from ...eval.predictions import read_predictions
from ...eval.squad import best_over_golds, exact_match, f1_v1, question_scores_v2
from .scored_records import Source, from_records_file, from_results
from .squad import GoldQuestion, gold_questions

MAX_FIRST_LINE = 2**24  # of a file that is looked at to tell its kind
GZIP = b"\x1f\x8b"


def from_predictions(path: Path, dataset: SquadDataset) -> Source:
    """Exact match and F1 (0..1) of each question; `read_predictions` says what is refused.

    As the official scripts have it, a question without a prediction scores 0 in version 1.1 and has no
    score in version 2.0.
    """
    questions = gold_questions(dataset)
    predictions = read_predictions(path)
    golds = {question.id: question.answers for question in questions}
    if dataset.version == "2.0":
        exact, f1 = question_scores_v2(golds, predictions)
    else:
        exact, f1 = _question_scores_v1(golds, predictions)
    asked = {question.id: Asked(question.text, frozenset(question.answers)) for question in questions}
    missing = len(golds.keys() - predictions.keys())
    notes = (f"{path}: {missing} of {len(golds)} questions have no prediction",) if missing else ()
    return Source(path, (Scored(_stem(path), {"exact": exact, "f1": f1}, asked),), notes)
