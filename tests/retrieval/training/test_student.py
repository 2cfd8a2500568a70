"""The student learns from padded batches what lists one by one would teach it, and its teacher's order."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_students import HELD_OUT, THINGS, lists_of, sides_of, tiny_student

from spanwise.models.training import TrainingConfig
from spanwise.pipelines.training.ranking_quality import first_ranks
from spanwise.retrieval.training.groups import Group
from spanwise.retrieval.training.student import (
    Encoded,
    StudentRecipe,
    _Texts,
    fine_tune_student,
    max_sim,
    student_loss,
)
from spanwise.retrieval.training.student_scores import StudentScores
from spanwise.types import RankingExample

CAT, DOG, MAT = ([0.2, 0.8, -0.3], [0.1, 0.7, -0.2], [-0.5, 0.1, 0.6])
KL_ALONE = StudentRecipe(labels=0, dense=0)
LABELS_ALONE = StudentRecipe(distil="none", dense=0)
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def encoded(texts, unit=True, pads=0, pad=0.0):
    """A batch of texts given as rows, each filled up with `pads` more than the longest of them needs."""
    longest = max(map(len, texts)) + pads
    tokens = torch.full((len(texts), longest, len(texts[0][0])), pad)
    kept = torch.zeros(len(texts), longest, dtype=torch.bool)
    for i, rows in enumerate(texts):
        tokens[i, : len(rows)], kept[i, : len(rows)] = torch.tensor(rows), True
    tokens = torch.nn.functional.normalize(tokens, dim=-1) if unit else tokens
    return Encoded(tokens, kept, torch.zeros(len(texts), 1))


def random_texts(sizes, seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, 5)).tolist() for n in sizes]


def test_l4_l5_the_best_of_the_passage_for_each_token_of_the_question():
    question = encoded([[[1.0, 0.0], [0.0, 1.0]]], unit=False)
    passages = encoded([[[0.6, 0.8], [1.0, 0.0]], [[0.8, 0.6]]], unit=False)
    assert max_sim(question, passages)[0].tolist() == pytest.approx([1.8, 1.4])


@pytest.mark.parametrize("pads", [0, 3])
@pytest.mark.parametrize("pad", [0.0, 1.0])
def test_l6_l7_padding_takes_no_part(pads, pad):
    question = encoded([[CAT, MAT]], pads=pads, pad=pad)
    passages = encoded([[DOG], [DOG, MAT], [MAT]], pads=pads, pad=pad)
    assert max_sim(question, passages)[0].tolist() == pytest.approx([0.819691, 1.992516, 0.710540], abs=1e-6)


@given(SIZES, SIZES, st.integers(0, 3), st.integers(0, 99))
def test_l8_a_batch_is_as_one_by_one(n_questions, n_passages, pads, seed):
    questions, passages = random_texts(n_questions, seed), random_texts(n_passages, seed + 1)
    together = max_sim(encoded(questions, pads=pads, pad=1.0), encoded(passages, pads=pads, pad=1.0))
    for (i, question), (j, passage) in itertools.product(enumerate(questions), enumerate(passages)):
        alone = float(max_sim(encoded([question]), encoded([passage])))
        assert float(together[i, j]) == pytest.approx(alone, abs=1e-5)


@given(st.integers(1, 5), SIZES, st.integers(0, 99))
def test_l8_bounds_and_invariances(n_question, n_passages, seed):
    [question] = random_texts([n_question], seed)
    passage = [row for text in random_texts(n_passages, seed + 1) for row in text]
    asked = encoded([question])
    score = float(max_sim(asked, encoded([passage])))
    assert score <= n_question + 1e-5
    assert float(max_sim(asked, asked)) == pytest.approx(n_question, abs=1e-5)
    assert float(max_sim(asked, encoded([passage[::-1]]))) == pytest.approx(score, abs=1e-5)
    assert float(max_sim(asked, encoded([[*passage, MAT + CAT[:2]]]))) >= score - 1e-5


def test_padding_gets_no_gradient():
    question, passages = encoded([[CAT, MAT]], pads=2), encoded([[DOG], [DOG, MAT]], pads=1)
    for side in (question, passages):
        side.tokens.requires_grad_()
    max_sim(question, passages).sum().backward()
    for side in (question, passages):
        assert torch.isfinite(side.tokens.grad).all()
        assert not side.tokens.grad[~side.kept].any()


def test_a_passage_without_vectors_makes_no_question_nan():
    passages = dataclasses.replace(encoded([[DOG]]), kept=torch.zeros(1, 1, dtype=torch.bool))
    assert float(max_sim(encoded([[CAT]], pads=2), passages)) == -torch.inf


def test_vectors_are_those_of_a_text_alone():
    model = tiny_student().eval()
    rows = sides_of(model)[0].of(["a mill", "the tram was built in 1811.", "x"])
    with torch.no_grad():
        together = model(rows, "passage")
        for i, row in enumerate(rows):
            alone = model([row], "passage")
            assert torch.allclose(
                together.tokens[i, together.kept[i]], alone.tokens[0, alone.kept[0]], atol=1e-5
            )
            assert torch.allclose(together.dense[i], alone.dense[0], atol=1e-5)
            assert int(together.kept[i].sum()) == len(row.kept)


def test_each_side_has_a_dense_head_of_its_own():
    model = tiny_student().eval()
    rows = sides_of(model)[0].of(["a mill"])
    asked, read = (model(rows, side) for side in ("question", "passage"))
    assert torch.equal(asked.tokens, read.tokens)
    assert not torch.allclose(asked.dense, read.dense)


def loss_of(model, groups, recipe):
    examples = [RankingExample(group.question, group.passages) for group in groups]
    return student_loss(model, groups, _Texts.of(examples, sides_of(model)), recipe)


def value_of(model, groups, recipe):
    return float(loss_of(model, groups, recipe).detach())


def groups_of(examples):
    return [Group(one.question, one.passages, one.scores) for one in examples]


def test_l16_a_batch_teaches_the_mean_of_its_lists():
    model, groups = tiny_student().eval(), groups_of(lists_of(THINGS[:3]))
    groups[1] = Group(groups[1].question, groups[1].passages[:2], groups[1].scores[:2])
    alone = [value_of(model, [group], KL_ALONE) for group in groups]
    assert value_of(model, groups, KL_ALONE) == pytest.approx(np.mean(alone), rel=1e-4)


def test_a_passage_that_two_lists_share_is_not_its_own_negative():
    model, group = tiny_student().eval(), groups_of(lists_of(THINGS[:3]))[0]
    once = value_of(model, [group], LABELS_ALONE)
    assert value_of(model, [group, group], LABELS_ALONE) == pytest.approx(once, rel=1e-4)


@pytest.mark.parametrize("distil", ["kl", "margin-mse", "none"])
def test_every_loss_reaches_every_layer(distil):
    model = tiny_student()
    loss_of(model, groups_of(lists_of(THINGS[:3])), StudentRecipe(distil=distil)).backward()
    for name, parameter in model.named_parameters():
        if "token_type" not in name:
            assert torch.isfinite(parameter.grad).all(), name
            assert parameter.grad.any() or "key.bias" in name, name


def trained(folder, recipe, **settings):
    model = tiny_student()
    sides = sides_of(model)

    def evaluate(tuned):
        return first_ranks(lambda *asked: StudentScores(model, sides).both(*asked)[0], lists_of(HELD_OUT))

    loop = TrainingConfig(learning_rate=5e-3, evaluate_at=(0.01, 1.0), checkpoint_every=4, **settings)
    recipe = dataclasses.replace(recipe, loop=loop, epochs=8, negatives=2, batch_tokens=600)
    return model, fine_tune_student(model, sides, lists_of(THINGS), recipe, folder, evaluate, "mrr")


def test_l17_l18_the_kl_falls_and_the_ranking_of_held_out_lists_does_not(tmp_path):
    untrained = tiny_student().eval()
    model, evaluations = trained(tmp_path, StudentRecipe())
    groups = groups_of(lists_of(THINGS))
    assert value_of(model, groups, KL_ALONE) < 0.7 * value_of(untrained, groups, KL_ALONE)
    assert evaluations[-1]["mrr"] >= evaluations[0]["mrr"]
    one = lists_of(HELD_OUT)[0]
    [scores] = StudentScores(model, sides_of(model)).both([one.question], [one.passages])[0]
    assert list(scores) == sorted(scores, reverse=True)


def test_frozen_layers_and_the_word_embeddings_stay(tmp_path):
    before = tiny_student().state_dict()
    model, _ = trained(tmp_path, StudentRecipe(frozen_layers=1))
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed
    assert not any(name.startswith(("trunk.embeddings", "trunk.encoder.layer.0")) for name in changed)


def test_a_teacher_without_scores_is_refused(tmp_path):
    model = tiny_student()
    lists = [*lists_of(THINGS), RankingExample("who?", ("Ada", "nobody"))]
    with pytest.raises(ValueError, match="no teacher's scores"):
        fine_tune_student(model, sides_of(model), lists, StudentRecipe(), tmp_path, lambda tuned: {}, "mrr")
