"""Groups of questions about folders: hard negatives that do not answer, mined once."""

from __future__ import annotations

import json

import pytest

from spanwise.errors import DataMalformed
from spanwise.pipelines.training.folder_groups import folder_examples, mined_file

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
    assert (alone.start, alone.negatives) == (None, ())
    mined_file(run, "town").write_text('{"id": "n", "passages": []}\n')
    with pytest.raises(DataMalformed, match="lacks the question 'q': remove it to mine again"):
        folder_examples(tmp_path, run, 0)
