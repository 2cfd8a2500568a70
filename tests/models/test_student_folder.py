"""A student that was saved gives the vectors of its parts: loaded by name, and loaded to be trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_students import HIDDEN, MARKS, WIDTH, changed_trunk, layer, student
from torch import nn

from spanwise.models.dual_encoder import DualEncoder
from spanwise.models.encoder import load_encoder
from spanwise.models.load import load_tokenizer
from spanwise.models.locate import STUDENT, find_base
from spanwise.models.student import SETTINGS, StudentSettings, load_student, save_student
from spanwise.models.token_encoder import load_token_encoder

TEXTS = [
    "a mill",
    "The brewery, by the harbour: was founded by two sisters.",
    "word " * 90,
    "A TRAM - the mill!",
]


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return student(tmp_path_factory.mktemp("student"), max_length=40)


def states(trunk, text, max_length=40):
    """(L, H): the states of a text's tokens by the plain forward pass, [CLS] first and [SEP] last."""
    ids = load_tokenizer(find_base())(text)["input_ids"]
    ids = ids if len(ids) <= max_length else [*ids[: max_length - 1], ids[-1]]
    batch = torch.tensor([ids])
    with torch.no_grad():
        return trunk(input_ids=batch, attention_mask=torch.ones_like(batch)).last_hidden_state[0]


def unit(vectors):
    return nn.functional.normalize(vectors, dim=-1).detach().numpy()


@pytest.mark.parametrize("text", TEXTS)
def test_a_dense_vector_is_the_head_of_the_mean_of_all_states(folder, text):
    encoder, parts = load_encoder(str(folder), device="cpu"), load_student(folder)
    mean = states(parts.trunk, text).mean(dim=0)
    assert np.allclose(encoder.encode_questions([text])[0], unit(parts.question_head(mean)), atol=1e-5)
    assert np.allclose(encoder.encode_passages([text])[0], unit(parts.passage_head(mean)), atol=1e-5)


def test_a_token_vector_is_the_projection_of_its_state(folder):
    encoder, parts = load_token_encoder(str(folder), device="cpu"), load_student(folder)
    [found] = encoder.encode_questions(["the mill"])
    assert np.allclose(found, unit(parts.projection(states(parts.trunk, "the mill")[1:-1])), atol=1e-5)


def test_both_sides_share_one_transformer(folder):
    encoder = load_encoder(str(folder), device="cpu")
    assert isinstance(encoder, DualEncoder)
    assert encoder.question.trunk is encoder.passage.trunk


def test_layers_come_back_as_they_were_and_the_transformer_to_its_precision(folder):
    parts, trunk = load_student(folder), changed_trunk()
    assert torch.equal(parts.projection.weight, layer(WIDTH, 12).weight)
    assert torch.equal(parts.question_head.bias, layer(HIDDEN, 10).bias)
    assert parts.settings == StudentSettings(40, MARKS)
    for name, weight in trunk.state_dict().items():
        assert torch.allclose(parts.trunk.state_dict()[name], weight, atol=0.12 / 254), name


def test_saved_again_it_stays_the_same_up_to_rounding(folder, tmp_path):
    parts = load_student(folder)
    save_student(
        tmp_path, parts.trunk, parts.projection, parts.question_head, parts.passage_head, parts.settings
    )
    ours, again = (
        load_encoder(str(each), device="cpu").encode_passages(TEXTS) for each in (folder, tmp_path)
    )
    assert np.allclose(ours, again, atol=1e-4)


def test_a_student_on_the_unchanged_base_stores_its_layers_alone(tmp_path):
    path = student(tmp_path, tuned=False) / STUDENT
    assert path.stat().st_size < 4 * (2 * (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * WIDTH) + 4096


def test_what_else_a_folder_holds_stays(tmp_path):
    (tmp_path / "train.csv").write_text("step")
    student(tmp_path, seed=1)
    student(tmp_path, seed=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [SETTINGS, STUDENT, "train.csv"]


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ((layer(WIDTH, 0), layer(HIDDEN, 0), None), "one side alone"),
        ((nn.Linear(8, 4), None, None), "projection is .* expected a layer for 384"),
        ((layer(WIDTH, 0), nn.Linear(HIDDEN, 8, bias=False), layer(8, 0)), "with a bias"),
    ],
)
def test_layers_that_make_no_student_are_refused(tmp_path, layers, message):
    with pytest.raises(ValueError, match=message):
        save_student(tmp_path, changed_trunk(), *layers)
    assert not list(tmp_path.iterdir())


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    projection = layer(WIDTH, 0)
    with torch.no_grad():
        projection.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"projection\.weight is not finite"):
        save_student(tmp_path, changed_trunk(), projection)
