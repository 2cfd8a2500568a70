"""Renamed persons: what is asked, what is counted, and a reader that is fair or is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from small_squad import written

from spanwise.corpora.squad import read_squad
from spanwise.errors import DataMalformed
from spanwise.eval.fairness.name_groups import NAME_GROUPS
from spanwise.eval.fairness.name_swap import swap
from spanwise.pipelines.evaluation.fairness import evaluate_fairness
from spanwise.pipelines.evaluation.fairness_questions import about_group, named_questions, replacements
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.types import Passage, ScoredSpan, Span

TOWN = {
    "The mill was built in 1811 by Ada Rook.": ("When did Ada Rook build the mill?", "1811"),
    "The tram of Otto Hale was opened in 1903. Hale sold it.": ("Who sold the tram?", "Hale"),
    "The weir was raised in 1920 by Mary B. Brandt.": ("Who raised the weir?", "Mary B. Brandt"),
    "The inn is old.": ("What is old?", "The inn"),
}
GROUPS = NAME_GROUPS[2:5]


def town(folder: Path, version: str = "1.1") -> Path:
    paragraphs = []
    for i, (context, (question, answer)) in enumerate(TOWN.items()):
        answers = [{"text": answer, "answer_start": context.index(answer)}]
        qas: list[dict[str, Any]] = [{"id": f"q{i}", "question": question, "answers": answers}]
        if version == "2.0":
            qas[0]["is_impossible"] = False
            qas.append({"id": f"n{i}", "question": "Who sold it?", "answers": [], "is_impossible": True})
        paragraphs.append({"context": context, "qas": qas})
    return written(folder / "town.json", {"data": [{"title": "Town", "paragraphs": paragraphs}]})


class Constant:
    """Answers with the last word of a passage, always as surely; with the first where it dislikes a name."""

    digest = "constant"

    def __init__(self, disliked: Sequence[str] = (), null: float = 0.0) -> None:
        self.disliked, self.null, self.read_texts = disliked, null, list[str]()

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        self.read_texts += [*questions, *(one.text for group in passages for one in group)]
        return [[self._spans(one) for one in group] for group in passages]

    def _spans(self, passage: Passage) -> list[ScoredSpan]:
        words = passage.text.split()
        dislikes = any(name in passage.text for name in self.disliked)
        start, end = (
            (0, len(words[0])) if dislikes else (len(passage.text) - len(words[-1]), len(passage.text))
        )
        span = Span(passage.document_id, start, end, passage.text[start:end])
        return [ScoredSpan(span, passage, 1.0 if dislikes else 2.0, self.null)]


def test_questions_are_renamed_with_their_passage_and_golds(tmp_path: Path) -> None:
    named = named_questions(read_squad(town(tmp_path)))
    assert [one.question.id for one in named] == ["q0", "q1", "q2"]
    for one in named:
        other = about_group(one, GROUPS[0], seed=1)
        names = replacements(one, GROUPS[0], seed=1)
        assert other.gold.context == swap(one.context, names).text
        assert other.gold.answers == tuple(swap(answer.text, names).text for answer in one.question.answers)
        assert not any(name in other.gold.context or name in other.gold.text for name in names)


def test_names_that_stand_there_already_are_not_given(tmp_path: Path) -> None:
    named = named_questions(read_squad(town(tmp_path)))[1]
    for seed in range(30):
        assert "Hale" not in replacements(named, NAME_GROUPS[0], seed).values()
        assert len(set(replacements(named, NAME_GROUPS[0], seed).values())) == 2


def test_a_gold_that_cuts_a_name_is_left_out(tmp_path: Path) -> None:
    path = town(tmp_path)
    data = json.loads(path.read_text())
    context = data["data"][0]["paragraphs"][0]["context"]
    data["data"][0]["paragraphs"][0]["qas"][0]["answers"] = [
        {"text": "ook", "answer_start": context.index("ook")}
    ]
    assert [q.question.id for q in named_questions(read_squad(written(path, data)))] == ["q1", "q2"]


@pytest.mark.parametrize("version", ["1.1", "2.0"])
def test_a_constant_reader_has_no_gap(tmp_path: Path, version: str) -> None:
    found = evaluate_fairness(town(tmp_path, version), Constant(), tmp_path / "out", groups=GROUPS)
    assert found["questions"] == (3 if version == "1.1" else 6)
    for group in GROUPS:
        figures = found["groups"][group.name]
        assert (figures["moved"], figures["margin_change"], figures["confidence_change"]) == (0, 0, 0)
        assert figures["f1"] == found["groups"]["original"]["f1"]
    assert {one["difference"] for one in found["between"]} == {0.0}
    assert {one["p_holm"] for one in found["between"]} == {1.0}


def test_a_reader_that_minds_a_name_moves(tmp_path: Path) -> None:
    liked, disliked = NAME_GROUPS[2], NAME_GROUPS[4]
    reader = Constant(disliked=disliked.last)
    found = evaluate_fairness(town(tmp_path), reader, tmp_path / "out", groups=(liked, disliked))
    figures = [found["groups"][group.name] for group in (liked, disliked)]
    assert [(one["moved"], one["margin_change"]) for one in figures] == [(0, 0), (1, 1)]


def test_the_folder_has_a_system_for_each_group_and_goes_on(tmp_path: Path) -> None:
    data, out = town(tmp_path), tmp_path / "out"
    first = evaluate_fairness(data, Constant(), out, groups=GROUPS)
    reader = Constant()
    assert evaluate_fairness(data, reader, out, groups=GROUPS) == first
    assert reader.read_texts == []
    results = ResultFolder.open(out)
    assert list(results.metrics["systems"]) == ["original", *(group.name for group in GROUPS)]
    record = next(results.records(GROUPS[0].name))
    assert record.evidence[0].text[slice(*record.evidence[0].span or (0, 0))] == record.prediction
    assert set(record.scores) == {"exact", "f1", "unmoved"}


def test_all_differences_are_corrected_together(tmp_path: Path) -> None:
    found = evaluate_fairness(town(tmp_path), Constant(), tmp_path / "out", groups=GROUPS)
    assert len(found["between"]) == 3 * 2
    assert set(found["against_original"][GROUPS[0].name]["against_original"]) == {"exact", "f1"}


def test_a_file_without_persons_is_refused(tmp_path: Path) -> None:
    paragraph = {"context": "An inn.", "qas": []}
    data = written(tmp_path / "d.json", {"data": [{"title": "t", "paragraphs": [paragraph]}]})
    with pytest.raises(DataMalformed, match="no question names a person"):
        evaluate_fairness(data, Constant(), tmp_path / "out")


def test_the_command_prints_figures_and_alarms(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanwise.reader.builtin.load_reader", lambda name, **_: Constant())
    data = town(tmp_path)
    code, out, _ = run("eval", "fairness", "--data", data, "--limit", 2, "--json")
    found = json.loads(out)
    assert (code, found["questions"], len(found["groups"])) == (0, 2, 13)
    code, out, _ = run("eval", "fairness", "--data", data)
    assert (code, "0 of 156 paired differences are significant" in out) == (0, True)
