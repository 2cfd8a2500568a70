"""Evaluation end to end on a small SQuAD-format file."""

from __future__ import annotations

import json

import pytest

from spanwise.corpora.squad import read_squad
from spanwise.pipelines.cli import main
from spanwise.pipelines.evaluation.squad import gold_questions
from spanwise.pipelines.validation_split import is_validation, split_articles
from spanwise.reader.evidence import Features

CONTEXTS = {
    "The mill was built in 1811 by Ada Rook.": ("Who built the mill?", "Ada Rook"),
    "The tram was opened in 1903 by Ute Falk.": ("Who opened the tram?", "Ute Falk"),
    "The weir was raised in 1920 by Otto Brandt.": ("Who raised the weir?", "Otto Brandt"),
}


def squad_file(folder, absent=False):
    paragraphs = []
    for i, (context, (question, answer)) in enumerate(CONTEXTS.items()):
        gold = {
            "id": f"q{i}",
            "question": question,
            "answers": [{"text": answer, "answer_start": context.index(answer)}],
        }
        qas = [{**gold, "is_impossible": False} if absent else gold]
        if absent:
            qas.append({"id": f"n{i}", "question": "Who sold it?", "answers": [], "is_impossible": True})
        paragraphs.append({"context": context, "qas": qas})
    path = folder / "set.json"
    path.write_text(json.dumps({"version": "x", "data": [{"title": "Town", "paragraphs": paragraphs}]}))
    return path


def test_a_limit_draws_the_same_questions_for_a_seed(tmp_path):
    dataset = read_squad(squad_file(tmp_path))
    assert gold_questions(dataset, 2, seed=1) == gold_questions(dataset, 2, seed=1)
    assert len(gold_questions(dataset, 2)) == 2


def test_eval_open_puts_retrievers_side_by_side(tmp_path, capsys, reader_folder):
    arguments = ["eval", "open", "--data", str(squad_file(tmp_path)), "--reader", reader_folder, "--json"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--retriever", "tfidf", "--retriever", "bm25", "--read", "2"])
    assert stopped.value.code == 0
    record = json.loads(capsys.readouterr().out)
    assert list(record) == ["tfidf", "bm25"]
    assert record["bm25"]["recall@1"] == 1.0
    assert record["bm25"]["read"] == 2


def test_eval_folder_judges_answers(folder, tmp_path, capsys, encoder_folder, reader_folder, monkeypatch):
    monkeypatch.setenv("SPANWISE_INDEX_MODEL", encoder_folder)
    questions = tmp_path / "questions.jsonl"
    record = {
        "question": "Who built the mill?",
        "answers": ["Ada Rook"],
        "documents": ["mill.md"],
        "answerable": True,
    }
    questions.write_text(json.dumps(record))
    for arguments in (
        ["index", str(folder)],
        ["eval", "folder", str(folder), "--questions", str(questions), "--reader", reader_folder, "--json"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed["questions"] == len(printed["records"]) == 1
    assert (
        printed["right_top1"] + printed["wrongly_declined"] + printed["by_type"]["factoid"].get("wrong", 0)
        == 1
    )


def test_the_validation_split_is_by_the_digest_of_the_title(tmp_path):
    titles = [f"Title {i}" for i in range(400)]
    chosen = [title for title in titles if is_validation(title)]
    assert 5 < len(chosen) < 45
    training, validation = split_articles(read_squad(squad_file(tmp_path)).articles)
    assert len(training) + len(validation) == 1


def features(margin: float, similarity: float = 0.0) -> Features:
    return Features(margin, 0.0, 0.0, 0.0, similarity)
