"""`train reader` from a SQuAD-format file to a folder that reads."""

from __future__ import annotations

import json
import math

import pytest
import torch
from made_readers import question_answerer
from transformers import AutoModelForQuestionAnswering

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import read_squad
from spanwise.errors import ModelRejected
from spanwise.models.training import Recipe
from spanwise.pipelines.training.reader_start import reader_start
from spanwise.pipelines.training.train_reader import train_reader
from spanwise.pipelines.validation_split import is_validation
from spanwise.reader.load import load_reader
from spanwise.reader.training import ReaderRecipe
from spanwise.types import Passage

CONTEXTS = {"The mill was built by Ada Rook.": "Ada Rook", "The tram was opened by Ute Falk.": "Ute Falk"}
SMALL = ReaderRecipe(
    loop=Recipe(learning_rate=1e-2, warmup=0.0, evaluate_at=(1.0,)), epochs=2, batch_tokens=256, max_length=64
)
TITLES = ("Town", next(title for i in range(1000) if is_validation(title := f"Title {i}")))


def squad_file(folder):
    data = [
        {
            "title": title,
            "paragraphs": [
                {
                    "context": context,
                    "qas": [
                        {
                            "id": f"{title}-{answer}",
                            "question": "Who was it?",
                            "answers": [{"text": answer, "answer_start": context.index(answer)}],
                        }
                    ],
                }
                for context, answer in CONTEXTS.items()
            ],
        }
        for title in TITLES
    ]
    path = folder / "train.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}))
    return path


def test_a_trained_folder_is_written_resumed_and_read(tmp_path):
    datasets = [read_squad(squad_file(tmp_path))]
    recipe = ReaderRecipe(loop=Recipe(evaluate_at=(1.0,)), batch_tokens=256)
    evaluations = train_reader(datasets, tmp_path / "out", recipe)
    names = {"step", "exact", "f1", "answered", "declined_article", "declined_negation"}
    names |= {"sentence", "sentence_of_span"}
    assert [set(figures) for figures in evaluations] == [names]
    assert train_reader(datasets, tmp_path / "out", recipe) == evaluations
    assert json.loads((tmp_path / "out" / "training.json").read_text())["questions"] == 2
    reader = load_reader(str(tmp_path / "out"))
    [[spans]] = reader.read(["Who?"], [[Passage(1, "a", 0, 15, "Ada Rook did it")]])
    assert spans


def test_another_reader_can_be_gone_on_with(tmp_path):
    datasets = [read_squad(squad_file(tmp_path))]
    recipe = ReaderRecipe(loop=Recipe(evaluate_at=(1.0,)), batch_tokens=256)
    train_reader(datasets, tmp_path / "first", recipe)
    train_reader(
        datasets, tmp_path / "second", recipe, start=str(tmp_path / "first"), absent={"negation": 1.0}
    )
    record = json.loads((tmp_path / "second" / "training.json").read_text())
    assert (record["start"], record["absent"]) == (str(tmp_path / "first"), {"negation": 1.0})
    assert record["absent_questions"] == 2
    assert len(record["start_sha256"]) == 64


def test_a_head_for_sentences_is_stored_read_and_gone_on_with(tmp_path):
    datasets = [read_squad(squad_file(tmp_path))]
    recipe = ReaderRecipe(loop=Recipe(evaluate_at=(1.0,)), batch_tokens=256, sentence_weight=0.2)
    [figures] = train_reader(datasets, tmp_path / "first", recipe)
    assert {"sentence", "sentence_of_span"} < set(figures)
    reader = load_reader(str(tmp_path / "first"), split=sentence_spans)
    [[spans]] = reader.read(["Who?"], [[Passage(1, "a", 0, 15, "Ada Rook did it")]])
    assert all(math.isfinite(span.sentence_score) for span in spans)
    train_reader(datasets, tmp_path / "second", recipe, start=str(tmp_path / "first"))
    assert load_reader(str(tmp_path / "second")).scores.sentence_head is not None


@pytest.mark.parametrize("family", ["Roberta", "DistilBert"])
def test_over_another_base_a_whole_folder_is_written(tmp_path, family):
    base = question_answerer(tmp_path / "base", family, head="")
    train_reader([read_squad(squad_file(tmp_path))], tmp_path / "out", SMALL, base=str(base))
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (record["base"], record["form"], len(record["base_sha256"])) == (str(base), "whole", 1)
    theirs = AutoModelForQuestionAnswering.from_pretrained(tmp_path / "out").state_dict()
    ours = load_reader(str(tmp_path / "out"), "cpu").model.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())
    assert train_reader([read_squad(squad_file(tmp_path))], tmp_path / "out", SMALL, base=str(base))


def test_whether_it_can_decline_is_found_out_and_said(tmp_path):
    base, datasets = question_answerer(tmp_path / "base"), [read_squad(squad_file(tmp_path))]
    train_reader(datasets, tmp_path / "out", SMALL, base=str(base))
    said = json.loads((tmp_path / "out" / "settings.json").read_text())["answers_null"]
    assert said is load_reader(str(tmp_path / "out")).answers_null
    assert said is json.loads((tmp_path / "out" / "training.json").read_text())["answers_null"]


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"start": "builtin", "base": "mine"}, "name one of them"),
    ],
)
def test_what_does_not_go_together_is_refused(chosen, says):
    with pytest.raises(ValueError, match=says):
        reader_start(**chosen)


def test_to_go_on_with_a_model_without_a_head_is_refused(tmp_path):
    with pytest.raises(ModelRejected, match="is no question-answering model"):
        reader_start(start=str(question_answerer(tmp_path, head="")))


def test_inputs_longer_than_a_base_reads_are_refused(tmp_path):
    base, datasets = question_answerer(tmp_path / "base"), [read_squad(squad_file(tmp_path))]
    with pytest.raises(ValueError, match=r"max_length is 320, .*base reads 256 tokens at once"):
        train_reader(datasets, tmp_path / "out", ReaderRecipe(), base=str(base))
