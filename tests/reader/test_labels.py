"""Labels of a reader: as it scores, kept through kills, of one reader, by question, headings and text."""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.tiny_models import tiny_span_model

from spanwise.errors import DataMalformed, ModelMismatch
from spanwise.reader import labels
from spanwise.reader.labels import LabelStore, label_of, label_pairs
from spanwise.reader.load import load_reader
from spanwise.reader.span_reader import SUPPORT
from spanwise.reader.spans import Pair, Tokens, Window, WindowLogits, mean_evidence

MILL = "The mill was built by Ada Rook in 1811. It has four floors. It burned in 1871."
SENTENCES = [(0, 39), (40, 59), (60, 78)]
PAIRS = [
    Pair("Who built the mill?", "Town. Mill. ", MILL),
    Pair("Who built the mill?", "", "The tram was opened by Ute Falk. " * 30),
    Pair("When did it burn?", "", MILL),
    Pair("When did it burn?", "", ""),
]


def split(text):
    return SENTENCES if text == MILL else [(0, len(text))]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return load_reader(str(tiny_span_model(tmp_path_factory.mktemp("tiny"))), "cpu")


def values(label):
    """All arrays and numbers of a label."""
    return [np.asarray(getattr(label, value.name)) for value in fields(label)]


def assert_same(label, expected, tolerance=0.0):
    for value, other in zip(values(label), values(expected), strict=True):
        assert value.shape == other.shape
        np.testing.assert_allclose(value.astype(float), other.astype(float), tolerance, tolerance)


@pytest.fixture
def store(tmp_path, reader):
    opened = LabelStore.open(tmp_path / "labels", reader.digest)
    label_pairs(reader, opened, PAIRS, split)
    return opened


def test_a_label_has_the_scores_of_the_reader(store, reader, float32):
    for pair, tokens in zip(PAIRS[:3], reader.inputs(PAIRS[:3]), strict=True):
        label = store.get(*pair)
        [[window]] = reader.logits([tokens])
        n = min(labels.N_BEST, len(window.start))
        assert label.n_tokens == len(tokens.passage.ids)
        for positions, logits, scores in (
            (label.start_positions, label.start_logits, window.start),
            (label.end_positions, label.end_logits, window.end),
        ):
            assert logits == pytest.approx(sorted(scores, reverse=True)[:n], rel=2e-3, abs=1e-4)
            assert scores[positions] == pytest.approx(logits.astype(float), rel=2e-3, abs=1e-4)
        assert (label.null_start, label.null_end) == pytest.approx(window.null, rel=2e-3, abs=1e-4)
        assert np.isnan([label.relevance, *label.support]).all()  # this reader gives no evidence
    empty = store.get(*PAIRS[3])
    assert len(empty.start_logits) == 0
    assert np.isnan(empty.null_start)


def test_a_trained_reader_gives_relevance_and_the_support_of_sentences(tmp_path, float32):
    builtin = load_reader("builtin", "cpu")
    store = LabelStore.open(tmp_path, builtin.digest)
    label_pairs(builtin, store, PAIRS[:3], split)
    label = store.get(*PAIRS[2])
    [tokens] = builtin.inputs(PAIRS[2:3])
    [[window]] = builtin.logits([tokens])
    means = [mean_evidence([window], tokens.passage.offsets, *value)[SUPPORT] for value in SENTENCES]
    assert label.relevance == pytest.approx(window.relevance, rel=2e-3)
    assert label.support == pytest.approx(means, rel=2e-3, abs=1e-3)
    assert label.support.argmax() == 2


def test_windows_are_merged_as_the_reader_merges_them():
    evidence = np.zeros((2, 5), dtype=np.float32)
    tokens = Tokens(np.zeros(3, np.int32), np.array([(0, 1), (2, 3), (4, 5)], np.int32))
    first = WindowLogits(Window(0, 0, 2), np.array([1, 5]), np.array([0, 2]), (3.0, 1.0), evidence, -1.0)
    second = WindowLogits(Window(0, 1, 3), np.array([4, 6]), np.array([3, 1]), (0.5, 2.0), evidence + 1, 2.0)
    label = label_of([first, second], tokens, [(0, 3), (4, 5)])
    assert label.relevance == 2.0
    assert label.null_start == 0.5
    assert label.null_end == 2.0
    assert label.start_positions.tolist() == [2, 1, 0]
    assert label.start_logits.tolist() == [6, 5, 1]
    assert label.end_positions.tolist() == [1, 2, 0]
    assert label.end_logits.tolist() == [3, 1, 0]
    assert label.support.tolist() == [0, 1]


def test_known_pairs_are_read_once_and_the_order_of_pairs_does_not_matter(store, reader, tmp_path):
    assert label_pairs(reader, store, PAIRS, split) == (0, 0)
    again = LabelStore.open(store.folder)
    assert len(again) == 4
    assert again.reader == reader.digest
    assert label_pairs(reader, again, PAIRS, split) == (0, 0)
    turned = LabelStore.open(tmp_path / "turned", reader.digest)
    n_labels, n_tokens = label_pairs(reader, turned, PAIRS[::-1], split)
    assert n_labels == 4
    assert n_tokens > 100
    for pair in PAIRS:
        assert_same(again.get(*pair), store.get(*pair))
        assert_same(turned.get(*pair), store.get(*pair), 2e-3)


def test_batches_are_appended_as_they_are_made(store, reader, tmp_path, monkeypatch):
    monkeypatch.setattr(labels, "PAIRS_AT_ONCE", 1)
    stopped = LabelStore.open(tmp_path / "stopped", reader.digest)

    def stop(task, done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label_pairs(reader, stopped, PAIRS, split, stop)
    assert [pair in LabelStore.open(stopped.folder) for pair in PAIRS] == [True, True, False, False]


def test_question_headings_and_text_name_a_pair(store):
    pair = PAIRS[0]
    assert store.get(*pair) is not None
    for name in Pair._fields:
        assert store.get(*pair._replace(**{name: getattr(pair, name) + "x"})) is None
    moved = Pair(pair.question, pair.context + pair.text[:3], pair.text[3:])
    assert moved not in store


def test_labels_of_another_reader_and_damaged_ones_are_refused(store):
    with pytest.raises(ModelMismatch, match=r"labels of another reader .*name another folder, or remove it"):
        LabelStore.open(store.folder, "f" * 64)
    with pytest.raises(DataMalformed, match=r"holds no labels\. Make some with: spanwise train label"):
        LabelStore.open(store.folder / "none")
    (store.folder / labels.FILE).write_bytes(b"no database at all")
    with pytest.raises(DataMalformed, match="cannot be read"):
        LabelStore.open(store.folder)


def test_relevance_and_support_survive_storage_in_float16(tmp_path, store):
    tokens = replace(store.get(*PAIRS[0]), relevance=-7.125, support=np.array([1.5, np.nan], np.float16))
    stored = LabelStore.open(tmp_path, "reader")
    stored.add([(PAIRS[0], tokens)])
    assert_same(LabelStore.open(tmp_path).get(*PAIRS[0]), tokens)
