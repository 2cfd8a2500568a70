from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from made_training import BATCHES, RECIPE, a_model, evaluate, loss

from spanwise.models.training import TrainingConfig, train
from spanwise.pipelines.training.model_card import Training, write_card
from spanwise.pipelines.training.record import write_record


@dataclass(frozen=True)
class Settings:
    loop: TrainingConfig = field(default_factory=lambda: RECIPE)
    epochs: int = 2


@pytest.fixture
def out(tmp_path):
    evaluations = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "owl" / "run", evaluate, "score")
    write_record(tmp_path / "owl", Settings(), {"start": "base", "lists": 7}, "int4", evaluations)
    return tmp_path / "owl"


def test_it_says_what_was_trained_how_and_on_what(out, tmp_path):
    data = tmp_path / "train.json"
    data.write_text("{}")
    made = Training(
        "reader", "spanwise train reader --out owl", [data, tmp_path], "spanwise ask … --reader owl"
    )
    assert write_card(out, made)
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nbase_model: ")
    for said in (
        "pipeline_tag: question-answering",
        "# owl",
        "    spanwise train reader --out owl",
        "| learning rate | 0.05 |",
        "| epochs | 2 |",
        "- `train.json`, sha256 `44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a`",
        "- lists: 7",
        "- precision: int4",
        "| step | score |",
        "| 12 | ",
        "    spanwise ask … --reader owl",
    ):
        assert said in card


def test_a_card_that_is_there_is_left_as_it_is(out):
    (out / "README.md").write_text("mine")
    assert not write_card(out, Training("student", "c", [], "u"))
    assert (out / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("form", "base", "says"),
    [
        ("whole", "someone/roberta@0123", "training began with `someone/roberta@0123`"),
    ],
)
def test_it_names_base_and_teachers(out, form, base, says):
    record = json.loads((out / "training.json").read_text())
    record |= {"form": form, "base": base, "teachers": {"names": ["one", "two"]}}
    (out / "training.json").write_text(json.dumps(record))
    write_card(out, Training("reader", "c", [], "u"))
    card = (out / "README.md").read_text(encoding="utf-8")
    assert all(said in card for said in (says, "'names': ['one', 'two']"))
    assert ("base_model: someone/roberta\n" in card) is (form == "whole")
