from __future__ import annotations

import pytest

from spanwise.pipelines.cli.reranking import reranked_names
from spanwise.pipelines.models import split_rerank


@pytest.mark.parametrize(
    ("names", "rerank", "model", "expected"),
    [
        (["bm25", "dense"], False, None, ["bm25", "dense"]),
        (["bm25", "dense"], True, None, ["bm25+rerank", "dense+rerank"]),
        (["bm25", "dense"], False, "mine", ["bm25+rerank", "dense+rerank"]),
        (["bm25", "bm25+rerank"], False, "mine", ["bm25", "bm25+rerank"]),
        (["bm25", "bm25+rerank"], True, "mine", ["bm25+rerank", "bm25+rerank"]),
    ],
)
def test_names_say_what_is_reranked(names, rerank, model, expected):
    assert reranked_names(names, rerank, model) == expected


@pytest.mark.parametrize(
    ("retriever", "model", "expected"),
    [
        ("bm25", "", ("bm25", "")),
        ("bm25", "mine", ("bm25", "mine")),
        ("bm25+rerank", "", ("bm25", "builtin")),
        ("bm25+rerank", "mine", ("bm25", "mine")),
    ],
)
def test_a_model_or_a_name_asks_for_it(retriever, model, expected):
    assert split_rerank(retriever, model) == expected
