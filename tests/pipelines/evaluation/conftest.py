"""Result folders with given scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.eval.question_record import QuestionRecord
from spanwise.pipelines.evaluation.result_folder import ResultFolder


@pytest.fixture
def results(tmp_path):
    """Makes a result folder: name, {system: {question id: scores}}, and fields of its records."""

    def make(name: str, systems: dict, finished: bool = True, **fields) -> Path:
        with ResultFolder.start(tmp_path / name, "open", {}) as folder:
            for system, scores in systems.items():
                folder.add(
                    QuestionRecord(system, qid, f"What is {qid}?", one, **fields)
                    for qid, one in scores.items()
                )
            if finished:
                folder.finish({system: {} for system in systems})
        return tmp_path / name

    return make
