"""A reader learns from a teacher's scores: the loss by hand, rows without scores, and a run."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny_models import tiny_span_model

from spanwise.corpora.sentences import sentence_spans
from spanwise.models.load import load_span_model
from spanwise.models.model_files import find_base
from spanwise.models.tokenizer import load_tokenizer, special_tokens
from spanwise.models.training import TrainingConfig, own_memory
from spanwise.reader.labels import LabelStore, label_pairs
from spanwise.reader.losses import TeacherLogits, distillation_loss
from spanwise.reader.span_reader import SpanReader, SpanScores
from spanwise.reader.spans import Pair
from spanwise.reader.training import (
    ReaderExample,
    ReaderTrainingConfig,
    add_evidence_head,
    batch_loss,
    fine_tune,
    training_groups,
)

TEXT = "It stands by the weir. The mill was built by Ada Rook. It has two wheels. Nobody lives there now."
OTHERS = (("Tram. ", "Ute Falk opened the tram."), ("", "The weir holds the water."))
START = TEXT.index("Ada")
GROUP = ReaderExample("a", "Who built the mill?", TEXT, START, START + 8, "Mill", "Town. ", OTHERS)
PAIRS = [Pair(GROUP.question, *text) for text in GROUP.texts]
RECIPE = ReaderTrainingConfig(TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,)), max_length=64)


IS_PASSAGE = torch.tensor([[False, True, True, True, False]] * 2)


def random_logits():
    torch.manual_seed(0)
    return torch.randn(2, 5), torch.randn(2, 5), torch.randn(2, 5, 5)


def teacher_of(start, end, evidence, known=(True, True)):
    return TeacherLogits(
        torch.tensor(known),
        start,
        end,
        torch.stack([start[:, 0], end[:, 0]], dim=1),
        evidence[:, 0, 1],
        evidence[..., 0],
    )


def test_the_distillation_loss_is_0_for_the_logits_of_the_teacher():
    start, end, evidence = random_logits()
    teacher = teacher_of(start, end, evidence)
    loss = distillation_loss(start, end, evidence, teacher, IS_PASSAGE, 0, [2], 2.0)
    assert float(loss) == pytest.approx(0, abs=1e-6)


def test_the_divergence_equals_a_sum_by_hand():
    start = torch.zeros(1, 3)
    zero = torch.zeros(1, 3)
    evidence = torch.zeros(1, 3, 5)
    theirs = torch.tensor([[0.0, 4.0, -torch.inf]])
    nan = torch.full((1, 3), torch.nan)
    teacher = TeacherLogits(torch.tensor([True]), theirs, zero, torch.zeros(1, 2), torch.zeros(1), nan)
    is_passage = torch.tensor([[False, True, True]])
    p = np.exp([0, 2]) / np.exp([0, 2]).sum()  # logits halved by the temperature
    wanted = 4 * (p * np.log(3 * p)).sum()
    loss = distillation_loss(start, zero, evidence, teacher, is_passage, 0, [1], 2.0)
    assert float(loss) == pytest.approx(wanted, abs=1e-5)


def test_rows_without_teacher_logits_are_ignored():
    start, end, evidence = random_logits()
    teacher = teacher_of(start + 1, end * 2, evidence, known=(True, False))
    unknown = teacher.support.clone()
    unknown[1] = torch.nan
    both = distillation_loss(start, end, evidence, replace(teacher, support=unknown), IS_PASSAGE, 0, [2], 2.0)
    first = [getattr(teacher, name)[:1] for name in TeacherLogits.__slots__]
    alone = TeacherLogits(*first)
    by_itself = distillation_loss(start[:1], end[:1], evidence[:1], alone, IS_PASSAGE[:1], 0, [1], 2.0)
    assert float(both) == pytest.approx(float(by_itself), abs=1e-6)
    none = replace(teacher, is_scored=torch.tensor([False, False]))
    assert float(distillation_loss(start, end, evidence, none, IS_PASSAGE, 0, [2], 2.0)) == 0


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(find_base())


@pytest.fixture(scope="module")
def taught(tokenizer, tmp_path_factory):
    """A teacher's model and its labels of all pairs of GROUP."""
    folder = tmp_path_factory.mktemp("teacher")
    model = own_memory(load_span_model(tiny_span_model(folder / "model", seed=1)))
    torch.manual_seed(3)
    add_evidence_head(model)
    with torch.no_grad():
        for head in (model.qa_outputs, model.evidence_outputs):
            head.weight.mul_(40)
    store = LabelStore.open(folder / "labels", "teacher")
    reader = SpanReader(SpanScores(model.eval()), tokenizer, "teacher")
    label_pairs(reader, store, PAIRS, sentence_spans)
    return model, store


