"""From data to a model's folder: `train reader` and `train retriever`."""

import json

import numpy as np
import pytest
import torch
from helpers.checkpoints import question_answerer
from helpers.ranking_data import write_lists
from helpers.tiny_models import tiny_mpnet, tiny_token_model
from helpers.tiny_students import HELD_OUT, THINGS, lists_of
from helpers.training_loop import BATCHES, PLAIN, RECIPE, SCORED, a_model, evaluate, loss
from safetensors.torch import load_file, save_file
from transformers import AutoModelForQuestionAnswering

from spanwise.corpora.datasets.squad import read_squad
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import ModelRejected
from spanwise.models.encoder import load_token_encoder
from spanwise.models.token_model import load_token_model
from spanwise.models.training import TrainingConfig, train
from spanwise.pipelines.training import reader, retriever
from spanwise.pipelines.training.model_card import write_card
from spanwise.pipelines.training.questions import is_validation
from spanwise.pipelines.training.reader import train_reader
from spanwise.pipelines.training.retriever import rank_figures, train_retriever
from spanwise.reader.load import load_reader
from spanwise.reader.training import ReaderTrainingConfig
from spanwise.retrieval.training.distillation import DistillationConfig
from spanwise.types import Passage, RankingExample

ANSWERS = {"The mill was built by Ada Rook.": "Ada Rook", "The tram was opened by Ute Falk.": "Ute Falk"}
TITLES = ("Town", next(title for i in range(1000) if is_validation(title := f"Title {i}")))
LOOP = TrainingConfig(learning_rate=1e-4, evaluate_at=(1.0,))
SMALL = ReaderTrainingConfig(
    loop=TrainingConfig(learning_rate=1e-2, warmup=0.0, evaluate_at=(1.0,)), epochs=2, max_length=64
)


@pytest.fixture
def squad(tmp_path):
    def paragraph(title, context, answer):
        gold = {"text": answer, "answer_start": context.index(answer)}
        qas = [{"id": f"{title}-{answer}", "question": "Who was it?", "answers": [gold]}]
        return {"context": context, "qas": qas}

    data = [{"title": t, "paragraphs": [paragraph(t, *pair) for pair in ANSWERS.items()]} for t in TITLES]
    path = tmp_path / "train.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}))
    return path


def test_a_reader_over_another_encoder_is_written_resumed_and_continued(tmp_path, squad):
    base = question_answerer(tmp_path / "base", head="")
    out = tmp_path / "out"
    evaluations = train_reader([read_squad(squad)], out, SMALL, start=str(base))
    [figures] = evaluations
    assert set(figures) == {"step", "exact", "f1", "answered", "declined_article"}
    assert train_reader([read_squad(squad)], out, SMALL, start=str(base)) == evaluations
    record = json.loads((out / "training.json").read_text())
    assert record["base"] == str(base)
    assert record["questions"] == 2
    assert len(record["base_sha256"]) == 1
    assert "| learning rate | 0.01 |" in (out / "README.md").read_text()
    theirs = AutoModelForQuestionAnswering.from_pretrained(out).state_dict()
    ours = load_reader(str(out), "cpu")
    mine = ours.scores.model.state_dict()
    assert mine.keys() - theirs.keys() == {"evidence_outputs.weight", "evidence_outputs.bias"}
    assert all(torch.equal(mine[name], tensor) for name, tensor in theirs.items())
    assert ours.answers_null is True
    train_reader([read_squad(squad)], tmp_path / "second", SMALL, start=str(out), shares={})
    assert load_reader(str(tmp_path / "second")).answers_null is False


