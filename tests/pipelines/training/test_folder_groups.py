"""Groups of questions about folders: hard negatives that do not answer, mined once."""

from __future__ import annotations

import json

import pytest

from spanwise.corpora.ranking_examples import read_ranking_examples
from spanwise.errors import DataMalformed
from spanwise.pipelines.training.folder_groups import folder_examples, mined_file, shortened
from spanwise.pipelines.training.mining import mine
from spanwise.retrieval.training.mining import MiningConfig

MILL = "The mill was built by Ada Rook in 1811."
FILES = {"mill.md": MILL, "again.md": "Ada Rook built a mill.", "tram.md": "The tram was built by Ute Falk."}


def test_negatives_are_other_passages_without_the_answer_and_mined_once(tmp_path):
    (tmp_path / "town").mkdir()
    for name, text in FILES.items():
        (tmp_path / "town" / name).write_text(text)
    place = {"document": "mill.md", "heading": "Town > Mill", "passage": MILL}
    whole = {"id": "q", "question": "Who built the mill?", "type": "factoid", **place}
    none = {"id": "n", "question": "Who sold the mill?", "type": "none", **place, "answer": ""}
    lines = [whole | {"answer": "Ada Rook", "answer_start": MILL.index("Ada")}, none | {"answer_start": -1}]
    (tmp_path / "town.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run = tmp_path / "run"
    group, alone = folder_examples(tmp_path, run, 0)
    assert (group.answer, group.context, group.labels) == ("Ada Rook", "Town. Mill. ", (0.0, -1.0, 0.0))
    assert group.negatives == (("tram. ", FILES["tram.md"]),)
    assert alone.start is None
    assert alone.negatives[0][1] in FILES.values()
    mined = mine([tmp_path], tmp_path / "lists", MiningConfig(2, 0), teacher=None)
    assert mined.train + mined.validation == 1
    [one] = read_ranking_examples(tmp_path / "lists" / ("train" if mined.train else "validation"))
    assert one.passages == (f"Town. Mill. {MILL}", f"tram. {FILES['tram.md']}")
    mined_file(run, "town").write_text('{"id": "n", "passages": []}\n')
    with pytest.raises(DataMalformed, match="lacks the question 'q': remove it to mine again"):
        folder_examples(tmp_path, run, 0)


def test_a_shortened_passage_lacks_the_sentences_and_the_words_of_the_answer():
    rest = "The tram was built by Ute Falk. " * 5
    assert shortened(f"{MILL} {rest}", 22, 30) == rest.strip()
    assert shortened(f"{MILL} {rest}", 0, 8) == rest.strip()
    assert shortened(f"{MILL} {rest} Ada Rook died.", 22, 30) is None
