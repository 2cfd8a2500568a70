"""Both models are measured by exact MaxSim over all passages."""

from __future__ import annotations

import numpy as np
import pytest
from word_encoder import WordEncoder

from spanwise.index.rows import indexed_text
from spanwise.pipelines.adapt import measure as measuring
from spanwise.pipelines.adapt.made_question import MadeQuestion
from spanwise.pipelines.adapt.measure import MRR, RECALL, compared, measure, measured_passages


def question(text: str, *passage_ids: int) -> MadeQuestion:
    return MadeQuestion(text, "cloze", "a.md", 0, 1, passage_ids)


def test_ranks_are_those_of_exact_maxsim(library, monkeypatch):
    monkeypatch.setattr(measuring, "_ENCODED", 7)
    monkeypatch.setattr(measuring, "_COMPARED", 3)
    encoder = WordEncoder("words", 20)
    with library.reading() as snapshot:
        ids = snapshot.passage_ids().tolist()
        passages = snapshot.passages(ids)
        asked = [question(" ".join(one.text.split()[3:9]), one.id) for one in passages[::5]]
        found = measure(encoder, asked, snapshot, ids)
    for place, one in enumerate(asked):
        [rows] = encoder.encode_questions([one.text])
        scores = [
            float((encoder.encode_passages([indexed_text(p)])[0] @ rows.T).max(axis=0).sum())
            for p in passages
        ]
        rank = 1 + int(np.sum(np.array(scores) > scores[ids.index(one.passage_ids[0])] + 1e-5))
        assert found[MRR][f"{place:06}"] == pytest.approx(1 / rank if rank <= 10 else 0)
        assert found[RECALL][f"{place:06}"] == (rank == 1)


def test_any_passage_that_answers_counts(library):
    with library.reading() as snapshot:
        ids = snapshot.passage_ids().tolist()
        text = " ".join(snapshot.passages(ids[:1])[0].text.split()[-8:-2])
        found = measure(WordEncoder(), [question(text, ids[-1], ids[0])], snapshot, ids)
    assert found == {RECALL: {"000000": 1.0}, MRR: {"000000": 1.0}}


def test_a_large_index_is_searched_in_part_with_all_that_answers(library, monkeypatch):
    monkeypatch.setattr(measuring, "MOST_PASSAGES", 10)
    with library.reading() as snapshot:
        ids = snapshot.passage_ids().tolist()
        some = measured_passages(snapshot, [question("x", ids[-1]), question("y", ids[3])])
        assert some == measured_passages(snapshot, [question("x", ids[-1]), question("y", ids[3])])
    assert len(some) == 10
    assert {ids[-1], ids[3]} < set(some)
    assert some == sorted(some, key=ids.index)


def test_the_comparison_that_decides_comes_first():
    asked = [question("a", 1), question("b", 2)]
    before = {RECALL: {"000000": 0.0, "000001": 1.0}, MRR: {"000000": 0.5, "000001": 1.0}}
    after = {RECALL: {"000000": 1.0, "000001": 1.0}, MRR: {"000000": 1.0, "000001": 1.0}}
    first, second = compared(before, after, asked)
    assert (first.measure, first.difference) == (MRR, 0.25)
    assert (second.measure, second.difference) == (RECALL, 0.5)
