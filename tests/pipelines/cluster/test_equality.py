"""Eight shards give the rankings of one index."""

from __future__ import annotations

from pathlib import Path

import pytest

import spanwise
from spanwise.types import Filter

SAMPLE = "corpora/sample"
LEXICAL = ("tfidf", "bm25", "rank_bm25")
RETRIEVERS = (*LEXICAL, "dense", "colbert", "hybrid", "bm25+colbert", "bm25+dense+colbert")


def places(hits):
    return [(hit.passage.document_id, hit.passage.start, len(hit.duplicates)) for hit in hits]


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_rankings_and_scores_are_those_of_one_index(pair, retriever):
    one, eight, questions = pair
    questions = questions[:3] if retriever == "rank_bm25" else questions
    options = {"retriever": retriever, "k": 10, "exact": True}
    whole, parts = (library.search_many(questions, **options) for library in (one, eight))
    assert [places(hits) for hits in parts] == [places(hits) for hits in whole]
    tolerance = 1e-6 if retriever in LEXICAL else 1e-3
    for expected, found in zip(whole, parts, strict=True):
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=tolerance)


def test_a_filter_selects_the_same_documents(pair):
    one, eight, questions = pair
    where = Filter(paths=("n01*",))
    assert eight.scope(where) == one.scope(where)
    found = [places(library.search(questions[0], where=where)) for library in (one, eight)]
    assert found[0] == found[1]
    assert len(found[0]) == 10


def test_misspelled_words_are_searched_as_in_one_index(pair):
    one, eight, _ = pair
    for question in ("brigde of stonne", "zzzyq qqqzz", "milll and rivver"):
        assert eight.spelled(question) == one.spelled(question)


def test_contents_and_figures_are_those_of_one_index(pair):
    one, eight, _ = pair
    assert eight.document("n0007.md") == one.document("n0007.md")
    assert [p.text for p in eight.passages()] == [p.text for p in one.passages()]
    assert eight.files() == one.files()
    with one.reading() as whole, eight.reading() as parts:
        assert parts.token_models() == whole.token_models()
        assert parts.vector_models() == whole.vector_models()
        assert parts.descriptions() == whole.descriptions()
        assert parts.n_tokens("words") == whole.n_tokens("words")
    same = ("documents", "passages", "formats", "vectors", "colbert", "model")
    whole, parts = one.status(), eight.status()
    assert [parts[key] for key in same if key != "colbert"] == [
        whole[key] for key in same if key != "colbert"
    ]
    assert parts["colbert"]["tokens"] == whole["colbert"]["tokens"]


def test_answers_and_confidence_are_those_of_one_index(tmp_path):
    questions = Path(SAMPLE, "demo-questions.txt").read_text(encoding="utf-8").splitlines()
    options = {"retriever": "bm25", "k": 10}
    answers = []
    for name, shards in (("one", None), ("many", 4)):
        with spanwise.open(f"{SAMPLE}/docs", tmp_path / name, cache=False, shards=shards) as library:
            library.sync(vectors=False)
            answers.append(library.ask_many(questions, **options))
            explained = library.explain(questions[0], **options)
            assert explained.ranks[0].rank == 1
    for whole, parts in zip(*answers, strict=True):
        assert (parts.outcome, parts.best and parts.best.span) == (
            whole.outcome,
            whole.best and whole.best.span,
        )
        assert parts.passages_read == whole.passages_read
        if whole.best:
            assert parts.best.confidence == pytest.approx(whole.best.confidence, abs=0.01)
    assert {answer.outcome for answer in answers[0]} >= {"answer"}
