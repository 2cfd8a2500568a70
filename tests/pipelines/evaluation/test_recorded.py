"""Recorded hits and readings: those of what they stand for, which is asked once, also over several runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spanwise.errors import DataMalformed
from spanwise.pipelines.evaluation.recorded import RecordedReader, RecordedRetriever, Recording
from spanwise.reader.reader_pair import ReaderPair
from spanwise.types import PassageMass, ScoredSpan

QUESTIONS = ["Who built the mill?", "When does the tram run?"]
NUMBERS = {"relevance": 0.1, "support": -7.5, "verdict": "yes", "is_list_question": True, "yes": 2.0}


class Counted:
    """A retriever and a reader; `asked` are its questions."""

    name = digest = "counted"
    answers_null = False

    def __init__(self, retriever=None):
        self.asked = []
        self.retriever = retriever

    def search(self, questions, *limits):
        """What a retriever finds, each hit with itself as a near-duplicate."""
        self.asked += questions
        rankings = self.retriever.search(questions, *limits)
        return [[replace(hit, duplicates=(hit.passage,)) for hit in hits] for hits in rankings]

    def read(self, questions, passages, n_best=5):
        """The beginning of each passage twice, with all numbers and with NaN."""
        self.asked += questions
        return [[spans(passage)[:n_best] for passage in group] for group in passages]


class Pair(Counted, ReaderPair):
    """A reader that reads only some passages of a question."""


def spans(passage):
    mass = PassageMass(1.5, -0.1, 0.25, 1 / 3)
    whole = ScoredSpan(passage.span(0, 4), passage, 1 / 7, -2.0, mass=mass, **NUMBERS)
    return [whole, replace(whole, null_score=math.nan, relevance=math.nan)]


def test_hits_are_those_of_the_retriever_which_is_asked_once_a_commit(library, tmp_path):
    retriever = Counted(library.retriever("bm25"))
    expected = retriever.search(QUESTIONS, 3)
    for commit, n_asked in (("c1", 4), ("c1", 4), ("c2", 6)):
        recording = Recording(tmp_path / "run" / "hits.jsonl")
        recorded = RecordedRetriever(retriever, recording, library.snapshot, commit)
        assert recorded.search(QUESTIONS, 3) == expected
        assert len(retriever.asked) == n_asked
    among = np.array([expected[0][0].passage.id])
    for _ in range(2):  # not recorded
        assert recorded.search(QUESTIONS[:1], 3, among) == [expected[0][:1]]
    assert len(retriever.asked) == 8


def test_readings_are_those_of_the_reader_which_is_asked_once_and_nan_survives(library, tmp_path):
    groups = [[*library.passages()]] * 2
    reader = Counted()
    expected = repr(Counted().read(QUESTIONS, groups))
    assert "nan" in expected
    for _ in range(2):
        recorded = RecordedReader(reader, Recording(tmp_path / "readings.jsonl"))
        assert repr(recorded.read(QUESTIONS, groups)) == expected
    assert reader.asked == QUESTIONS
    assert (recorded.digest, recorded.answers_null) == ("counted", False)


@pytest.mark.parametrize(("kind", "n_asked"), [(Counted, 1), (Pair, 2)])
def test_a_passage_is_known_alone_but_to_a_pair_only_with_the_others(library, tmp_path, kind, n_asked):
    reader = kind()
    recorded = RecordedReader(reader, Recording(tmp_path / "readings.jsonl"))
    passages = [*library.passages()]
    for group in (passages, passages[:1], passages[:1]):
        recorded.read(QUESTIONS[:1], [group])
    assert len(reader.asked) == n_asked


def test_a_run_resumes_behind_a_torn_line(tmp_path):
    path = tmp_path / "readings.jsonl"
    Recording(path).add([("a", [1, None]), ("b", 2)])
    path.write_bytes(path.read_bytes()[:-3])
    resumed = Recording(path)
    assert ("a" in resumed, "b" in resumed) == (True, False)
    resumed.add([("b", 3)])
    assert [Recording(path)[key] for key in "ab"] == [[1, None], 3]


@pytest.mark.parametrize("line", [b"{}\n", b"7\n", b'{"key": "a", "val\n', b"\xff\n"])
def test_a_damaged_file_is_refused(tmp_path, line):
    path = tmp_path / "readings.jsonl"
    path.write_bytes(line + b'{"key": "a", "value": 1}\n')
    with pytest.raises(DataMalformed, match="Remove it to start anew"):
        Recording(path)
