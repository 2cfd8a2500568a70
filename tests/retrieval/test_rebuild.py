"""After any sequence of changes the rankings are those of a fresh build, lexical scores to the last bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpora import Texts, stage
from rankings import WORDS, check_maxsim, encode, fresh_build, rankings

from spanwise.index import Store

NAMES = st.sampled_from("abcdef")
PASSAGES = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=4)
CHANGES = st.dictionaries(NAMES, st.none() | PASSAGES, max_size=5)  # None removes the document
RECALL = 0.9  # of late interaction, by codes of a codebook that grew with the index
COMMITS = st.lists(st.tuples(CHANGES, st.booleans()), min_size=1, max_size=4)


def change(store: Store, changes: dict[str, list[str] | None], held: dict[str, list[str]]) -> None:
    put: Texts = {name: texts for name, texts in changes.items() if texts is not None}
    gone = [name for name in changes if name not in put and held.pop(name, None) is not None]
    with store.writer() as writer:
        stage(writer, put, gone)
        writer.commit()
    held |= put


@settings(max_examples=20)
@given(COMMITS)
def test_any_history_answers_like_a_fresh_build(commits) -> None:
    held: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder, "lived"), {}) as lived:
        for changes, encoded in commits:
            change(lived, changes, held)
            if encoded:
                encode(lived)
        encode(lived)
        assert lived.verify() == []
        assert rankings(lived) == fresh_build(Path(folder, "fresh"), held)
        assert check_maxsim(lived) >= RECALL


@pytest.mark.reliability
def test_two_hundred_commits_answer_like_one(tmp_path) -> None:
    draw = np.random.default_rng(3)
    held: dict[str, list[str]] = {}
    with Store.create(tmp_path / "lived", {}) as lived:
        for _ in range(200):
            texts = [" ".join(draw.choice(WORDS, 10)) for _ in range(draw.integers(1, 5))]
            change(lived, {f"d{draw.integers(60)}": texts if draw.random() < 0.8 else None}, held)
        encode(lived)
        assert rankings(lived) == fresh_build(tmp_path / "fresh", held)
        assert check_maxsim(lived) >= RECALL
        assert lived.verify() == []
