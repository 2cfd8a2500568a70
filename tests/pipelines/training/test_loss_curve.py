"""A run's folder gets its curve, also when the run is not finished."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from made_training import BATCHES, RECIPE, a_model, evaluate, loss

from spanwise.errors import ModelRejected
from spanwise.models.training import train
from spanwise.pipelines.training.loss_curve import loss_line, write_loss_curve


def stop_at(step):
    def stop(progress):
        if progress.step == step:
            raise KeyboardInterrupt

    return stop


def test_a_finished_run_is_drawn_and_told(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path / "run", evaluate, "score")
    assert ElementTree.parse(write_loss_curve(tmp_path)).getroot().tag.endswith("svg")
    assert loss_line(tmp_path).startswith("12 steps, loss ")


@pytest.mark.parametrize(("step", "line"), [(5, "5 of 12 steps, loss "), (1, "1 of 12 steps, loss ▁, now ")])
def test_an_unfinished_one_too(tmp_path, step, line):
    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, loss, RECIPE, tmp_path / "run", evaluate, "score", stop_at(step))
    assert write_loss_curve(tmp_path).is_file()
    assert loss_line(tmp_path).startswith(line)


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(ModelRejected, match="no checkpoint"):
        write_loss_curve(tmp_path)
