"""A reader that can decline is told from one that cannot by what it does."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from made_readers import question_answerer
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelRejected
from spanwise.reader.builtin import builtin_folder, load_reader
from spanwise.reader.declining import answers_null, is_telling
from spanwise.reader.declining_pairs import PAIRS
from spanwise.types import Passage


def constant(folder):
    """A model that gives every token the same logits."""
    path = question_answerer(folder) / "model.safetensors"
    weights = load_file(path)
    weights["qa_outputs.weight"].zero_()
    save_file(weights, path, metadata={"format": "pt"})
    return folder


def test_the_builtin_reader_can():
    assert answers_null(load_reader())


def test_without_settings_it_is_found_out(tmp_path):
    shutil.copy(builtin_folder() / "reader.safetensors", tmp_path)
    assert load_reader(str(tmp_path)).answers_null


def test_a_model_of_constant_logits_cannot_and_gives_no_null_score(tmp_path):
    reader = load_reader(str(constant(tmp_path)))
    [[spans]] = reader.read(["who?"], [[Passage(1, "d", 0, 8, "the mill")]])
    assert not reader.answers_null
    assert math.isnan(spans[0].null_score)


@pytest.mark.parametrize("said", [True, False])
def test_the_settings_of_a_folder_have_the_last_word(tmp_path, said):
    (constant(tmp_path) / "settings.json").write_text(json.dumps({"answers_null": said}))
    assert load_reader(str(tmp_path)).answers_null is said


def test_settings_of_another_kind_are_refused(tmp_path):
    (constant(tmp_path) / "settings.json").write_text('{"answers_null": "yes"}')
    with pytest.raises(ModelRejected, match="answers_null is 'yes'"):
        load_reader(str(tmp_path))


@pytest.mark.parametrize(
    ("answered", "absent"),
    [
        ([9.0, 8.0], [5.0, 4.0]),  # never trained to decline: its null score is always low
        ([-1.0, -2.0], [-5.0, -6.0]),  # declines everything
        ([1.0, -1.0], [1.0, -1.0]),  # does not tell them apart
        ([-1.0, -1.0], [1.0, 1.0]),  # the wrong way round
        ([math.nan], [math.nan]),
    ],
)
def test_margins_that_do_not_tell(answered, absent):
    assert not is_telling(answered, absent)


def test_the_pairs_are_short_and_distinct():
    assert len({text for pair in PAIRS for text in pair}) == 2 * len(PAIRS)
    assert all(len(text) < 120 for pair in PAIRS for text in pair)
