"""Questions for the documents that mention something: many forms of them, and what looks like them."""

import pytest

from spanwise.corpora.datasets.folder_questions import everyday_wordings
from spanwise.pipelines.understanding.list_questions import (
    around,
    best_run,
    fit,
    mentioned_words,
    runs,
    words_of,
)

CAUGHT = pytest.mark.xfail(reason="the models take it for a question for documents", strict=True)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which documents mention the Eskery Psalter?", "Eskery Psalter"),
        ("In which RFCs does OCaml come up?", "OCaml"),
        ("Give me a list of all recipes in which saffron is mentioned.", "saffron"),
        ("find all proposals mentioning supply chains", "supply chains"),
        ("How many recipes have the word cinnamon in them?", "cinnamon"),
        ("Where is MetaMask mentioned?", "MetaMask"),
        ("tickets mentioning error 0x80070057", "error 0x80070057"),
        ("I'm looking for a complete list of the policies where rain is mentioned.", "rain"),
        ("In how many diary entries do I talk about insomnia?", "insomnia"),
        ("Is Fortran ever mentioned, and in which files?", "Fortran"),
        ('which files mention "flood wall"?', "flood wall"),
        ("What papers talk about rye", "rye"),
        ("Which of these notes refer to Ada Rook?", "Ada Rook"),
        ("what pages contain “terms and conditions”?", "terms and conditions"),
        ("Which letters name the harbour master?", "harbour master"),
        ("Which emails discuss the audit?", "audit"),
        ("Which documents are about beekeeping?", "beekeeping"),
        ("which documents contain the word lantern", "lantern"),
        ("Which documents is the mill mentioned in?", "mill"),
        ("How many documents mention the mill?", "mill"),
        ("How many of the files mention GDPR?", "GDPR"),
        ("how many papers refer to BM25", "BM25"),
        ("How many notes are there that mention rye?", "rye"),
        ("How many e-mails mention “or else”?", "or else"),
        ("How many letters talk about the flood of 1911?", "flood of 1911"),
        ("In how many documents does Ada Rook appear?", "Ada Rook"),
        ("How many documents contain «data protection»?", "data protection"),
        ("How many other pages mention the Health Board at all?", "Health Board"),
        ("Can you find me all the papers citing BM25?", "BM25"),
        ("do any of the letters mention gas", "gas"),
        ("in what documents can I find the phrase fire door", "fire door"),
        ("which of my notes bring up insomnia?", "insomnia"),
        ("all docs that refer to supply chains", "supply chains"),
        ('documents with "rye" in them', "rye"),
        ("how many  documents\nmention the phrase fire door .", "fire door"),
    ],
)
def test_a_question_for_the_documents_that_mention_words_names_them(question, words):
    assert mentioned_words(question) == words


@pytest.mark.parametrize(
    "question",
    [
        "How many employees are there?",
        "Which documents do I need for a visa?",
        "How many pages does the handbook have?",
        "Which documents do not mention the mill?",
        "How many documents are about to expire?",
        "What file names contain spaces?",
        "Which documents mention how to renew a permit?",
        "Which documents mention rye or barley?",
        "Which documents mention it?",
        "How many letters does the word mention contain?",
        "Which documents contain no date?",
        'Which documents mention "rye" and "barley"?',
        pytest.param("Which files are about 2 MB?", marks=CAUGHT),
        pytest.param("Which page contains the opening hours?", marks=CAUGHT),
        "Who mentions the mill?",
        "Who wrote the letters that mention the flood?",
        "Which documents don't mention the mill?",
        "documents without any mention of the mill",
        "which notes don't mention the mill",
        "all letters that never mention Ada Rook",
        "How many times is the mill mentioned?",
        "how do I list documents with the API",
        "how many documents can I upload",
        "what did the note about rye say",
    ],
)
def test_another_question_names_no_words(question):
    assert mentioned_words(question) == ""


def test_of_a_thousand_other_questions_at_most_one_names_words():
    wordings = [text for texts in everyday_wordings().values() for text in texts]
    assert len(wordings) > 10_000
    assert sum(mentioned_words(text) != "" for text in wordings) <= len(wordings) / 1_000


def test_models_are_fitted_to_the_form_of_questions():
    lists = [
        {"question": f"Which {noun} mention {topic}?", "phrase": topic}
        for noun in ("letters", "papers", "notes")
        for topic in ("rye", "the mill", "gas", "iron ore", "Ada Rook")
    ]
    others = [
        f"Which {noun} mention no {topic}?" for noun in ("letters", "papers") for topic in ("date", "sum")
    ]
    models = fit(lists, [*others, "Who mentions rye?", "When did the mill burn?"])
    logits = [
        models.asks.logit(runs(words_of(question, models.known)))
        for question in (
            "Which papers mention salt?",
            "Which papers mention no salt?",
            "When did it mention salt?",
        )
    ]
    assert logits[0] > 0 > max(logits[1:])
    words = words_of("Which notes mention salt?", models.known)
    scores = [models.mentioned.logit(around(words, place)) for place in range(len(words))]
    assert best_run(scores) == (3, 4)


@pytest.mark.parametrize("question", ["", " ", "?", '"', '""', "“”", "mention " * 20_000, "a" * 100_000])
def test_any_text_is_judged(question):
    assert mentioned_words(question) in question
