"""The support check: worked examples, facts by value, any text."""

import pytest
from hypothesis import given, strategies as st

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.answering.summarize import checker

CHECKER = checker(Analyzer())
SOURCE = [
    "The trial enrolled 100 participants.",
    "The drug lowered blood pressure by 12 percent.",
    "Side effects were mild.",
]


def check(sentence, evidence=SOURCE):
    return CHECKER.check(sentence, evidence)


def words(support):
    return [(finding.failure, finding.words) for finding in support.findings]


@pytest.mark.parametrize(("claimed", "there"), [("1000", "100"), ("100", "1000")])
def test_another_number_is_unsupported_however_alike_the_words(claimed, there):
    support = check(f"The trial enrolled {claimed} participants.", [SOURCE[0].replace("100", there)])
    assert [finding.reason for finding in support.findings] == [f"the cited words have {there}"]


@pytest.mark.parametrize(
    ("sentence", "kind", "named"),
    [
        ("The mill burned on 4 May 1871.", "factual", "4 May"),
        ("The mill burned on 3 May 1872.", "factual", "1872"),
        ("The mill of Otto Rook burned.", "extrinsic", "Otto"),
        ("The mill did not burn.", "factual", "not"),
        ("The mill burned, see https://a.example/x?y=1.", "extrinsic", "https://a.example/x?y=1."),
        ("The mill ![burned](http://a.example).", "extrinsic", "![burned](http://a.example)"),
    ],
)
def test_a_date_name_denial_or_address_that_is_not_there_is_named(sentence, kind, named):
    support = check(sentence, ["On May 3rd, 1871, the mill of Ada Rook burned.", "Nobody was hurt by it."])
    assert (kind, named) in words(support)


@pytest.mark.parametrize("sentence", ["Wow, these pills crushed it!", "I like the drug.", "Was it mild?"])
def test_a_sentence_that_is_no_report_is_unsupported(sentence):
    support = check(sentence)
    assert "style" in [finding.failure for finding in support.findings]


@pytest.mark.parametrize("number", range(3))
def test_a_sentence_of_the_source_is_supported_by_itself(number):
    support = check(SOURCE[number])
    assert support.findings == ()
    assert support.aligned == (number,)
    assert support.score == 1


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It sold 2,000 pumps.", "It sold 2000 pumps."),
        ("pressure  fell BY twelve per cent", "Pressure fell by 12 percent."),
        ("It was founded on 7 June 1911.", "It was founded on June 7th, 1911."),
        ("The pump did not stop.", "The pump never stopped."),
    ],
)
def test_the_same_facts_in_another_form_are_supported(sentence, evidence):
    assert not check(sentence, [evidence]).findings


def test_a_sentence_may_rest_on_two_pieces():
    support = check("The trial enrolled 100 participants, and effects were mild.")
    assert support.findings == ()
    assert set(support.aligned) == {0, 2}


@pytest.mark.parametrize(
    ("sentence", "evidence"), [("The drug works.", []), ("It is what it is.", SOURCE), ("", SOURCE)]
)
def test_without_words_or_evidence_nothing_is_supported(sentence, evidence):
    assert check(sentence, evidence).findings


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_judged_and_cites_given_evidence(sentence, evidence):
    support = check(sentence, evidence)
    assert 0 <= support.score <= 1
    assert set(support.aligned) <= set(range(len(evidence)))
    assert support.aligned or support.findings
