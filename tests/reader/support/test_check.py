"""The check of written sentences by worked examples and properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.index.analysis import Analyzer
from spanwise.index.analysis.stop_words import ENGLISH
from spanwise.reader.support.check import Checker
from spanwise.reader.support.verdict import Failure, Verdict

ANALYZER = Analyzer()
SOURCE = [
    "The trial enrolled 100 participants.",
    "The drug lowered blood pressure by 12 percent.",
    "Side effects were mild.",
]
THOUSAND = [SOURCE[0].replace("100", "1000"), *SOURCE[1:]]


def content(text):
    return [ANALYZER.term(token.word) for token in ANALYZER.tokens(text) if token.word not in ENGLISH]


CHECKER = Checker(ANALYZER.terms, content)


def check(sentence, evidence=SOURCE):
    return CHECKER.check(sentence, evidence)


def words(support):
    return [(finding.failure, finding.words) for finding in support.findings]


def test_a_claim_that_the_source_does_not_make_is_named():
    found = check("The FDA-approved drug lowered blood pressure by 12 percent.")
    assert found.verdict == Verdict.UNSUPPORTED
    assert words(found) == [(Failure.EXTRINSIC, "FDA-approved")]


@pytest.mark.parametrize(
    ("sentence", "evidence", "there"),
    [
        ("The trial enrolled 1000 participants.", SOURCE, "100"),
        ("The trial enrolled 100 participants.", THOUSAND, "1000"),
    ],
)
def test_another_number_is_unsupported_however_alike_the_words(sentence, evidence, there):
    found = check(sentence, evidence)
    assert found.verdict == Verdict.UNSUPPORTED
    [finding] = found.findings
    assert finding.failure == Failure.FACTUAL
    assert finding.reason == f"the cited words have {there}"


@pytest.mark.parametrize(
    ("sentence", "kind", "named"),
    [
        ("The mill burned on 4 May 1871.", Failure.FACTUAL, "4 May"),
        ("The mill burned on 3 June 1871.", Failure.FACTUAL, "3 June"),
        ("The mill burned on 3 May 1872.", Failure.FACTUAL, "1872"),
        ("The mill of Otto Rook burned.", Failure.EXTRINSIC, "Otto"),
        ("The mill did not burn.", Failure.FACTUAL, "not"),
    ],
)
def test_a_date_name_or_denial_that_is_not_there_is_named(sentence, kind, named):
    found = check(sentence, ["On May 3rd, 1871, the mill of Ada Rook burned.", "Nobody was hurt by it."])
    assert found.verdict == Verdict.UNSUPPORTED
    assert (kind, named) in words(found)


@pytest.mark.parametrize(
    "sentence", ["Wow, these pills totally crushed it!", "I like the drug.", "Was it mild?"]
)
def test_what_is_no_report_is_unsupported(sentence):
    found = check(sentence)
    assert found.verdict == Verdict.UNSUPPORTED
    assert Failure.STYLE in [finding.failure for finding in found.findings]


@pytest.mark.parametrize("number", range(3))
def test_a_sentence_of_the_source_is_supported_by_itself(number):
    found = check(SOURCE[number])
    assert found.verdict == Verdict.SUPPORTED
    assert found.aligned == (number,)
    assert found.score == 1


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It sold 2,000 pumps.", "It sold 2000 pumps."),
        ("Pressure fell by 12%.", "Pressure fell by 12 percent."),
        ("pressure  fell BY twelve per cent", "Pressure fell by 12 percent."),
        ("It was founded on 7 June 1911.", "It was founded on June 7th, 1911."),
        ("It burned in the 1870s.", "It burned in 1871."),
        ("About 2.5 million came.", "About 2,500,000 came."),
        ("The pump did not stop.", "The pump never stopped."),
    ],
)
def test_the_same_facts_in_another_form_are_no_mismatch(sentence, evidence):
    assert check(sentence, [evidence]).verdict == Verdict.SUPPORTED


def test_a_sentence_may_rest_on_two():
    found = check("The trial of 100 participants had mild side effects.")
    assert found.verdict == Verdict.SUPPORTED
    assert set(found.aligned) == {0, 2}


def test_half_of_it_is_partly_supported():
    found = check("The drug lowered weight and appetite.")
    assert found.verdict == Verdict.PARTLY
    assert words(found) == [(Failure.EXTRINSIC, "weight appetite.")]


def test_without_evidence_nothing_is_supported():
    assert check("The drug works.", []).verdict == Verdict.UNSUPPORTED
    assert check("It is what it is.", SOURCE).verdict == Verdict.UNSUPPORTED
    assert check("", SOURCE).verdict == Verdict.UNSUPPORTED


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_has_a_verdict_and_cites_what_was_given(sentence, evidence):
    found = check(sentence, evidence)
    assert 0 <= found.score <= 1
    assert set(found.aligned) <= set(range(len(evidence)))
    if found.verdict == Verdict.SUPPORTED:
        assert found.aligned
        assert not found.findings


@given(st.lists(st.sampled_from(SOURCE), min_size=1, max_size=3))
def test_support_does_not_fall_with_more_evidence_behind(more):
    sentence = "The drug lowered blood pressure."
    assert check(sentence, [*SOURCE, *more]).verdict == check(sentence).verdict == Verdict.SUPPORTED
