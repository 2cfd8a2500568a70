"""Every list gets a teacher's scores; what is interrupted goes on to the same result."""

from __future__ import annotations

import numpy as np
import pytest

from spanwise.corpora.ranking_examples import read_ranking_examples
from spanwise.errors import DataMalformed
from spanwise.pipelines.training import score
from spanwise.pipelines.training.score import Scored, positive_is_first, score_lists
from spanwise.types import RankingExample

EXAMPLES = [RankingExample(f"q{i}", ("a", "bb", "ccc")[: 1 + i % 3]) for i in range(23)]


class LengthScorer:
    """Scores by lengths; stops, if it is to, at a call."""

    def __init__(self, digest="lengths", stop_after=99):
        self.digest, self.calls, self.stop_after = digest, 0, stop_after

    def score(self, questions, passages):
        if self.calls == self.stop_after:
            raise KeyboardInterrupt
        self.calls += 1
        return [
            np.array([-(len(q) + len(p)) / 3 for p in texts], np.float32)
            for q, texts in zip(questions, passages, strict=True)
        ]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(score, "LISTS_AT_ONCE", 5)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_lists_get_the_scores_of_their_passages(tmp_path):
    told = []
    report = score_lists(EXAMPLES, LengthScorer(), tmp_path, lambda *at: told.append(at))
    found = list(read_ranking_examples(tmp_path))
    assert [(e.question, e.passages) for e in found] == [(e.question, e.passages) for e in EXAMPLES]
    assert found[2].scores == (-1.0, -1.3333, -1.6667)
    assert (told[0], told[-1]) == (("scores", 0, 23), ("scores", 23, 23))
    assert report == Scored(23, sum(len(e.passages) for e in EXAMPLES), 0, 23)


@pytest.mark.parametrize("torn", [b"", b"[[1.0", b"[[1.0]]"])
def test_an_interrupted_run_goes_on_to_the_same_result(tmp_path, torn):
    score_lists(EXAMPLES, LengthScorer(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        score_lists(EXAMPLES, LengthScorer(stop_after=2), tmp_path / "stopped")
    with (tmp_path / "stopped/scores.jsonl").open("ab") as file:
        file.write(torn)
    again = LengthScorer()
    score_lists(EXAMPLES, again, tmp_path / "stopped")
    assert again.calls == 3
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


def test_a_finished_run_is_not_scored_again(tmp_path):
    first = score_lists(EXAMPLES, LengthScorer(), tmp_path)
    before = files(tmp_path)
    assert score_lists(EXAMPLES, LengthScorer(stop_after=0), tmp_path) == first
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("examples", "digest"), [(EXAMPLES[:-1], "lengths"), (EXAMPLES, "another"), (EXAMPLES[::-1], "lengths")]
)
def test_scores_of_something_else_are_refused(tmp_path, examples, digest):
    score_lists(EXAMPLES, LengthScorer(), tmp_path)
    with pytest.raises(ValueError, match="other lists or by another teacher"):
        score_lists(examples, LengthScorer(digest), tmp_path)


@pytest.mark.parametrize("line", [b"{}", b"[[1.0]]", b"\xff", b"[1, 2, 3, 4, 5]", b"[[NaN]]"])
def test_a_damaged_file_is_named_with_its_line(tmp_path, line):
    with pytest.raises(KeyboardInterrupt):
        score_lists(EXAMPLES, LengthScorer(stop_after=1), tmp_path)
    with (tmp_path / "scores.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(DataMalformed, match=r"scores\.jsonl, line 3"):
        score_lists(EXAMPLES, LengthScorer(), tmp_path)


@pytest.mark.parametrize(("margin", "left"), [(0.0, "adce"), (1.0, "ace"), (-10.0, "abdce"), (99.0, "a")])
def test_negatives_that_score_like_the_positive_can_be_dropped(tmp_path, margin, left):
    class Fixed(LengthScorer):
        def score(self, questions, passages):
            return [np.array([5.0, 5.5, 4.5, 1.0, 0.0], np.float32)]

    example = RankingExample("q", tuple("abdce"))
    report = score_lists([example], Fixed(), tmp_path, drop_within=margin)
    [found] = read_ranking_examples(tmp_path)
    assert "".join(found.passages) == left
    assert (report.dropped, report.first) == (5 - len(left), 0)


def test_a_tie_counts_against_the_positive():
    assert not positive_is_first(RankingExample("q", ("a", "b"), 1, (1.0, 1.0)))
    assert positive_is_first(RankingExample("q", ("a", "b", "c"), 2, (0.0, 1.0, 0.5)))
