"""The student learns from padded batches what single lists would teach it, and its teacher's order."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from helpers.tiny_students import HELD_OUT, ROWS, THINGS, lists_of, tiny_student
from hypothesis import given, strategies as st
from torch.nn.functional import kl_div, log_softmax

from spanwise.models.batching import shuffled_batches
from spanwise.models.training import TrainingConfig
from spanwise.pipelines.training.retriever import rank_figures
from spanwise.retrieval.training.distillation import (
    PAD_MULTIPLE,
    DistillationConfig,
    SecondTeacher,
    TextVectors,
    distil,
    distillation_loss,
    draw_lists,
    in_rows,
    label_loss,
    max_sim,
    softened_kl,
    student_scores,
)
from spanwise.types import RankingExample

CAT = [0.2, 0.8, -0.3]
DOG = [0.1, 0.7, -0.2]
MAT = [-0.5, 0.1, 0.6]
KL_ALONE = DistillationConfig(labels=0, dense=0)
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)
SCORES = st.lists(st.floats(-20, 20, width=32), min_size=3, max_size=3)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4), st.sampled_from([1.0, 2.0, 4.0]))
def test_the_kl_equals_that_of_torch_over_lists(pairs, temperature):
    teacher, student = (torch.tensor(side) for side in zip(*pairs, strict=True))
    logs = [log_softmax(side / temperature, -1) for side in (student, teacher)]
    expected = float(kl_div(*logs, reduction="batchmean", log_target=True))
    assert float(softened_kl(student / temperature, teacher, temperature)) == pytest.approx(
        expected, abs=1e-5
    )
    assert float(softened_kl(teacher + 3, teacher)) == pytest.approx(0, abs=1e-5)


def encoded(texts, unit=True, pads=0, pad=0.0):
    """A batch of texts given as rows, each filled up with `pads` more than the longest of them needs."""
    longest = max(map(len, texts)) + pads
    tokens = torch.full((len(texts), longest, len(texts[0][0])), pad)
    compared = torch.zeros(len(texts), longest, dtype=torch.bool)
    for i, rows in enumerate(texts):
        tokens[i, : len(rows)] = torch.tensor(rows)
        compared[i, : len(rows)] = True
    tokens = torch.nn.functional.normalize(tokens, dim=-1) if unit else tokens
    return TextVectors(tokens, compared, tokens, torch.zeros(len(texts), 1))


def test_a_second_teacher_needs_no_scores_and_is_followed(tmp_path):
    other = tiny_student(seed=5)

    def loss_of(student, config, second=None):
        return float(distillation_loss(student, lists, rows, config, second).detach())

    lists = [dataclasses.replace(each, scores=()) for each in lists_of(THINGS[:4])]
    rows = {text: ROWS.of([text])[0] for each in lists for text in (each.question, *each.passages)}
    second = SecondTeacher(other.backbone)
    alone = dataclasses.replace(KL_ALONE, states=0)
    assert loss_of(tiny_student(), alone) == 0
    student = tiny_student()
    far = loss_of(student, KL_ALONE, second)
    student.backbone.load_state_dict(other.backbone.state_dict())
    near = loss_of(student, KL_ALONE, second)
    ranking = loss_of(student, alone, second)
    assert near == pytest.approx(ranking, abs=1e-2)  # the states are those of the teacher
    assert 0 < near < far
    with pytest.raises(ValueError, match="no teacher scores"):
        distil(student, ROWS, lists, KL_ALONE, tmp_path, lambda model: {}, "mrr", lambda progress: None)


def random_texts(sizes, seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, 5)).tolist() for n in sizes]


@pytest.mark.parametrize(("pads", "pad"), [(0, 0.0), (3, 0.0), (3, 1.0)])
def test_padding_does_not_change_maxsim(pads, pad):
    question = encoded([[CAT, MAT]], pads=pads, pad=pad)
    passages = encoded([[DOG], [DOG, MAT], [MAT]], pads=pads, pad=pad)
    assert max_sim(question, passages)[0].tolist() == pytest.approx([0.819691, 1.992516, 0.710540], abs=1e-6)


@given(SIZES, SIZES, st.integers(0, 3), st.integers(0, 99))
def test_maxsim_of_a_batch_equals_that_of_single_texts(n_questions, n_passages, pads, seed):
    questions = random_texts(n_questions, seed)
    passages = random_texts(n_passages, seed + 1)
    together = max_sim(encoded(questions, pads=pads, pad=1.0), encoded(passages, pads=pads, pad=1.0))
    for (i, question), (j, passage) in itertools.product(enumerate(questions), enumerate(passages)):
        alone = float(max_sim(encoded([question]), encoded([passage])))
        assert float(together[i, j]) == pytest.approx(alone, abs=1e-5)


def test_a_text_is_encoded_in_a_padded_batch_as_alone():
    model = tiny_student().eval()
    rows = ROWS.of(["a mill", "the tram was built in 1811.", "x"])
    with torch.no_grad():
        together = model(rows, "passage")
        for i, row in enumerate(rows):
            alone = model([row], "passage")
            assert torch.allclose(
                together.tokens[i, together.compared[i]], alone.tokens[0, alone.compared[0]], atol=1e-5
            )
            assert torch.allclose(together.dense[i], alone.dense[0], atol=1e-5)


def loss_of(model, lists, config):
    texts = [text for each in lists for text in (each.question, *each.passages)]
    return distillation_loss(model, lists, dict(zip(texts, ROWS.of(texts), strict=True)), config)


def test_the_loss_of_a_batch_is_the_mean_over_its_lists():
    model = tiny_student().eval()
    lists = lists_of(THINGS[:3])
    lists[1] = dataclasses.replace(lists[1], passages=lists[1].passages[:2], scores=lists[1].scores[:2])
    with torch.no_grad():
        alone = [float(loss_of(model, [each], KL_ALONE)) for each in lists]
        assert float(loss_of(model, lists, KL_ALONE)) == pytest.approx(np.mean(alone), rel=1e-4)


def test_a_passage_that_two_lists_share_is_not_its_own_negative():
    model = tiny_student().eval()
    each = lists_of(THINGS[:3])[0]
    config = DistillationConfig(dense=0)
    with torch.no_grad():
        once, twice = (float(loss_of(model, [each] * n, config)) for n in (1, 2))
    assert twice == pytest.approx(once, rel=1e-4)


def trained(folder, report=lambda progress: None):
    model = tiny_student()

    def evaluate(tuned):
        return rank_figures(student_scores(model, ROWS, lists_of(HELD_OUT))[0], lists_of(HELD_OUT))

    loop = TrainingConfig(learning_rate=5e-3, evaluate_at=(0.01, 1.0), checkpoint_every=4)
    config = dataclasses.replace(DistillationConfig(), loop=loop, epochs=8, negatives=2, batch_tokens=600)
    return model, distil(model, ROWS, lists_of(THINGS), config, folder, evaluate, "mrr", report)


def test_the_kl_falls_the_held_out_ranking_does_not_and_a_run_resumes(tmp_path):
    model, evaluations = trained(tmp_path / "whole")
    lists = lists_of(THINGS)
    with torch.no_grad():
        before, after = (float(loss_of(m.eval(), lists, KL_ALONE)) for m in (tiny_student(), model))
    assert after < 0.7 * before
    assert evaluations[-1]["mrr"] >= evaluations[0]["mrr"]

    def stop(progress):
        if progress.step == progress.steps - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "stopped", stop)
    resumed, again = trained(tmp_path / "stopped")
    assert again == evaluations
    assert torch.equal(resumed.projection.weight, model.projection.weight)


LISTS = [
    RankingExample(f"q{i}", tuple(f"q{i} p{j}" for j in range(6)), 2, tuple(map(float, range(6))))
    for i in range(8)
]


def test_a_list_is_a_positive_passage_and_negatives_with_their_scores():
    for example in draw_lists(LISTS, 3, 2, seed=0):
        places = [int(passage[-1]) for passage in example.passages]
        assert places[0] < 2 <= min(places[1:])
        assert len(set(places)) == 3
        assert example.scores == tuple(map(float, places))
        assert all(passage.startswith(example.question) for passage in example.passages)


def test_a_list_without_negatives_is_left_out():
    lists = [RankingExample("a", ("p", "n")), RankingExample("b", ("p",))]
    assert [example.passages for example in draw_lists(lists, 1, 3, seed=0)] == [("p", "n")]
    with pytest.raises(ValueError, match="none of the 1 lists"):
        draw_lists(lists[1:], 1, 3, seed=0)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(1, 3), st.integers(0, 5))
def test_each_epoch_learns_from_each_item_once(lengths, epochs, seed):
    batches = shuffled_batches(lengths * epochs, epochs, 512, PAD_MULTIPLE, seed)
    order = np.concatenate(batches)
    for epoch in range(epochs):
        own = order[epoch * len(lengths) : (epoch + 1) * len(lengths)]
        assert sorted(own) == list(range(epoch * len(lengths), (epoch + 1) * len(lengths)))
    for batch in batches:
        longest = max((lengths * epochs)[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= 512 + len(batch) * PAD_MULTIPLE


def test_missing_passages_of_a_row_are_ignored():
    rows = in_rows([torch.tensor([2.0, 1.0, 0.5]), torch.tensor([2.0, 1.0])]).requires_grad_()
    loss = label_loss(rows[1:], torch.tensor([0]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0.313262, abs=1e-6)
    assert torch.isfinite(rows.grad).all()
