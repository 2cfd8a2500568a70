"""The check of written sentences: the same facts in other words pass, other facts are dropped."""

import pytest
from hypothesis import given, strategies as st

from spanwise.index.analysis import STOP_WORDS, Analyzer
from spanwise.reader.written import WrittenChecker

ANALYZER = Analyzer()
SOURCE = "The mill of Ada Rook burned on May 3rd, 1871, and 40 sacks of rye were lost within 2 hours."


def content(text):
    return [ANALYZER.term(token.word) for token in ANALYZER.tokens(text) if token.word not in STOP_WORDS]


CHECKER = WrittenChecker(content, lambda name: name == "Millworks")


def check(sentence, *cited, **around):
    return CHECKER.check(sentence, cited or [SOURCE], **around)


def words(result):
    return [finding.words for finding in result.findings]


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("It burned on 4 May 1871.", "4 May 1871"),
        ("It burned on 3 May 1872.", "1872"),
        ("Forty-one sacks were lost.", "Forty-one"),
        ("The mill of Otto Rook burned.", "Otto"),
        ("It took 2 days.", "2 days"),
        ("The loss took a few days.", "days"),
        ("The mill did not burn.", "not"),
        ("See https://a.example/x?y=1 for the mill.", "https://a.example/x?y=1"),
        ("The mill ![burned](http://a.example).", "![burned](http://a.example)"),
        ("The mill `R2D2` burned.", "R2D2"),
    ],
)
def test_another_number_unit_date_name_or_negation_is_named(sentence, named):
    assert named in words(check(sentence))


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ("It sold 2,000 pumps.", "It sold 2000 pumps."),
        ("Twelve per cent of it was lost.", "12 percent of it was lost."),
        ("It was founded on 7 June 1911.", "It was founded on June 7th, 1911."),
        ("It was founded on 7 June 1911.", "founded: 1911-06-07"),
        ("It takes an hour and a half, so 90 minutes.", "It takes 1.5 hours."),
        ("You have two weeks.", "You have 14 days."),
        ("It is sent every two weeks.", "It is sent fortnightly."),
        ("It needs two gigabytes.", "It needs 2GB."),
        ("It lasts between ten and twenty minutes, at least 10 minutes.", "It lasts 10 to 20 minutes."),
        ("The pump did not stop.", "The pump never stopped."),
        ("At most five people fit in.", "It does not hold more than 5 people."),
        ("It began in the 1960s.", "It began in 1964."),
        ("It happened in May.", "It happened on 3 May."),
        ("Millworks sells it.", "It is sold."),
        ("Choose Bind to start.", "**Bind** - starts it."),
        ("The fee is 40 euros.", "fee: €40"),
    ],
)
def test_the_same_facts_in_another_form_are_shown(sentence, cited):
    assert words(check(sentence, cited)) == []


def test_a_name_may_be_that_of_the_heading_the_file_or_the_question():
    sentence = "The Redshank is 9 metres long."
    assert words(check(sentence, "It is 9 m long.")) == ["Redshank"]
    assert words(check(sentence, "It is 9 m long.", above=["Boats > Redshank"])) == []
    assert words(check(sentence, "It is 9 m long.", question="How long is the Redshank?")) == []
    number = check("E-18 means that it is full.", "It is full.", question="What is E-18?")
    assert "E-18" in words(number)


def test_other_words_are_underlined_but_not_those_of_the_passage_and_misspelled_ones():
    result = check("The dreadful fire consumed the mill.", "The mill burned.", around=["A fire began."])
    assert result.underlined == ("dreadful", "consumed")
    assert result.findings == ()
    assert check("You receive it.", "You recieve it.").underlined == ()


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_checked_and_a_sentence_supports_itself(sentence, cited):
    result = check(sentence, *cited)
    assert all(finding.words and finding.reason for finding in result.findings)
    assert not check(sentence, sentence).underlined
