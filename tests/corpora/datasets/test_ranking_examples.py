"""Lists of passages are written and read again, and a wrong line is named."""

import json
from pathlib import Path

import pytest
from helpers.ranking_data import write_lists

from spanwise.corpora.datasets.ranking_examples import read_ranking_examples
from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

EXAMPLES = [
    RankingExample("who?", ("a\nb", "c"), 1, (2.5, -1.0)),
    RankingExample("what?", ("c", "é", "a\nb"), 2),
]


def test_written_examples_are_read_back(tmp_path: Path) -> None:
    write_lists(tmp_path, EXAMPLES)
    assert list(read_ranking_examples(tmp_path)) == EXAMPLES
    assert list(read_ranking_examples(tmp_path / "lists.jsonl")) == EXAMPLES
    with pytest.raises(DataMalformed, match=r"no lists\.jsonl"):
        list(read_ranking_examples(tmp_path / "other"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": 1}, "'question'"),
        ({"passages": "a"}, "to be a list"),
        ({"n_positive": "1"}, "whole number"),
        ({"n_positive": 5}, "positive"),
        ({"scores": [1.0, None]}, "list of numbers"),
        ({"scores": [1.0]}, "score"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    line = {"question": "q", "passages": ["a", "b"], "n_positive": 1} | changes
    (tmp_path / "lists.jsonl").write_text(json.dumps(line))
    with pytest.raises(DataMalformed, match=rf"lists\.jsonl, line 1: .*{message}"):
        list(read_ranking_examples(tmp_path))
