"""Lists of the documents that mention some words: which questions ask for one, and what a list holds."""

import pytest

import spanwise
from spanwise.pipelines.answering.mentions import _near
from spanwise.pipelines.cli.show import show_answer
from spanwise.pipelines.server.app import chat_text
from spanwise.pipelines.understanding.documents import mentioned_words
from spanwise.types import Filter

NOTES = {
    "a.md": "---\ntitle: Kiln\ntags: glaze\n---\n# Kiln\n\nThe Bank of Oslo paid. The bank, Oslo: "
    "a *Bank\nof OSLO*.\n",
    "b.txt": "A bank in Oslo. A bank account. Oslo has banks. The Oslo bank.\n",
    "deep/c.html": "<p>The mills' owners met. The mill owner left.</p><!-- windmill owner -->"
    "<p>To be or not to be</p>",
    "glaze.txt": "Nothing is said about the pots.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
        yield library


def counts(library, words, **options):
    listed = library.mentions(words, **options).computed.documents
    return {each.document_id: each.count for each in listed}


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which documents mention the Eskery Psalter?", "the Eskery Psalter"),
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
        ("Which letters name the harbour master?", "the harbour master"),
        ("Which emails discuss the audit?", "the audit"),
        ("Which documents are about beekeeping?", "beekeeping"),
        ("which documents contain the word lantern", "lantern"),
        ("Which documents is the mill mentioned in?", "the mill"),
        ("How many documents mention the mill?", "the mill"),
        ("How many of the files mention GDPR?", "GDPR"),
        ("how many papers refer to BM25", "BM25"),
        ("How many notes are there that mention rye?", "rye"),
        ("How many e-mails mention “or else”?", "or else"),
        ("How many letters talk about the flood of 1911?", "the flood of 1911"),
        ("In how many documents does Ada Rook appear?", "Ada Rook"),
        ("How many documents contain «data protection»?", "data protection"),
        (
            "How many other pages mention the Health Board at all?",
            "the Health Board",
        ),
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
        "Which files are about 2 MB?",
        "What file names contain spaces?",
        "Which documents mention how to renew a permit?",
        "Which documents mention rye or barley?",
        "Which documents mention it?",
        "Which page contains the opening hours?",
        "How many letters does the word mention contain?",
        "Which documents contain no date?",
        'Which documents mention "rye" and "barley"?',
        "Who mentions the mill?",
    ],
)
def test_another_question_names_no_words(question):
    assert mentioned_words(question) == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Bank of Oslo", {"a.md": 3}),
        ("bank oslo", {"a.md": 1}),
        ("bank in Oslo", {"a.md": 1, "b.txt": 1}),
        ("the banks", {"a.md": 3, "b.txt": 4}),
        ("mill owners", {"deep/c.html": 2}),
        ("windmill", {}),
        ("to be or not to be", {"deep/c.html": 1}),
        ("be to", {}),
        ("glaze", {}),
        ("…", {}),
    ],
)
def test_content_words_are_mentioned_next_to_each_other(library, words, expected):
    assert counts(library, words) == expected


def test_a_mention_has_its_words_its_sentence_and_its_line(library):
    first, *_, last = library.mentions("bank of oslo").computed.documents[0].places
    assert (first.span.text, first.context.text, first.line) == ("Bank of Oslo", "The Bank of Oslo paid.", 7)
    assert library.document("a.md").text[last.span.start : last.span.end] == last.span.text == "Bank\nof OSLO"


def test_a_filter_selects_the_documents(library):
    assert counts(library, "bank", where=Filter(paths=("*.txt",))) == {"b.txt": 4}


def test_all_places_are_counted_and_five_are_held(tmp_path):
    (tmp_path / "a.txt").write_text("A rye loaf. " * 4_000)
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        [document] = library.mentions("rye").computed.documents
    assert (document.count, len(document.places)) == (4_000, 5)


def test_words_may_lie_in_two_passages(tmp_path):
    (tmp_path / "a.txt").write_text(" ".join(f"w{number}" for number in range(2_000)))
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        ends = [passage.text.split()[-1] for passage in library.passages()][:-1]
        following = [f"{word} w{int(word[1:]) + 1}" for word in ends]
        assert [counts(library, words) for words in following] == [{"a.txt": 1}] * len(ends)


def test_a_question_for_documents_needs_no_model(library, monkeypatch):
    monkeypatch.setattr(type(library._models), "reader", None)
    answer = library.ask("How many documents mention the Bank of Oslo?")
    assert (answer.outcome, answer.computed.operation, answer.values) == (
        "computed",
        "count",
        ("1 document",),
    )
    assert answer.computed.first.span.text == "Bank of Oslo"


def test_other_questions_keep_their_place_among_lists(library):
    questions = ["Which documents mention mills?", "who met?", "Which documents mention gas?"]
    answers = library.ask_many(questions)
    assert [answer.question for answer in answers] == questions
    assert [bool(answer.computed) for answer in answers] == [True, False, True]


def test_no_document_is_an_answer_too(library):
    computed = library.ask("Which documents mention zeppelins?").computed
    assert (computed.value, computed.first, computed.documents) == ("0 documents", None, ())


@pytest.mark.parametrize(
    ("mentioning", "near"), [({"c"}, ("a", "b")), ({"a"}, ()), ({"a", "c"}, ("b",)), (set(), ("a", "b"))]
)
def test_documents_that_rank_above_a_mentioning_one_are_near(mentioning, near):
    assert _near(["a", "b", "b", "c", "d"], mentioning) == near


def test_a_list_is_shown_with_counts(library, capsys):
    show_answer(library.mentions("banks"))
    assert capsys.readouterr().out.startswith("2 documents with “banks”\n  a.md, line 7  3 places")


def test_a_chat_lists_documents_or_none(library):
    assert chat_text(library.ask("Which documents mention banks?"))[0].startswith(
        "2 documents (with “banks”: a"
    )
    assert chat_text(library.ask("Which documents mention gas?")) == ("0 documents (with “gas”)", [])