def test_a_window_has_the_part_of_the_label_that_lies_in_it(tokenizer, taught):
    _, store = taught
    recipe = replace(RECIPE, max_length=30)
    [rows] = training_groups([GROUP], tokenizer, 3, recipe, sentence_spans, store)
    whole = store.get(*PAIRS[0])
    tokens = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    row = rows[0]
    first = row.first
    assert tokens[first : first + len(row.window)] == row.window.tolist()
    for position, logit in zip(whole.start_positions.tolist(), whole.start_logits.tolist(), strict=True):
        if first <= position < first + len(row.window):
            assert row.teacher.start[position - first] == logit
    assert len(row.window) < len(tokens)
    assert not np.isnan(row.teacher.support).all()


def test_without_labels_and_with_those_of_others_nothing_is_distilled(tokenizer, taught):
    _, store = taught
    other = replace(GROUP, question="Who sold the mill?")
    for example, labels in ((GROUP, None), (other, store)):
        [rows] = training_groups([example], tokenizer, 3, RECIPE, sentence_spans, labels)
        assert [row.teacher for row in rows] == [None] * 3


def test_a_passage_that_the_teacher_prefers_is_no_negative(tokenizer, taught):
    model, store = taught
    special = special_tokens(tokenizer)
    [rows] = training_groups([GROUP], tokenizer, special.count, RECIPE, sentence_spans, store)
    recipe = replace(RECIPE, distilled=0.0, shared=1.0)

    def loss(*relevance):
        scored = [
            replace(row, teacher=replace(row.teacher, relevance=value))
            for row, value in zip(rows, relevance, strict=True)
        ]
        return float(batch_loss(model, [scored], special, recipe).detach())

    without = [replace(row, teacher=None) for row in rows]
    assert loss(2, 1, 1) == pytest.approx(
        float(batch_loss(model, [without], special, recipe).detach()), abs=1e-5
    )
    assert loss(2, 3, 1) == pytest.approx(
        float(batch_loss(model, [[without[0], without[2]]], special, recipe).detach()), abs=1e-5
    )


def test_a_student_comes_to_give_the_teachers_scores(tokenizer, taught, tmp_path):
    _, store = taught
    student = own_memory(load_span_model(tiny_span_model(tmp_path / "model")))
    recipe = replace(RECIPE, epochs=80, distilled=1.0, temperature=1.0, batch_tokens=512)
    losses = []
    fine_tune(
        student,
        tokenizer,
        [GROUP],
        recipe,
        tmp_path / "run",
        lambda model: {"f1": 0.0},
        lambda progress: losses.append(progress.loss),
        sentence_spans,
        evidence=True,
        labels=store,
    )
    assert losses[-1] < losses[0] / 10
    reader = SpanReader(SpanScores(student), tokenizer, "student")
    learnt = LabelStore.open(tmp_path / "labels", "student")
    label_pairs(reader, learnt, PAIRS, sentence_spans)
    for pair in PAIRS:
        assert learnt.get(*pair).start_positions[0] == store.get(*pair).start_positions[0]
