from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.corpora import MODEL, PLAIN, stage, vector_of
from helpers.token_vectors import TOKEN_MODEL, tokens_of
from hypothesis import given, strategies as st

from spanwise.index.analysis import Analyzer
from spanwise.retrieval import Encoders, build
from spanwise.retrieval.near_duplicates import (
    MAX_DEPTH,
    READING_RULE,
    DeduplicatingRetriever,
    DuplicateRule,
    shingles,
)
from spanwise.types import Hit, Passage

MILL = "the mill by the weir was built by ada rook for the guild of the millers of the town"
TRAM = "the tram runs every ten minutes from the harbour to the market and back again"


class Ranked:
    """A retriever that ranks the texts in their order; it remembers how deep it was asked."""

    name = "ranked"

    def __init__(self, *texts: str) -> None:
        self.hits = [
            Hit(Passage(n, f"{n:03}", 0, len(text), text), 1 / n, n, {"ranked": 1 / n})
            for n, text in enumerate(texts, start=1)
        ]
        self.depths: list[int] = []

    def search(self, questions, k, among=None):
        self.depths.append(k)
        return [self.hits[:k] for _ in questions]


def grouped(*texts: str, question: str = "where?", k: int = 10, rule: DuplicateRule | None = None):
    [hits] = DeduplicatingRetriever(Ranked(*texts), Analyzer(), rule).search([question], k)
    return {hit.passage.id: [passage.id for passage in hit.duplicates] for hit in hits}


class Questions:
    """Encodes questions by a function of a text, and counts how often."""

    width = 8

    def __init__(self, digest, encode) -> None:
        self.digest = digest
        self.encode = encode
        self.counts: Counter[str] = Counter()

    def encode_questions(self, texts):
        self.counts.update(texts)
        vectors = [self.encode(text) for text in texts]
        return np.stack(vectors) if self.digest == MODEL else vectors


class Rebuilt:
    """A retriever that is built anew for each search, so that it keeps nothing."""

    name = "rebuilt"

    def __init__(self, make) -> None:
        self.make = make

    def search(self, questions, k, among=None):
        return self.make().search(questions, k, among)


@pytest.fixture
def copies(corpus_of):
    """150 copies of a text and two other texts with vectors; one text without."""
    corpus = corpus_of({"new": ["the mill of the tram"]})
    with corpus.store.writer() as writer:
        texts = {f"copy{n:03}": [MILL] for n in range(150)} | {"tram": [TRAM], "inn": ["an inn by the weir"]}
        stage(writer, texts, vectors=True)
        writer.commit()
    return corpus


@pytest.mark.parametrize("name", ["dense", "colbert", "bm25+colbert", "bm25+dense+colbert"])
def test_a_question_is_encoded_once_however_many_hits_are_folded(copies, name) -> None:
    passages = Questions(MODEL, vector_of)
    tokens = Questions(TOKEN_MODEL, tokens_of)
    encoders = Encoders(lambda: passages, lambda: tokens)
    questions = ["the mill", "ada rook of the guild"]
    with copies.snapshot() as snapshot:

        def make():
            return build(name, snapshot, PLAIN, encoders)

        retriever = DeduplicatingRetriever(make(), PLAIN)
        hits = retriever.search(questions, 3)
        counts = passages.counts + tokens.counts
        expected = DeduplicatingRetriever(Rebuilt(make), PLAIN).search(questions, 3)
    n_encoders = ("dense" in name) + ("colbert" in name)
    assert sum(len(hit.duplicates) for hit in hits[0]) == 149
    assert counts == dict.fromkeys(questions, n_encoders)
    assert hits == expected
    assert sum((passages.counts + tokens.counts).values()) > 3 * sum(counts.values())


def test_a_version_with_the_word_that_was_asked_for_stays() -> None:
    assert grouped(MILL, MILL.replace("guild", "union"), question="which union?") == {1: [], 2: []}


