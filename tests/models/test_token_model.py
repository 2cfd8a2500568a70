"""Token models are written whole, and files of two models are told apart."""

import pytest
import torch
from helpers.tiny_models import layer, tiny_token_model

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.model_files import STUDENT
from spanwise.models.token_model import SETTINGS, load_token_model


def test_a_token_model_survives_and_leaves_other_files(tmp_path):
    (tmp_path / "train.csv").write_text("step")
    model = load_token_model(tiny_token_model(tmp_path, max_length=40))
    assert torch.equal(model.projection.weight, layer(16, 12).weight)
    assert torch.equal(model.question_head.bias, layer(384, 10).bias)
    assert model.settings.max_length == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == [SETTINGS, STUDENT, "train.csv"]


def test_a_folder_without_a_token_model_is_not_found(tmp_path):
    with pytest.raises(ModelNotFound, match="holds no token model"):
        load_token_model(tmp_path)


@pytest.mark.promise("T10")
def test_files_of_two_token_models_are_refused(tmp_path):
    folder = tiny_token_model(tmp_path / "1")
    other = tiny_token_model(tmp_path / "2", seed=1)
    (folder / SETTINGS).write_bytes((other / SETTINGS).read_bytes())
    with pytest.raises(ModelRejected, match="has sha256"):
        load_token_model(folder)
