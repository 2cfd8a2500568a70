"""The script that chooses a retriever indexes part by part, once, and writes a row a retriever."""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tiny_models import tiny_encoder

import spanwise
from spanwise.pipelines.reranking import Reranking

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {
    "right_top1": 3,
    "right_top3": 4,
    "false_answers": 1,
    "wrongly_declined": 2,
    "rightly_declined": 5,
    "answer_recall@1": 0.5,
    "answer_recall@5": 0.75,
    "answer_recall@20": 1.0,
    "ms_retrieve": 12.4,
    "ms": 345.6,
    "index_bytes": 2_500_000,
}
AGAINST = {"against_bm25": {"handled": {"difference": 0.125, "p": 0.0312}}}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure_choice", ROOT / "scripts" / "measure_choice.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "measure_choice", module)  # where dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def task(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One folder of two files, whose questions are not asked; what would have been asked."""
    (tmp_path / "docs").mkdir()
    for name in ("mill", "tram"):
        (tmp_path / "docs" / f"{name}.txt").write_text(f"The {name} is red.\n")
    question = '{"question": "Who?", "answers": [], "documents": [], "answerable": false}\n'
    (tmp_path / "q.jsonl").write_text(question)
    one = script.Task(str(tmp_path / "docs"), str(tmp_path / "q.jsonl"))
    monkeypatch.setattr(script, "TASKS", {"notes": one})
    model = str(tiny_encoder(tmp_path / "encoder"))
    monkeypatch.setattr(script.spanwise, "open", partial(spanwise.open, model=model))
    asked: list[Any] = []

    def ask(library: Any, questions: Any, out: Path, names: Any, reranking: Reranking) -> dict[str, Any]:
        asked.append(library.missing_vectors())
        return {name: FIGURES | (AGAINST if at else {}) for at, name in enumerate(names)}

    monkeypatch.setattr(script, "evaluate_retrievers", ask)
    return asked


def test_a_folder_is_indexed_by_part_and_only_once(script: Any, task: list[Any], tmp_path: Path) -> None:
    found = [script.measure("notes", tmp_path, ["bm25", "hybrid"], Reranking()) for _ in range(2)]
    assert found[0] == found[1]
    assert (found[0]["files"], found[0]["passages"], found[0]["absent"], task) == (2, 2, 1, [0, 0])
    minutes = [each["minutes_per_1000_files"] for each in found[0]["retrievers"].values()]
    assert 0 < minutes[0] < minutes[1]


def test_a_row_has_all_that_a_choice_rests_on(script: Any, task: list[Any], tmp_path: Path) -> None:
    found = script.measure("notes", tmp_path, ["bm25", "bm25+rerank"], Reranking())
    for each in found["retrievers"].values():
        each["minutes_per_1000_files"] = 1.5
    lines = list(script.markdown("notes", found))
    row = "3 | 4 | 1 | 2 | 5 | 0.50 / 0.75 / 1.00 | 12 / 346 | 2.5 | 1.5"
    assert lines[-3:-1] == [f"| `bm25` | {row} |  |", f"| `bm25+rerank` | {row} | +0.125, 0.031 |"]
    assert {line.count("|") for line in lines if line.startswith("|")} == {12}


def test_every_retriever_is_asked_with_and_without_re_ranking(script: Any) -> None:
    assert len(script.RETRIEVERS) == 10
    assert all((ROOT / task.questions).is_file() for task in script.TASKS.values())


def test_minutes_are_of_the_parts_that_a_retriever_needs(script: Any) -> None:
    indexing = {"files": 100, "words": 6.0, "vectors": 12.0, "tokens": 60.0}
    minutes = partial(script.minutes_per_1000_files, indexing)
    assert [round(minutes(name), 6) for name in ("bm25", "hybrid+rerank", "colbert")] == [1.0, 3.0, 11.0]
