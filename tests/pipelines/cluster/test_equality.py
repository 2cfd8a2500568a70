"""Eight shards give the rankings of one index."""

import pytest

from spanwise.pipelines.answering.filters import count_unread
from spanwise.types import Filter

LEXICAL = ("tfidf", "bm25", "rank_bm25")
RETRIEVERS = (*LEXICAL, "dense", "colbert", "hybrid", "bm25+colbert", "bm25+dense+colbert")


def places(hits):
    return [(hit.passage.document_id, hit.passage.start, len(hit.duplicates)) for hit in hits]


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_rankings_and_scores_are_those_of_one_index(pair, retriever):
    whole, sharded, questions = pair
    questions = questions[:3] if retriever == "rank_bm25" else questions
    options = {"retriever": retriever, "k": 10, "exact": True}
    expected = whole.search_many(questions, **options)
    results = sharded.search_many(questions, **options)
    assert [places(hits) for hits in results] == [places(hits) for hits in expected]
    tolerance = 1e-6 if retriever in LEXICAL else 1e-3
    for hits, expected_hits in zip(results, expected, strict=True):
        scores = [hit.score for hit in expected_hits]
        assert [hit.score for hit in hits] == pytest.approx(scores, abs=tolerance)


def test_names_of_files_are_found_as_in_one_index(pair):
    whole, sharded, _ = pair
    for retriever in ("bm25", "tfidf"):
        hits = sharded.search("n0007 bridge", retriever=retriever)
        assert "n0007.md" in [hit.passage.document_id for hit in hits]
        assert places(hits) == places(whole.search("n0007 bridge", retriever=retriever))


def test_a_filter_selects_the_same_documents(pair):
    whole, sharded, questions = pair
    where = Filter(paths=("n01*",))
    result = sharded.search(questions[0], where=where)
    expected = whole.search(questions[0], where=where)
    assert result.scope == expected.scope
    assert places(result) == places(expected)
    assert len(result) == 10


def test_misspelled_words_are_searched_as_in_one_index(pair):
    whole, sharded, _ = pair
    for question in ("brigde of stonne", "zzzyq qqqzz", "milll and rivver"):
        spellings = [library.search(question, retriever="bm25").spelling for library in (sharded, whole)]
        assert spellings[0] == spellings[1]


def test_the_documents_that_mention_words_are_those_of_one_index(pair):
    whole, sharded, _ = pair
    for words in ("bridge", "stone bridge", "zzzyq"):
        question = f"Which documents mention {words}?"
        assert sharded.ask(question).computed == whole.ask(question).computed
    assert whole.ask("Which documents mention bridge?").computed.documents


def test_unread_files_and_parts_of_words_are_those_of_all_shards(pair):
    for library in pair[:2]:
        with library.reading() as snapshot:
            assert count_unread(snapshot, Filter(paths=("broken*",))) == 3
            assert snapshot.postings().has_term("ridg")
            assert not snapshot.postings().has_term("zzz")


def test_contents_and_figures_are_those_of_one_index(pair):
    whole, sharded, _ = pair
    assert sharded.document("n0007.md") == whole.document("n0007.md")
    assert [p.text for p in sharded.passages()] == [p.text for p in whole.passages()]
    assert sharded.files() == whole.files()
    with whole.reading() as expected, sharded.reading() as snapshot:
        assert snapshot.token_models() == expected.token_models()
        assert snapshot.vector_models() == expected.vector_models()
        assert snapshot.descriptions() == expected.descriptions()
        assert snapshot.n_tokens("words") == expected.n_tokens("words")
    expected = whole.status()
    status = sharded.status()
    for key in ("documents", "passages", "formats", "vectors", "model"):
        assert status[key] == expected[key]
    assert status["colbert"]["tokens"] == expected["colbert"]["tokens"]