@pytest.mark.parametrize(
    ("kinds", "question"),
    [
        ("fir elm ash oak yew box bay fig nut rye hop tea".split(), "which mill is of fir?"),
        ([str(number) for number in range(31, 43)], "mill 36?"),
    ],
)
def test_sheets_of_one_template_stay_apart_where_the_question_names_one(kinds, question) -> None:
    sheets = [f"{MILL} of {kind}" for kind in kinds]
    assert list(grouped(*sheets, question=question, k=12)) == list(range(1, 13))
    assert list(grouped(*sheets, question="which mill?", k=12)) == [1]
    assert list(grouped(*[sheets[5]] * 3, question=question)) == [1]


def test_a_document_whose_path_has_a_word_of_the_question_stays() -> None:
    retriever = Ranked(MILL, MILL)
    first, second = retriever.hits
    named = replace(second.passage, document_id="oslo.md")
    retriever.hits = [first, replace(second, passage=named)]
    [hits] = DeduplicatingRetriever(retriever, Analyzer()).search(["the mill in oslo?"], 5)
    assert [hit.passage.id for hit in hits] == [1, 2]


def test_other_figures_stay_apart_where_they_are_read() -> None:
    texts = [f"{MILL} {TRAM} in {year} it was opened again to visitors" for year in (1811, 1920)]
    assert grouped(*texts) == {1: [2]}
    assert grouped(*texts, rule=replace(READING_RULE, share=0.7)) == {1: [], 2: []}


def test_overlapping_passages_of_a_document_are_no_repetition() -> None:
    retriever = Ranked(MILL, MILL)
    first, second = retriever.hits
    retriever.hits = [first, replace(second, passage=replace(first.passage, id=2, start=9, end=99))]
    [hits] = DeduplicatingRetriever(retriever, Analyzer()).search(["where?"], 2)
    assert [hit.duplicates for hit in hits] == [(), ()]


def test_the_list_is_filled_up_from_further_down() -> None:
    retriever = Ranked(*[MILL] * 30, TRAM)
    [hits] = DeduplicatingRetriever(retriever, Analyzer()).search(["where?"], 2)
    assert [hit.passage.id for hit in hits] == [1, 31]
    assert retriever.depths == [20, 40]


def test_a_corpus_of_one_text_is_not_read_to_its_end() -> None:
    retriever = Ranked(*[MILL] * 5000)
    [hits] = DeduplicatingRetriever(retriever, Analyzer()).search(["where?"], 10)
    assert len(hits) == 1
    assert MAX_DEPTH <= max(retriever.depths) < 2 * MAX_DEPTH


@given(
    st.lists(st.sampled_from([MILL, TRAM, MILL[:40], MILL + TRAM, "x", "?!", "…"]), min_size=1, max_size=12)
)
def test_every_hit_is_kept_or_folded_once_and_smaller_lists_are_beginnings(texts) -> None:
    whole = grouped(*texts, k=12)
    assert sorted([*whole, *(n for folded in whole.values() for n in folded)]) == [*range(1, len(texts) + 1)]
    assert list(grouped(*texts, k=2)) == list(whole)[:2]
    assert all(hit < n for hit, folded in whole.items() for n in folded)


def folded_by_sets(texts, share):
    """The same by the runs of every pair, where the question has no word of the texts."""
    best = {}
    for number, text in enumerate(texts, start=1):
        runs = shingles(Analyzer().terms(text))
        says_it = [n for n, (better, _) in best.items() if len(runs & better) >= share * len(runs)]
        if says_it:
            best[says_it[0]][1].append(number)
        else:
            best[number] = runs, []
    return {number: folded for number, (_, folded) in best.items()}


WORDS = st.lists(st.sampled_from([*MILL.split(), *TRAM.split()]), max_size=12).map(" ".join)


@given(
    st.lists(WORDS | st.sampled_from([MILL, TRAM, MILL[:40]]), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.5, 0.7, 1]),
)
def test_folding_equals_a_comparison_of_all_pairs(texts, share) -> None:
    folded = grouped(*texts, question="where?", k=12, rule=DuplicateRule(share))
    assert folded == folded_by_sets(texts, share)
