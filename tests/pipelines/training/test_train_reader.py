"""`train reader` from a SQuAD-format file to a folder that reads."""

from __future__ import annotations

import json
import math

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import read_squad
from spanwise.models.training import Recipe
from spanwise.pipelines.training.train_reader import train_reader
from spanwise.pipelines.validation_split import is_validation
from spanwise.reader.builtin import load_reader
from spanwise.reader.training import ReaderRecipe
from spanwise.types import Passage

CONTEXTS = {"The mill was built by Ada Rook.": "Ada Rook", "The tram was opened by Ute Falk.": "Ute Falk"}
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
    assert [set(figures) for figures in evaluations] == [names]
    assert train_reader(datasets, tmp_path / "out", recipe) == evaluations
    assert json.loads((tmp_path / "out" / "training.json").read_text())["questions"] == 2
    assert (tmp_path / "out" / "loss.svg").read_text().startswith("<svg")
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
