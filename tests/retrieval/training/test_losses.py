"""The losses of training, against values worked out by hand and against torch's own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import kl_div, log_softmax, softmax

from spanwise.retrieval.training.losses import label_loss, margin_mse, softened_kl

TEACHER, STUDENT = torch.tensor([[10.2, 3.1, -0.8]]), torch.tensor([[8.7, 2.5, -0.2]])
# by temperature: the teacher's and the student's probabilities, and the KL
SOFTENED = {
    1: ([0.99915890, 0.00082441, 0.00001669], [0.99783886, 0.00202504, 0.00013609], 0.00054501),
    2: ([0.968231, 0.027812, 0.003957], [0.946318, 0.042631, 0.011052], 0.00622229),
    2.7: ([0.918178, 0.066205, 0.015616], [0.879004, 0.088455, 0.032541], 0.00938730),
    4: ([0.810760, 0.137410, 0.051830], [0.757395, 0.160756, 0.081850], 0.00995875),
}
SCORES = st.lists(st.floats(-20, 20, width=32), min_size=3, max_size=3)


def gradient(loss, scores):
    scores = scores.clone().requires_grad_()
    loss(scores).backward()
    return scores.grad


@pytest.mark.parametrize(("temperature", "expected"), SOFTENED.items())
def test_l10_l11_l15_softened_distributions_and_their_kl(temperature, expected):
    teacher, student, kl = expected
    assert softmax(TEACHER / temperature, -1)[0].tolist() == pytest.approx(teacher, abs=1e-6)
    assert softmax(STUDENT / temperature, -1)[0].tolist() == pytest.approx(student, abs=1e-6)
    assert float(softened_kl(STUDENT, TEACHER, temperature, temperature)) == pytest.approx(kl, abs=2e-7)


def test_l12_l16_the_direction_is_from_teacher_to_student():
    assert float(softened_kl(STUDENT, TEACHER)) == pytest.approx(0.00054501, abs=1e-7)
    assert float(softened_kl(TEACHER, STUDENT)) == pytest.approx(0.00078631, abs=1e-7)


def test_l13_given_probabilities():
    teacher, student = (torch.tensor([p]).log() for p in ([0.92, 0.07, 0.01], [0.88, 0.10, 0.02]))
    assert float(softened_kl(student, teacher)) == pytest.approx(0.00899690, abs=1e-7)
    assert float(softened_kl(teacher, student)) == pytest.approx(0.01041289, abs=1e-7)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(1, [-0.00132004, 0.00120063, 0.00011941]), (4, [-0.01334119, 0.00583630, 0.00750489])],
)
def test_l14_l15_the_gradient_is_student_minus_teacher_by_temperature(temperature, expected):
    found = gradient(lambda s: softened_kl(s, TEACHER, temperature, temperature), STUDENT)
    assert found[0].tolist() == pytest.approx(expected, abs=1e-7)


def test_l20_the_square_of_the_temperature_is_left_to_callers():
    teacher, student = torch.tensor([[2, 1, 0.5]]), torch.tensor([[1.5, 1.2, 0.3]])
    assert float(label_loss(student, torch.tensor([0]))) == pytest.approx(0.713936, abs=1e-6)
    for temperature, kl in [(1, 0.045637), (2, 0.011392), (3, 0.004946), (4, 0.002738), (5, 0.001733)]:
        assert float(softened_kl(student, teacher, temperature, temperature)) == pytest.approx(kl, abs=1e-6)
    found = gradient(lambda s: 16 * softened_kl(s, teacher, 4, 4), student)
    assert found[0].tolist() == pytest.approx([-0.123066, 0.127412, -0.004346], abs=2e-6)


def test_l22_in_batch_negatives():
    scores = torch.tensor([[2.0, 1.0], [0.0, 3.0]])
    assert float(label_loss(scores[:1], torch.tensor([0]))) == pytest.approx(0.313262, abs=1e-6)
    assert float(label_loss(scores[1:], torch.tensor([1]))) == pytest.approx(0.048587, abs=1e-6)
    assert float(label_loss(scores, torch.tensor([0, 1]))) == pytest.approx(0.180925, abs=1e-6)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4), st.sampled_from([1.0, 2.0, 4.0]))
def test_l16_the_kl_is_that_of_torch_over_lists(pairs, temperature):
    teacher, student = (torch.tensor(side) for side in zip(*pairs, strict=True))
    logs = [log_softmax(side / temperature, -1) for side in (student, teacher)]
    expected = kl_div(*logs, reduction="batchmean", log_target=True)
    assert float(softened_kl(student, teacher, temperature, temperature)) == pytest.approx(
        float(expected), abs=1e-5
    )


@given(SCORES, st.floats(-5, 5, width=16))
def test_scores_that_differ_by_a_constant_teach_nothing(scores, constant):
    teacher = torch.tensor([scores])
    assert float(softened_kl(teacher + constant, teacher)) == pytest.approx(0, abs=1e-5)
    assert float(margin_mse(teacher + constant, teacher)) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("loss", [softened_kl, margin_mse])
def test_a_list_that_was_filled_up_is_as_it_was(loss):
    none = torch.full((1, 2), -torch.inf)
    student, teacher = (torch.cat([scores, none], dim=1) for scores in (STUDENT, TEACHER))
    assert float(loss(student, teacher)) == pytest.approx(float(loss(STUDENT, TEACHER)))
    found = gradient(lambda s: loss(s, teacher), student)[0]
    assert found[:3].tolist() == pytest.approx(gradient(lambda s: loss(s, TEACHER), STUDENT)[0].tolist())
    assert found[3:].tolist() == [0, 0]


def test_labels_ignore_what_a_list_was_filled_up_with():
    filled = torch.tensor([[2.0, 1.0, -torch.inf]])
    positive = torch.tensor([0])
    assert float(label_loss(filled, positive)) == pytest.approx(0.313262, abs=1e-6)
    assert torch.isfinite(gradient(lambda s: label_loss(s, positive), filled)).all()


def test_margins_are_those_of_the_first_passage():
    student, teacher = torch.tensor([[3.0, 1.0, 0.0]]), torch.tensor([[5.0, 2.0, 4.0]])
    assert float(margin_mse(student, teacher)) == pytest.approx(((2 - 3) ** 2 + (3 - 1) ** 2) / 2)
    assert float(margin_mse(student, teacher, scale=1.5)) == pytest.approx((0 + (4.5 - 1) ** 2) / 2)


def test_extreme_scores_stay_finite():
    student, teacher = torch.tensor([[1e4, -1e4]]), torch.tensor([[-1e4, 1e4]])
    assert float(softened_kl(student, teacher)) == pytest.approx(2e4)
