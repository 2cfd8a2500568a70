"""Misspelled words are searched as the nearest words of the documents; other unknown words are left alone."""

import pytest
from helpers.scripted_reader import asker

from spanwise.pipelines.json_records import answer_record


@pytest.fixture
def handbook(folder, encoder_folder, indexed):
    (folder / "leave.md").write_text(
        "Twenty days of vacation, and vacations may be long. Vocation is another policy.\n"
        "Managers of the accommodation pay for the Rookery.\n"
    )
    with indexed(folder, model=encoder_folder) as opened:
        yield opened


def spelling(library, question):
    return library.search(question, retriever="bm25").spelling


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("how much vacaton do I get?", "how much vacation do I get?"),  # the ending is misspelled
        ("the vcaation polcy", "the vacation policy"),  # swapped; a stem in i
        ("Acomodation, managrs?", "accommodation, managers?"),  # two edits from 8 letters on
        ("vocaton", "vocation"),
        ("acomodatio", "acomodatio"),  # three
        ("polc days", "polc days"),
        ('"vacaton" of the VacaTon and vacaton7', '"vacaton" of the VacaTon and vacaton7'),
        ("trim or tam?", "trim or tam?"),  # an English word, and one of three letters
    ],
)
def test_a_misspelled_word_is_searched_as_its_nearest(handbook, question, searched):
    assert spelling(handbook, question).text == searched


@pytest.mark.parametrize(
    ("question", "is_unknown"),
    [("Wie viel Urlaub bekomme ich?", True), ("vacaton", False), ("zeppelin mill", False), ("who?", True)],
)
def test_a_question_of_which_no_word_occurs_is_named(handbook, question, is_unknown):
    assert spelling(handbook, question).is_unknown == is_unknown


def test_an_answer_keeps_the_question_and_names_both_words(handbook):
    [answer] = asker(handbook, ("Twenty days", 9.0, 0.0)).answer(["how much Vacaton?"])
    assert answer.text == "Twenty days"
    assert answer.question == "how much Vacaton?"
    record = answer_record(answer)
    assert record["searched_for"] == [{"text": "Vacaton", "start": 9, "end": 16, "used": "vacation"}]
    question = "How much zeppelin, des Vacaton \ufb01shers?"
    [declined] = asker(handbook, ("Twenty days", 0.0, 9.0)).answer([question])
    assert [each.of(question) for each in declined.missing_terms] == ["zeppelin", "des", "\ufb01shers"]


def test_hits_and_summaries_are_those_of_the_words_that_are_searched(handbook):
    for k in (1, 2):
        hits = handbook.search("vacaton", k=k, retriever="bm25")
        assert hits == handbook.search("vacation", k=k, retriever="bm25") != []


def test_a_word_of_a_path_is_no_unknown_word(handbook, folder):
    assert spelling(handbook, "bergen").is_unknown
    (folder / "lease_bergen.md").write_text("The rent is 9 crowns.")
    handbook.sync(vectors=False)
    assert not spelling(handbook, "bergen").missing_terms
    assert [hit.passage.document_id for hit in handbook.search("bergen")] == ["lease_bergen.md"]
