"""The probability of a span among the best passages is the same however many are read, and with what."""

from dataclasses import replace
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.answering.candidates import SpanCandidate
from spanwise.reader.evidence import SHARED_PASSAGES, EarlyExit
from spanwise.types import AskOptions

SAMPLE = Path("corpora/sample")
DEMO = (SAMPLE / "demo-questions.txt").read_text(encoding="utf-8").splitlines()
QUESTIONS = DEMO[:2]
SURE = -1e9
NEVER_SURE = 1e9


def opened(index, shards):
    library = spanwise.open(SAMPLE / "docs", index, cache=False, shards=shards)
    library.sync(vectors=False)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("whole") / "index", None) as whole:
        yield whole


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("shards") / "index", 4) as sharded:
        yield sharded


def probabilities(library, questions, k=20, margin=NEVER_SURE, read_all=False):
    """For each question the feature of every span in the best passages, by its place."""
    asker = library.answerer(AskOptions(k=k, retriever="bm25", dedupe=False, read_all=read_all))
    rule = EarlyExit(SHARED_PASSAGES, 20, margin)
    asker = replace(asker, calibration=replace(asker.calibration, stopping=rule))
    by_question = []
    for trace in asker.trace(questions):
        best = {hit.passage.id for hit in trace.hits[:SHARED_PASSAGES]}
        candidates = [ranked.candidate for ranked in trace.ranked]
        by_question.append(
            {
                (
                    candidate.scored.span.document_id,
                    candidate.scored.span.start,
                ): candidate.features.log_probability
                for candidate in candidates
                if candidate.scored.passage.id in best and isinstance(candidate, SpanCandidate)
            }
        )
    return by_question


@pytest.fixture(scope="module")
def expected(library):
    return probabilities(library, QUESTIONS)


def same(first, second):
    for expected, actual in zip(first, second, strict=True):
        common = expected.keys() & actual.keys()
        assert len(common) >= SHARED_PASSAGES // 2
        for place in common:
            assert actual[place] == pytest.approx(expected[place], abs=0.05)  # in bf16 where that is fast


def test_a_probability_does_not_depend_on_k_on_early_exit_or_on_other_questions(library, expected):
    same(expected, probabilities(library, QUESTIONS, read_all=True))
    same(expected, probabilities(library, QUESTIONS, k=8))
    same(expected, probabilities(library, QUESTIONS, margin=SURE))
    same(expected, [probabilities(library, [question])[0] for question in QUESTIONS])


def test_a_probability_does_not_depend_on_shards(expected, shards):
    same(expected, probabilities(shards, QUESTIONS))


def test_answers_and_confidence_of_shards_are_those_of_one_index(library, shards):
    options = {"retriever": "bm25", "k": 10}
    answers = library.ask_many(DEMO, **options)
    for answer, expected in zip(shards.ask_many(DEMO, **options), answers, strict=True):
        assert answer.outcome == expected.outcome
        assert answer.span == expected.span
        assert answer.passages_read == expected.passages_read
        if expected.best:
            assert answer.confidence == pytest.approx(expected.confidence, abs=0.01)
    assert "answer" in {answer.outcome for answer in answers}
    for each in (library, shards):
        assert each.explain(DEMO[0], **options).ranks[0].rank == 1


def test_the_feature_is_the_logarithm_of_a_probability(expected):
    values = [value for by_place in expected for value in by_place.values()]
    assert max(values) <= 0
    assert min(values) < -5
