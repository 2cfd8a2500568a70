"""For any text: an answer and its sentence quote their document character for character."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import spanwise
from spanwise.corpora.passages import split
from spanwise.pipelines.answering.candidates import sentence_of, statement_of
from spanwise.reader.load import load_reader
from spanwise.types import Document

pytestmark = pytest.mark.promise("T14")

PIECES = "\n|\n\n|\r\n|\f|- item\n|Steps:\n|e\u0301|日本語。|ﷺ|A word. |\U0001f642".split("|")
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
TEXT = st.lists(st.sampled_from(PIECES) | ANY, max_size=20).map("".join)


@pytest.fixture(scope="module")
def reader(reader_folder):
    return load_reader(reader_folder)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(text=TEXT)
def test_answers_quote_their_document(reader, text):
    passages = split(Document("a", "text/plain", "", "", text), words=12, overlap=4)
    [readings] = reader.read(["what word?"], [passages], n_best=3)
    for scored in (span for spans in readings for span in spans):
        sentence = sentence_of(scored)
        passage = scored.passage
        shown = [scored.span, sentence, statement_of(scored)]
        assert [text[span.start : span.end] for span in shown] == [span.text for span in shown]
        assert all(passage.start <= span.start < span.end <= passage.end for span in shown)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "By the kitchen handbook, how long is the break?",
            {"kitchen-handbook.md": False, "porters.md": True},
        ),
        (
            "By the handbook of porters, how long is the break?",
            {"kitchen-handbook.md": True, "porters.md": False},
        ),
        ("How long is the break of the staff?", {"kitchen-handbook.md": False, "porters.md": False}),
    ],
)
def test_a_question_that_names_a_document_tells_it_from_others(tmp_path, question, expected):
    (tmp_path / "kitchen-handbook.md").write_text("# Rules\n\nThe break of the staff is 30 minutes.\n")
    (tmp_path / "porters.md").write_text("# Handbook of porters\n\nThe break of the staff is 60 minutes.\n")
    with spanwise.open(tmp_path, cache=False) as library:
        library.sync(vectors=False)
        [trace] = library.answerer(retriever="bm25", reader="fast").trace([question])
    seen = {
        each.candidate.scored.span.document_id: each.candidate.features.other_document > 0
        for each in trace.ranked
    }
    assert seen == expected
