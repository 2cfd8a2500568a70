"""Groups of questions about folders: hard negatives that do not answer, mined once."""

import json

import numpy as np
import pytest

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.corpora.datasets.ranking_examples import read_ranking_examples
from spanwise.errors import DataMalformed
from spanwise.pipelines.training import questions, teacher_scores
from spanwise.pipelines.training.questions import (
    folder_examples,
    is_validation,
    listed_examples,
    mined_file,
    passages_file,
    shortened,
)
from spanwise.pipelines.training.teacher_scores import mine
from spanwise.retrieval.training.mining import MiningConfig

MILL = "The mill was built by Ada Rook in 1811."
FILES = {"mill.md": MILL, "again.md": "Ada Rook built a mill.", "tram.md": "The tram was built by Ute Falk."}


class Teacher:
    """Scores passages by their length, and keeps the questions it was asked."""

    digest = "lengths"

    def __init__(self, asked):
        self.asked = asked

    def score(self, questions, passages):
        self.asked += questions
        return [np.array([len(text) for text in of], np.float32) for of in passages]


@pytest.fixture
def folders(tmp_path):
    """A folder with a question that one of its files answers, and one that none answers."""
    (tmp_path / "town").mkdir()
    for name, text in FILES.items():
        (tmp_path / "town" / name).write_text(text)
    place = {"document": "mill.md", "heading": "Town > Mill", "passage": MILL}
    whole = {"id": "q", "question": "Who built the mill?", "type": "factoid", **place}
    none = {"id": "n", "question": "Who sold the mill?", "type": "none", **place, "answer": ""}
    lines = [whole | {"answer": "Ada Rook", "answer_start": MILL.index("Ada")}, none | {"answer_start": -1}]
    (tmp_path / "town.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_negatives_are_other_passages_without_the_answer(folders):
    group, alone = folder_examples(folders, folders / "run", 0)
    assert group.answer == "Ada Rook"
    assert group.context == "Town. Mill. "
    assert group.labels == (0.0, -1.0, 0.0)
    assert group.negatives == (("tram. ", FILES["tram.md"]),)
    assert alone.start is None
    assert alone.negatives[0][1] in FILES.values()


def test_everyday_wordings_share_answer_and_negatives_and_the_teacher_reads_the_question(
    folders, monkeypatch
):
    run = folders / "run"
    everyday = {"of": wording_key("Who built the mill?"), "wording": "mill, whose work?"}
    (folders / "wordings").write_text(json.dumps(everyday))
    monkeypatch.setattr(questions, "WORDINGS", folders / "wordings")
    same, reworded, _ = folder_examples(folders, run, 0)
    assert same.id == "town/q"
    assert reworded.id == "town/q-1"
    assert reworded.question == "mill, whose work?"
    assert reworded.answer == same.answer
    assert reworded.negatives == same.negatives
    scored: list[str] = []
    monkeypatch.setattr(teacher_scores, "load_cross_encoder", lambda name: Teacher(scored))
    mined = mine([folders], folders / "lists", MiningConfig(2, 0))
    assert mined.train + mined.validation == 2
    lists = list(read_ranking_examples(folders / "lists" / ("train" if mined.train else "validation")))
    assert {example.question for example in lists} == {"Who built the mill?", "mill, whose work?"}
    assert {example.passages for example in lists} == {(f"Town. Mill. {MILL}", f"tram. {FILES['tram.md']}")}
    assert scored == ["Who built the mill?"] * 2  # the teacher reads the question that was written first
    listed, other = listed_examples(folders, run, 0, negatives=4)
    assert listed.question in ("Who built the mill?", "mill, whose work?")
    assert listed.negatives == same.negatives  # no other passage is without the answer
    assert other.start is None


def test_damaged_mined_passages_are_named(folders):
    run = folders / "run"
    folder_examples(folders, run, 0)
    passages_file(run, "town").write_text('["", "one"]\n')
    with pytest.raises(DataMalformed, match="colbert names passages that are not kept"):
        folder_examples(folders, run, 0)
    passages_file(run, "town").unlink()
    with pytest.raises(DataMalformed, match=r"passages-town.jsonl cannot be read"):
        folder_examples(folders, run, 0)
    passages_file(run, "town").touch()
    mined_file(run, "town").write_text('{"question": "Who sold the mill?", "colbert": [], "dense": []}\n')
    with pytest.raises(
        DataMalformed, match="lacks the question 'Who built the mill\\?': remove it to mine again"
    ):
        folder_examples(folders, run, 0)


def test_a_shortened_passage_lacks_the_sentences_and_the_words_of_the_answer():
    rest = "The tram was built by Ute Falk. " * 5
    assert shortened(f"{MILL} {rest}", 22, 30) == rest.strip()
    assert shortened(f"{MILL} {rest}", 0, 8) == rest.strip()
    assert shortened(f"{MILL} {rest} Ada Rook died.", 22, 30) is None


def test_the_validation_split_is_by_the_digest_of_the_title() -> None:
    assert sum(is_validation(f"Title {i}") for i in range(400)) == 28
