"""Lists of the documents that mention some words."""

import pytest

import spanwise
from spanwise.pipelines.answering.mentions import _near
from spanwise.pipelines.cli.show import show_answer
from spanwise.pipelines.server.app import chat_text
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
        ("mill owners or pots", {"deep/c.html": 2, "glaze.txt": 1}),
        ("bank account or Oslo bank", {"b.txt": 2}),
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("AB1234", {"parts.md": 1}),
        ("no8812 0044", {"parts.md": 1}),
        ("non-refundable", {"terms.txt": 1}),
        ("AB1235", {}),
    ],
)
def test_identifiers_and_compounds_are_found_with_other_signs_inside(tmp_path, words, expected):
    (tmp_path / "parts.md").write_text("The gasket AB-1234 fits. The account is NO88 1200 44.\n")
    (tmp_path / "terms.txt").write_text("The deposit is nonrefundable.\n")
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        assert counts(library, words) == expected


def test_copies_count_once_and_are_named(tmp_path):
    for name in ("a.txt", "b.txt", "old/a.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("The otter sleeps.\n" if name != "b.txt" else "An otter swims.\n")
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        computed = library.mentions("otter").computed
    assert computed.value == "2 documents and 1 copy"
    assert {each.document_id: each.copy_of for each in computed.documents}["old/a.txt"] == "a.txt"
