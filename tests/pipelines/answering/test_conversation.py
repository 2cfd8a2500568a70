"""A follow-up question gets the words that it leaves out; one that stands alone is left alone."""

import json

import pytest
from hypothesis import given, strategies as st

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.answering.conversation import Context, Conversation, ConversationRetriever, context_of
from spanwise.types import AskOptions, Hit, Passage, SearchOptions

ROOF = "How long is the roof guaranteed?"
HERON = "How fast is the Kestrel?", "What about the Heron?"


def understood(*texts: str) -> str:
    turns = [{"role": "user", "content": text} for text in texts[:-1]]
    return Context(turns, frozenset(), Analyzer(), lambda term: 1.0).understood(texts[-1])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((ROOF, "when does it end?"), "when does it end? (roof guaranteed)"),
        ((ROOF, "And the windows?"), "How long is the windows guaranteed?"),
        ((ROOF, "why?"), "why? (roof guaranteed)"),
        (HERON, "How fast is the Heron?"),
        ((*HERON, "Who built it?"), "Who built it? (Heron)"),
        (("When does it open on Mondays?", "And on Sundays?"), "When does it open on Sundays?"),
        (("How old is the south gate?", "no, I mean the north one"), "How old is the north gate?"),
        (("Who founded Acme?", "Sorry, I meant Ajax"), "Who founded Ajax?"),
        (("How much rain fell in Vik in 2021?", "And in 2022?"), "How much rain fell in Vik in 2022?"),
        (("Which had the most? (rain 2021)", "And in 2022?"), "Which had the most in 2022? (rain)"),
        (("Who plays in Hamlet?", "What about Romeo and Juliet?"), "Who plays in Romeo and Juliet?"),
        (("What was the rent in 1986?", "what is the deposit?"), "what is the deposit? (1986 rent)"),
        (("Who created Acme?", "When was that?"), "When was that? (created Acme)"),
        (("Who built the mill?", "Is it rat safe?"), "Is it rat safe? (built mill)"),
        (("Who baked the quiche?", "Which wine goes with it?"), "Which wine goes with it? (baked quiche)"),
        (("How long does salsa keep?", "And guacamole?"), "How long does guacamole keep?"),
        (("Can I grow kale here?", "and rhubarb?"), "Can I grow rhubarb here?"),
        (("Is it deep?", "How about the new well?"), "Is the new well deep?"),
        (("What does the boat cost?", "And for a dog?"), "What does the boat cost for a dog?"),
        (("Is the old one free?", "What about Annex B?"), "Is Annex B free?"),
        (("What is 1st line support for?", "and 2nd line?"), "What is 2nd line support for?"),
    ],
)
def test_a_follow_up_question_gets_what_it_leaves_out(texts, expected):
    assert understood(*texts) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who was Willy Brandt and what did he do?",
        "Which companies hire and how do they pay?",
        "Does the clerk know the rule when she applies it?",
        "Who owns the weir?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question):
    assert understood("How old is the mill that Ada Rook built?", question) == question


def test_a_change_of_the_subject_makes_earlier_words_count_less():
    turns = [ROOF, "How many days of vacation does a teacher get?", "who approves them?"]
    assert understood(*turns) == "who approves them? (days vacation teacher roof guaranteed)"
    assert understood(*turns[1:]) == "who approves them? (days vacation teacher)"


@given(st.lists(st.text(max_size=40), max_size=3), st.text(max_size=40))
def test_no_text_is_emptied_and_a_first_question_stays(texts, last):
    assert understood(last) == last
    assert understood(*texts, last).strip() or not last.strip()


def test_of_an_assistant_only_sentences_of_the_documents_count(library):
    def words(content: str) -> tuple[str, set[str]]:
        turns = [{"role": "user", "content": "who built it?"}, {"role": "assistant", "content": content}]
        with library.reading() as snapshot:
            context = context_of(turns, snapshot, library.analyzer)
        return context.understood("where is she from?"), set(context.documents)

    quoted = "where is she from? (built Ada Rook)"
    assert words("The mill was built in 1811 by Ada Rook. [1]") == (quoted, {"mill.md"})
    assert words("The mill was built by Ada Rook in 1811.") == ("where is she from? (built)", set())


def test_results_say_how_a_question_was_understood(library):
    history = [{"role": "user", "content": "who built the mill?"}, {"role": "tool", "content": "x"}]
    options = {"retriever": "bm25", "history": history}
    result = library.search("And the weir?", k=1, **options)
    assert (result.understood, result.hits[0].passage.document_id) == ("who built the weir?", "sub/weir.html")
    assert library.search("who built the mill?", **options).understood == ""
    options["history"] = [{"role": "user", "content": "Which files mention the mill?"}]
    listed = library.ask("And the tram?", **options)
    assert listed.computed.words == "tram"


def test_the_ranking_prefers_the_conversation_mildly():
    def hit(number: int) -> Hit:
        return Hit(Passage(number, f"{number}.txt", 0, 1, "x"), 0.0, 0)

    class Fixed:
        name = "fixed"

        def search(self, questions, k, among=None):
            assert questions == ["who?", "the mill who?"]
            return [[hit(1), hit(2), hit(3)], [hit(4), hit(2)]][: len(questions)]

    [hits] = ConversationRetriever(Fixed(), "the mill", {"1.txt"}).search(["who?"], 3)
    assert [(each.passage.id, each.rank) for each in hits] == [(2, 1), (1, 2), (4, 3)]
    expected = [1 / 7 + 0.95 / 7, 1 / 6 + 0.02, 0.95 / 6]
    assert [each.score for each in hits] == pytest.approx(expected)


def test_a_history_is_checked_and_cut():
    turns = [{"role": "user", "content": "x" * 5_000, "name": "Ute"}, {"role": "system", "content": "y"}]
    assert SearchOptions(history=turns).history == ({"role": "user", "content": "x" * 4_096},)
    assert len(AskOptions(history=turns[:1] * 12).history) == 10
    for wrong in ({"role": "user"}, {"role": "user", "content": None}, "who?"):
        with pytest.raises(ValueError, match="history has"):
            SearchOptions(history=[wrong])


def test_a_conversation_is_kept_and_forgotten(library):
    conversation = Conversation(library.ask)
    options = {"retriever": "bm25", "threshold": 0.0, "reader": "fast"}
    conversation.ask("who built the mill?", **options)
    assert [turn["role"] for turn in conversation.history] == ["user", "assistant"]
    again = library.conversation(conversation.to_json())
    assert again.ask("And the weir?", **options).understood == "who built the weir?"
    assert json.loads(again.to_json()) == again.history
    again.reset()
    assert again.ask("And the weir?", **options).understood == ""
