"""A student that learns from teachers: the formula, and that it comes to say what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_readers import question_answerer
from tiny_models import tiny_span_model

from spanwise.errors import ModelRejected
from spanwise.models.locate import find_base
from spanwise.models.pair_template import special_tokens
from spanwise.models.pretrained import load_span_model, load_tokenizer
from spanwise.reader.distillation import Distillation, load_teachers, softened, softened_loss
from spanwise.reader.examples import ReaderExample
from spanwise.reader.training import ReaderRecipe, batch_loss, training_rows

EXAMPLES = [ReaderExample("q", "Who built it?", "The mill was built by Ada Rook.", 22, 30, "Mill")]
ALLOWED = torch.tensor([[True, False, True, True]])


def kl(p: np.ndarray, q: np.ndarray) -> float:
    return float((p * np.log(p / q)).sum())


def softmax(values: list[float]) -> np.ndarray:
    raised = np.exp(np.array(values))
    return raised / raised.sum()


def test_the_loss_is_that_of_two_teachers_by_hand():
    one, other, student = [[1.0, 9.0, 3.0, 0.0]], [[2.0, -9.0, 0.0, 1.0]], [[0.5, 4.0, 1.0, 2.0]]
    p = softened([torch.tensor(one), torch.tensor(other)], ALLOWED, 2.0)
    mean = (softmax([0.5, 1.5, 0.0]) + softmax([1.0, 0.0, 0.5])) / 2
    assert p[0].tolist() == pytest.approx([mean[0], 0, mean[1], mean[2]], abs=1e-6)
    found = softened_loss(torch.tensor(student), p, ALLOWED, 2.0)
    assert float(found) == pytest.approx(4 * kl(mean, softmax([0.25, 0.5, 1.0])), abs=1e-6)


def test_a_student_that_says_what_its_teacher_says_has_nothing_to_learn():
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    allowed = ALLOWED.expand(3, 4)
    loss = softened_loss(logits, softened([logits.detach()], allowed, 3.0), allowed, 3.0)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-6)
    assert logits.grad.abs().max() < 1e-6


def test_alpha_mixes_the_gold_answers_in(tmp_path):
    tokenizer = load_tokenizer(find_base())
    teacher, student = (load_span_model(tiny_span_model(tmp_path / str(i), seed=i)) for i in range(2))
    special = special_tokens(tokenizer)
    rows = training_rows(EXAMPLES, tokenizer, special.count, ReaderRecipe(max_length=64))
    losses = {
        a: batch_loss(student, rows, special, Distillation([teacher], 2.0, a)).item() for a in (0, 0.25, 1)
    }
    assert losses[1] == pytest.approx(batch_loss(student, rows, special).item(), abs=1e-6)
    assert losses[0.25] == pytest.approx(0.25 * losses[1] + 0.75 * losses[0], abs=1e-5)


def test_a_student_learns_what_its_teacher_says(tmp_path):
    tokenizer = load_tokenizer(find_base())
    teacher, student = (load_span_model(tiny_span_model(tmp_path / str(i), seed=i)) for i in range(2))
    special, distil = special_tokens(tokenizer), Distillation([teacher], 2.0, 0.0)
    rows = training_rows(EXAMPLES, tokenizer, special.count, ReaderRecipe(max_length=64))
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
    losses = []
    for _ in range(20):
        loss = batch_loss(student, rows, special, distil)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


def test_a_teacher_of_another_tokenizer_is_refused(tmp_path):
    folder = question_answerer(tmp_path, "Roberta")
    with pytest.raises(ModelRejected, match="another tokenizer than the student"):
        load_teachers([str(folder)], load_tokenizer(find_base()), 320)


def test_a_teacher_of_few_positions_is_refused(tmp_path):
    folder = question_answerer(tmp_path)
    with pytest.raises(ModelRejected, match="reads 256 tokens at once, the student learns from 320"):
        load_teachers([str(folder)], load_tokenizer(folder), 320)


def test_the_builtin_reader_can_teach():
    [model], [digest] = load_teachers(["builtin"], load_tokenizer(find_base()), 320)
    assert not model.training
    assert len(digest) == 64


@pytest.mark.parametrize(
    ("settings", "says"), [((0.0, 0.5), "temperature must be above 0"), ((1.0, 1.5), "alpha must be from 0")]
)
def test_settings_that_are_none_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        Distillation([torch.nn.Linear(1, 1)], *settings)
    with pytest.raises(ValueError, match="no teachers"):
        Distillation([])
