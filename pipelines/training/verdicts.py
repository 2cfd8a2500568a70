"""Fits when a yes-no question is answered with "yes" or "no", for `calibrate`."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from spanwise.types import ProgressCallback

from ...corpora.datasets.folder_questions import domains_of, read_folder_items
from ...eval.calibration import fit_logistic
from ...reader.evidence import VerdictRule
from ...reader.protocol import Reader
from ..answering.reading import N_BEST
from ..evaluation.asked_folders import QUESTIONS_AT_ONCE
from .questions import item_passage

SURE = 0.92  # share of the verdicts shown that are right


def fit_verdicts(
    reader: Reader, folders: Path, on_progress: ProgressCallback
) -> tuple[VerdictRule, dict[str, float]]:
    """The rule for "yes" and "no" on the yes-no questions about folders, and figures on folders left out.

    The rule is fitted on as many questions with yes as with no. Its threshold is the lowest confidence from
    which on SURE of the verdicts are right, on each folder by a fit on the others. ValueError for one folder.
    """
    yes: list[float] = []
    items: list[tuple[str, bool]] = []
    for domain, path in domains_of(folders).items():
        asked = [item for item in read_folder_items(path) if item.verdict]
        for begin in range(0, len(asked), QUESTIONS_AT_ONCE):
            on_progress(f"questions about {domain}", begin, len(asked))
            batch = asked[begin : begin + QUESTIONS_AT_ONCE]
            passages = [[item_passage(item)] for item in batch]
            for item, [spans] in zip(
                batch, reader.read([item.question for item in batch], passages, N_BEST), strict=True
            ):
                bounds = (item.start or 0, item.end or 0)
                right = [s.yes for s in spans if s.span.start < bounds[1] and bounds[0] < s.span.end]
                if right and not math.isnan(right[0]):
                    yes.append(right[0])
                    items.append((domain, item.verdict == "yes"))
    groups = sorted({domain for domain, _ in items})
    if len(groups) < 2:
        raise ValueError(f"{folders} has yes-no questions about {len(groups)} folder; expected two or more")
    judged: list[tuple[float, bool]] = []
    for group in groups:
        outside = [(x, label) for x, (domain, label) in zip(yes, items, strict=True) if domain != group]
        slope, offset = _balanced_fit(outside)
        rule = VerdictRule(slope, offset, 0.0)
        for x, (domain, label) in zip(yes, items, strict=True):
            if domain == group and (verdict := rule.verdict(x)):
                judged.append((verdict[1], (verdict[0] == "yes") == label))
    judged.sort(reverse=True)
    n_right = list(accumulate(right for _, right in judged))
    sure = [n for n in range(1, len(judged) + 1) if n_right[n - 1] >= SURE * n]
    n_shown = sure[-1] if sure else 0
    threshold = judged[n_shown - 1][0] if n_shown else 1.0
    figures = {"right": n_right[-1] / len(judged), "shown": n_shown / len(judged)}
    slope, offset = _balanced_fit([(x, label) for x, (_, label) in zip(yes, items, strict=True)])
    return VerdictRule(slope, offset, threshold), figures


def _balanced_fit(pairs: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Slope and offset of P(yes), from as many questions with yes as with no."""
    sides = [[x for x, label in pairs if label is side] for side in (True, False)]
    n = min(map(len, sides))
    drawn = [random.Random(0).sample(side, n) for side in sides]
    model = fit_logistic([[x] for side in drawn for x in side], [1] * n + [0] * n)
    return float(model.weights[0]), model.bias
