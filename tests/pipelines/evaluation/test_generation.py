"""Generated texts are judged as the reference packages judge them, and kept in a folder."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from made_texts import made_pairs
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu, sentence_bleu

from spanwise.errors import DataMalformed
from spanwise.eval.text.generated_texts import GeneratedText
from spanwise.pipelines.evaluation import generation
from spanwise.pipelines.evaluation.generation import evaluate_generation, evaluate_texts, read_texts
from spanwise.pipelines.evaluation.result_folder import ResultFolder

LINES = [
    {"id": "mill", "references": ["the black cat sat on the mat"], "prediction": "the cat sat on the mat"},
    {
        "id": "weir",
        "references": ["Ada Rook built it", "It was Ada Rook"],
        "prediction": "Ada Rook",
        "confidence": 0.5,
    },
    {"id": "tram", "references": ["every ten minutes"], "question": "How often?", "prediction": "so so so"},
]


def write(folder: Path, lines: list[dict], name: str = "texts.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def without_predictions(lines: list[dict]) -> list[dict]:
    return [{key: value for key, value in line.items() if key != "prediction"} for line in lines]


def made_texts(n: int) -> list[GeneratedText]:
    pairs = made_pairs(n, seed=3)
    return [GeneratedText(str(i), (*references, "x"), given) for i, (references, given) in enumerate(pairs)]


def test_figures_of_a_collection_equal_the_packages() -> None:
    texts = made_texts(100)
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True)
    figures = evaluate_texts(texts, stem=True)
    expected = [scorer.score_multi(text.references, text.prediction) for text in texts]
    for name in expected[0]:
        means = [sum(one[name][i] for one in expected) / len(texts) for i in range(3)]
        found = [figures[name + part] for part in ("_precision", "_recall", "")]
        assert found == pytest.approx(means, abs=1e-9)
    streams = [[(*t.references, *[None] * 5)[i] for t in texts] for i in range(5)]
    expected_bleu = corpus_bleu([t.prediction for t in texts], streams, force=True)
    assert figures["bleu"] == pytest.approx(expected_bleu.score, abs=1e-9)
    assert figures["brevity_penalty"] == pytest.approx(expected_bleu.bp, abs=1e-9)


def test_figures_do_not_depend_on_the_order() -> None:
    texts = made_texts(50)
    shuffled = random.Random(4).sample(texts, len(texts))
    assert evaluate_texts(texts) == evaluate_texts(shuffled)


def test_no_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="no texts"):
        evaluate_texts([])


def test_the_folder_keeps_figures_and_records(tmp_path: Path) -> None:
    figures = evaluate_generation(write(tmp_path, LINES), tmp_path / "out")
    results = ResultFolder.open(tmp_path / "out")
    assert results.metrics["systems"] == {"texts": figures}
    first, second, third = results.records("texts")
    assert first.scores == pytest.approx(
        {"rouge1": 12 / 13, "rouge2": 8 / 11, "rougeL": 12 / 13, "bleu": 67.3182}, abs=5e-5
    )
    assert second.scores["bleu"] == pytest.approx(sentence_bleu("Ada Rook", LINES[1]["references"]).score)
    assert (second.golds, second.prediction, second.confidence) == (
        tuple(LINES[1]["references"]),
        "Ada Rook",
        0.5,
    )
    assert (third.question, figures["repetition-1"]) == ("How often?", 3 / 11)


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    data = write(tmp_path, LINES)
    monkeypatch.setattr(generation, "TEXTS_AT_ONCE", 2)
    with pytest.raises(KeyboardInterrupt):
        evaluate_generation(data, tmp_path / "out", report=stop)
    assert [record.id for record in ResultFolder.open(tmp_path / "out").records()] == ["mill", "weir"]
    assert evaluate_generation(data, tmp_path / "out") == evaluate_generation(data, tmp_path / "whole")
    records = (tmp_path / "whole" / "records.jsonl").read_text()
    assert (tmp_path / "out" / "records.jsonl").read_text() == records


def test_other_data_are_not_mixed_into_a_folder(tmp_path: Path) -> None:
    evaluate_generation(write(tmp_path, LINES), tmp_path / "out")
    with pytest.raises(ValueError, match="data_sha256"):
        evaluate_generation(write(tmp_path, LINES[:2]), tmp_path / "out")


def test_predictions_of_their_own_file_are_joined_by_id(tmp_path: Path) -> None:
    predictions = tmp_path / "model.json"
    predictions.write_text(
        json.dumps({"tram": "so so so", "mill": "the cat sat on the mat", "weir": "Ada Rook"})
    )
    alone, joined = write(tmp_path, LINES), write(tmp_path, without_predictions(LINES), "references.jsonl")
    figures = evaluate_generation(joined, tmp_path / "out", predictions)
    assert figures == evaluate_generation(alone, tmp_path / "alone")
    assert list(ResultFolder.open(tmp_path / "out").metrics["systems"]) == ["model"]


def test_missing_and_unknown_predictions_are_counted(tmp_path: Path) -> None:
    said: list[str] = []
    predictions = tmp_path / "model.json"
    predictions.write_text(json.dumps({"mill": "the cat", "mil": "a", "weird": "b"}))
    texts = read_texts(write(tmp_path, LINES), predictions, said.append)
    assert [text.prediction for text in texts] == ["the cat", None, None]
    assert ["2 predictions are for ids not in" in said[0], "'mil'" in said[0]] == [True, True]
    assert ["2 of 3 texts have no prediction in" in said[1], "'weir'" in said[1]] == [True, True]


def test_a_missing_prediction_counts_as_an_empty_one() -> None:
    given = [GeneratedText("1", ("a b c d",), "a b c d"), GeneratedText("2", ("a b",))]
    empty = [given[0], GeneratedText("2", ("a b",), "")]
    assert evaluate_texts(given) == {**evaluate_texts(empty), "missing": 1}
    assert evaluate_texts(given)["rouge1"] == 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "no prediction for any of the 3 texts"),
        ('{"q9": "a"}', "no prediction for any"),
        ('{"mill": 3}', "the answer to 'mill' is a number"),
        ('{"mill": "\\ud800"}', "half of a surrogate pair in the answer to 'mill'"),
    ],
)
def test_wrong_predictions_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(DataMalformed, match=message):
        read_texts(write(tmp_path, LINES), tmp_path / "model.json", lambda _: None)


def test_the_command_prints_figures(run, tmp_path: Path) -> None:
    write(tmp_path, without_predictions(LINES[1:]) + LINES[:1])
    code, out, err = run("eval", "generation", "--data", "texts.jsonl", "--json")
    record = json.loads(out)
    assert (code, record["texts"], record["missing"]) == (0, 3, 2)
    assert "2 of 3 texts have no prediction" in err
    code, out, _ = run("eval", "generation", "--data", "texts.jsonl", "--stem", "--out", "kept")
    assert (code, "rouge1               0.3077" in out, "_recall" in out) == (0, True, False)
    assert sorted(p.name for p in (tmp_path / "kept").iterdir() if p.suffix != ".lock") == [
        "metrics.json",
        "records.jsonl",
        "report.html",
        "settings.json",
    ]


def test_the_command_names_what_is_wrong_in_one_line(run, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text('{"references": ["a"]}\nnonsense\n')
    code, out, err = run("eval", "generation", "--data", "texts.jsonl")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "texts.jsonl, line 2" in err