def test_a_reader_over_an_mpnet_has_the_whole_head_and_is_one_of_transformers(tmp_path, squad):
    out = tmp_path / "out"
    train_reader([read_squad(squad)], out, SMALL, start=str(tiny_mpnet(tmp_path / "base")))
    reader = load_reader(str(out), split=sentence_spans)
    ours = reader.scores.model
    published = AutoModelForQuestionAnswering.from_pretrained(out)
    assert type(published).__name__ == "MPNetForQuestionAnswering"
    assert torch.equal(published.qa_outputs.weight, ours.qa_outputs.weight)
    theirs = published.mpnet.encoder.layer[1].attention.attn.q.weight
    assert torch.equal(theirs, ours.bert.encoder.layer[1].attention.self.query.weight)
    text = next(iter(ANSWERS))
    [[spans]] = reader.read(["Who was it?"], [[Passage(0, "d", 0, len(text), text)]])
    assert all(np.isfinite([span.relevance, span.support]).all() for span in spans)
    train_reader([read_squad(squad)], tmp_path / "second", SMALL, start=str(out))
    assert load_reader(str(tmp_path / "second")).scores.has_evidence


def test_a_damaged_mpnet_is_refused_by_name(tmp_path, squad):
    base = tiny_mpnet(tmp_path / "base")
    weights = load_file(base / "model.safetensors")
    del weights["encoder.relative_attention_bias.weight"]
    save_file(weights, base / "model.safetensors")
    with pytest.raises(ModelRejected, match=r"lacks 1 .* mpnet\.encoder\.relative_attention_bias"):
        train_reader([read_squad(squad)], tmp_path / "out", SMALL, start=str(base))


def test_inputs_longer_than_an_encoder_reads_and_too_few_articles_are_refused(tmp_path, squad):
    base = str(question_answerer(tmp_path / "base"))
    with pytest.raises(ValueError, match=r"max_length is 320, but .*base reads 256 tokens"):
        train_reader([read_squad(squad)], tmp_path / "out", start=base)
    value = json.loads(squad.read_text())
    squad.write_text(json.dumps(value | {"data": value["data"][:1]}))
    with pytest.raises(ValueError, match="2 training and 0 validation questions"):
        train_reader([read_squad(squad)], tmp_path / "out", start=base)


@pytest.mark.parametrize(
    ("scores", "n_positive", "rank"),
    [([1, 3, 2], 1, 3), ([2, 2, 1], 1, 2), ([np.nan, 1, 2], 1, 3), ([1, np.nan, 0], 1, 2), ([0, 5, 4], 2, 1)],
)
def test_the_rank_of_the_best_positive_passage(scores, n_positive, rank):
    lists = [RankingExample("q", tuple("abc"), n_positive)]
    figures = rank_figures([np.array(scores)], lists)
    assert figures == {"mrr": pytest.approx(1 / rank), "first": float(rank == 1)}


