"""A threshold that held-back questions chose, for questions that must not choose their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .result_folder import ResultFolder
from .squad import COMMAND

MEASURES = ("f1", "exact")


def fitted_threshold(results: Path, reader_digest: str, measure: str = "f1") -> float:
    """The no-answer probability above which declining gave the best `measure` in a finished `eval squad`.

    ValueError: an unknown measure, the folder is of another evaluation, of another reader, or of questions
    that chose no threshold (version 1.1, or a reader without a null answer). DataMalformed: it is unfinished.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure is {measure!r}; expected {' or '.join(MEASURES)}")
    found = ResultFolder.open(results)
    if found.command != COMMAND or "reader_digest" not in found.settings:
        raise ValueError(f"{results} holds no `eval squad` of a reader; expected one of held-back questions")
    if found.settings["reader_digest"] != reader_digest:
        raise ValueError(
            f"{results} is of another reader ({found.settings.get('reader')}); expected the same"
        )
    for figures in found.metrics.get("systems", {}).values():
        point = figures.get(f"at_best_{measure}")
        if isinstance(point, Mapping):
            return float(point["threshold"])
    raise ValueError(f"{results} chose no threshold: expected SQuAD 2.0 and a reader with a null answer")
