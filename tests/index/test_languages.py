"""A document is stemmed by its language, a question by each language of the index."""

from pathlib import Path

import pytest
from helpers.corpora import document_of

import spanwise
from spanwise.index.analysis import Analyzer
from spanwise.index.languages import is_english, language_of, languages_of
from spanwise.index.live_postings import CorpusStatistics
from spanwise.index.schema import FileState
from spanwise.pipelines.understanding.question import Question
from spanwise.retrieval.bm25 import bm25_retriever

GERMAN = "Die Häuser am Wehr gehören der Müllerin. Sie vermietet sie nur an Leute, die lange bleiben."
RUSSIAN = "Паром отходит в восемь утра, а мельник живёт у плотины со своей семьёй."
ENGLISH = "The houses at the weir belong to the miller. She lets them to people who stay for long."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (RUSSIAN, "ru"),
        (ENGLISH, "en"),
        ("Le moulin est en bas de la rivière, et le meunier habite juste à côté.", "fr"),
        ("渡轮早上八点从下码头出发，磨坊主住在这里。", "en"),  # no stemmer
        ("def area(width, height):\n    return width * height\n", "en"),  # unsure
        ("name | rent\nOslo | 900\nBergen | 800\n", "en"),
        ("Das Haus", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_english_where_it_is_unsure_or_has_no_stemmer(text, language):
    assert language_of(text) == language


@pytest.fixture
def library(tmp_path: Path):
    """German and English notes."""
    for name, text in {"haus.txt": GERMAN, "house.txt": ENGLISH}.items():
        (tmp_path / name).write_text(text, "utf-8")
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        yield library


def names(library, question):
    return [hit.passage.document_id for hit in library.search(question, retriever="bm25").hits]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Haus", "haus.txt"),
        ("Wo steht des Müllers Haus?", "haus.txt"),
        ("house", "house.txt"),
        ("letting", "house.txt"),
    ],
)
def test_another_form_of_a_word_is_found_in_its_language(library, question, name):
    assert names(library, question)[0] == name


def test_another_form_of_a_foreign_word_is_no_misspelling(library):
    assert library.search("Haus vermieten", retriever="bm25").spelling.searched_for == ()


def test_mentions_are_listed_in_all_languages(library):
    listed = [library.mentions(words).computed.documents for words in ("Häuser am Wehr", "houses")]
    assert [[each.document_id for each in documents] for documents in listed] == [["haus.txt"], ["house.txt"]]


def test_a_question_keeps_the_stems_that_occur(library):
    with library.store.snapshot() as snapshot:
        analyzer = Analyzer(languages_of(snapshot.postings()))
        assert Question.of("Häuser, houses, Wälder", snapshot, analyzer).terms == {"haus", "hous", "wald"}


class Counted:
    """A collection with this many passages in other languages than English."""

    def __init__(self, n_docs: int, **languages: int) -> None:
        self.n_docs = n_docs
        self.df = {f"@{language}": n for language, n in languages.items()}

    def statistics(self, terms) -> CorpusStatistics:
        return CorpusStatistics(self.n_docs, 0, {term: self.df.get(term, 0) for term in terms})


@pytest.mark.parametrize(
    ("counted", "languages"),
    [
        (Counted(0), ("en",)),
        (Counted(10), ("en",)),
        (Counted(3, de=2), ("de", "en")),
        (Counted(200, de=2, fr=1), ("en", "de")),
        (Counted(9_000, ru=8_000, de=10, fr=9), ("ru", "en", "de")),
        (Counted(5, ru=5), ("ru", "en")),
    ],
)
def test_an_index_has_the_languages_of_a_hundredth_of_its_passages_or_of_ten(counted, languages):
    assert languages_of(counted) == languages


def test_an_index_of_an_older_program_is_searched_in_english(corpus_of):
    corpus = corpus_of({})
    document, passages = document_of("a", [GERMAN])
    with corpus.store.writer() as writer:
        writer.put(document, passages, [Analyzer().terms(GERMAN)], FileState(0, 0, document.sha256))
        writer.commit()
    with corpus.snapshot() as snapshot:
        analyzer = Analyzer(languages_of(snapshot.postings()))
        [hits] = bm25_retriever(snapshot, analyzer).search(["Häuser"], 5)
    assert [hit.passage.document_id for hit in hits] == ["a"]


def questions(name: str) -> list[str]:
    return Path(__file__).with_name(f"{name}_questions.txt").read_text(encoding="utf-8").splitlines()


def test_questions_in_german_french_spanish_and_polish_are_not_english() -> None:
    foreign = questions("foreign")
    assert len(foreign) == 100
    assert sum(map(is_english, foreign)) <= 5


def test_english_questions_and_keywords_are_english() -> None:
    assert [question for question in questions("english") if not is_english(question)] == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Сколько стоит билет?", False),
        ("博物館は何時に開きますか", False),
        ("متى يفتح المتحف؟", False),
        ("\u03c0", True),
        ("東京 tower opening hours", True),
        ("Who said 'Ich bin ein Berliner'?", True),
        ("", True),
    ],
)
def test_letters_of_another_script_are_not_english_unless_they_are_few(question: str, expected: bool) -> None:
    assert is_english(question) is expected
