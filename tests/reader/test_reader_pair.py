"""The most relevant passages are read again by a larger reader; the built-in reader is "fast" without it."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from spanwise.models import model_files
from spanwise.models.model_files import FAST, find_base, model_digest, reader_folder
from spanwise.models.tokenizer import load_tokenizer
from spanwise.reader.load import load_reader
from spanwise.reader.reader_pair import N_PASSAGES, SHARE, ReaderPair
from spanwise.reader.span_reader import SpanReader
from spanwise.reader.spans import Window, WindowLogits
from spanwise.types import Passage


def passage(number: int, text: str = "") -> Passage:
    text = text or "mill " * number
    return Passage(number, "a.txt", 0, len(text), text)


class Scripted(SpanReader):
    """Relevance is the number of tokens; `best` is the only token with a start and an end logit."""

    def __init__(self, added: float = 0, best: int = 0, logit: float = 1, digest: str = "1") -> None:
        super().__init__(SimpleNamespace(has_evidence=True), load_tokenizer(find_base()), digest)
        self.added = added
        self.logits_of_best = (best, logit)
        self.asked = []

    def logits(self, pairs):
        self.asked.append([len(pair.passage.ids) for pair in pairs])
        return [[self.window(n)] if n else [] for n in self.asked[-1]]

    def window(self, n: int) -> WindowLogits:
        best, logit = self.logits_of_best
        scores = np.where(np.arange(n) == best, logit, 0).astype(np.float32)
        evidence = np.zeros((n, 5), dtype=np.float32)
        return WindowLogits(Window(0, 0, n), scores, scores, (0.0, 0.0), evidence, n + self.added)


def test_the_most_relevant_passages_are_read_again_and_the_others_give_no_span():
    second = Scripted(added=100)
    [reading] = ReaderPair(Scripted(), second).read(["who?"], [[*map(passage, range(21))]], 1)
    assert second.asked == [[*range(21 - N_PASSAGES, 21)]]
    assert [number for number, spans in enumerate(reading) if spans] == second.asked[0]
    assert reading[20][0].relevance == (20 + 120) / 2


@pytest.mark.parametrize(
    ("text", "added", "answer", "score"),
    [
        ("old mill", 98, "old", 8 * SHARE),
        ("old mill", -99, "mill", 4),  # the small reader finds the passage irrelevant
        ("old <s>", 98, "<s>", 4),
        ("old [SEP]", 98, "[", 4),
    ],
)
def test_logits_are_averaged_where_both_cut_a_text_alike(monkeypatch, text, added, answer, score):
    monkeypatch.delenv("SPANWISE_READER")
    second = Scripted(best=1, logit=2)
    second.tokenizer = load_tokenizer(reader_folder("builtin"))
    [[[best]]] = ReaderPair(Scripted(added, logit=4), second).read(["what?"], [[passage(0, text)]], 1)
    assert best.span.text == answer
    assert best.score == pytest.approx(score)


def test_what_the_small_reader_has_read_is_not_read_again():
    first = Scripted()
    both = ReaderPair(first, Scripted())
    both.small.read(["who?"], [[passage(1)]], 2)
    both.read(["who?"], [[passage(1), passage(2)]], 2)
    assert first.asked == [[1], [2]]


def test_a_question_is_read_as_among_others():
    both = ReaderPair(Scripted(), Scripted())
    groups = [[passage(1), passage(2)], [], [passage(3)]]
    together = both.read(["a?", "b?", "c?"], groups, 1)
    assert together == [both.read([q], [group], 1)[0] for q, group in zip("abc", groups, strict=True)]


def test_the_built_in_reader_is_the_fast_one_without_the_larger_file_or_on_demand(tmp_path, monkeypatch):
    fast = shutil.copytree(reader_folder(FAST), tmp_path / "reader")
    monkeypatch.setattr(model_files, "builtin_folder", lambda kind: fast)
    monkeypatch.delenv("SPANWISE_READER")
    assert reader_folder("builtin") == fast
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "second.safetensors").write_bytes(b"")
    assert reader_folder("builtin") == tmp_path / "second"
    assert reader_folder(FAST) == fast
    monkeypatch.setenv("SPANWISE_READER", FAST)
    assert reader_folder("builtin") == fast


def test_both_readers_are_named_in_the_digest(monkeypatch):
    monkeypatch.delenv("SPANWISE_READER")
    assert model_digest("builtin", "reader") != model_digest(FAST, "reader")
    assert ReaderPair(Scripted(), Scripted(digest="2")).digest != ReaderPair(Scripted(), Scripted()).digest


@pytest.mark.reliability
def test_the_larger_reader_reads_what_is_said_in_other_words(monkeypatch):
    monkeypatch.delenv("SPANWISE_READER")
    texts = ["The boiler is in the cellar. It is oiled in May.", "No warm air: check the thermostat valve."]
    passages = [passage(number, text) for number, text in enumerate(texts)]
    both = load_reader("builtin")
    assert isinstance(both, ReaderPair)
    assert isinstance(both.large, SpanReader)
    [[oiled, valve]] = both.read(["What should I look at if the heater only blows cold?"], [passages], 1)
    assert valve[0].relevance > oiled[0].relevance
    assert "valve" in valve[0].span.text