def test_a_model_card_that_is_there_is_kept(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    write_card(tmp_path, "retriever", DistillationConfig(), {"lists": 7}, [{"step": 12, "mrr": 0.5}])
    assert (tmp_path / "README.md").read_text() == "mine"


def test_lists_without_scores_are_refused(tmp_path):
    with pytest.raises(ValueError, match="3 of 3 lists have no teacher scores"):
        train_retriever(PLAIN, PLAIN, tmp_path)


def test_a_student_does_not_start_from_an_encoder_of_other_sizes(tmp_path):
    with pytest.raises(ModelRejected, match="other sizes"):
        train_retriever(
            *[lists_of(THINGS[:2])] * 2, tmp_path / "out", start=str(tiny_mpnet(tmp_path / "other"))
        )


# The real base is trained: hundreds of megabytes of checkpoints.


def only_last_layer(model):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith("backbone.") or "layer.5." in name


@pytest.mark.reliability
def test_a_retriever_over_the_base_is_written_resumed_and_searched_with(tmp_path, monkeypatch):
    monkeypatch.setattr("spanwise.retrieval.training.distillation.freeze", only_last_layer)
    config = DistillationConfig(LOOP, negatives=2, batch_tokens=300)
    examples = lists_of(THINGS[:6]), lists_of(HELD_OUT[:2])
    evaluations = train_retriever(*examples, tmp_path / "first", config, limit=4)
    assert train_retriever(*examples, tmp_path / "first", config, limit=4) == evaluations
    assert {"mrr", "first", "dense_mrr", "dense_first"} < set(evaluations[0])
    [vectors] = load_token_encoder(str(tmp_path / "first")).encode_questions(["Who built the mill?"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-2)
    train_retriever(*examples, tmp_path / "second", config, start=str(tmp_path / "first"))
    assert len(json.loads((tmp_path / "second/training.json").read_text())["start_sha256"]) == 64


@pytest.mark.reliability
def test_a_reader_over_the_base_is_written_and_continued(tmp_path, squad):
    recipe = ReaderTrainingConfig(loop=LOOP, epochs=3, batch_tokens=64)
    train_reader([read_squad(squad)], tmp_path / "first", recipe)
    passage = Passage(1, "a", 0, 15, "Ada Rook did it")
    [[spans]] = load_reader(str(tmp_path / "first")).read(["Who?"], [[passage]])
    assert spans
    train_reader([read_squad(squad)], tmp_path / "second", recipe, start=str(tmp_path / "first"))
    assert load_reader(str(tmp_path / "second")).digest != load_reader(str(tmp_path / "first")).digest


# The verbs.

CARD = {"reader": reader, "retriever": retriever}


@pytest.fixture
def trained(monkeypatch, tmp_path, squad):
    """Puts a small run in the place of the trainers; the list holds their arguments."""
    calls = []

    def small(*arguments):
        calls.append(arguments)
        out = next(argument for argument in arguments if hasattr(argument, "parent"))
        on_step = arguments[-1]
        return train(a_model(), BATCHES, loss, RECIPE, out / "run", evaluate, "score", on_step)

    for kind, module in CARD.items():
        monkeypatch.setattr(module, f"train_{kind}", small)
    write_lists(tmp_path / "lists/train", SCORED)
    write_lists(tmp_path / "lists/validation", PLAIN)
    return calls


@pytest.mark.parametrize(
    ("verb", "options", "settings"),
    [
        (
            "reader",
            ("--data", "train.json"),
            (ReaderTrainingConfig(), None, "base", {"article": 0.33}, None, None, None),
        ),
        ("retriever", ("--lists", "lists"), (DistillationConfig(), "base", None, None)),
    ],
)
def test_the_defaults_of_a_verb_are_those_of_its_settings(run, trained, verb, options, settings):
    code, out, err = run("train", verb, *options, "--out", "out", "--json")
    assert code == 0, err
    assert [figures["step"] for figures in json.loads(out)["evaluations"]] == [6, 12]
    assert trained[0][-len(settings) - 1 : -1] == settings


def test_the_mean_of_students_is_a_student(run, tmp_path):
    first = tiny_token_model(tmp_path / "one")
    second = tiny_token_model(tmp_path / "two", seed=1)
    code, _, err = run("train", "mean", f"{first}=3", f"{second}=1", "--out", "mean")
    assert code == 0, err
    weights = [load_token_model(folder).question_head.weight for folder in (first, second, tmp_path / "mean")]
    assert torch.allclose(weights[2], 0.75 * weights[0] + 0.25 * weights[1], atol=1e-6)
    code, _, err = run("train", "mean", str(first), "--out", "mean")
    assert code == 2
    assert "expected FOLDER=SHARE" in err
    code, _, err = run("train", "mean", f"{first}=1", f"{tmp_path}=1", "--out", "mean")
    assert code == 1
    assert "do not all hold" in err


def test_ctrl_c_says_how_to_resume(run, monkeypatch, trained):
    def stopped(*arguments):
        def stop(progress):
            arguments[-1](progress)
            if progress.step == 3:
                raise KeyboardInterrupt

        return train(a_model(), BATCHES, loss, RECIPE, arguments[2] / "run", evaluate, "score", stop)

    monkeypatch.setattr(retriever, "train_retriever", stopped)
    code, out, err = run("train", "retriever", "--lists", "lists", "--out", "out")
    assert code == 130
    assert out == ""
    assert "Run the same command to resume from out/run" in err
