"""For every format and any text: an answer and its sentence quote their document character for character."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_files import MAKERS

from spanwise.corpora.passages import split
from spanwise.corpora.reading import Skipped, parse
from spanwise.errors import DocumentRejected
from spanwise.pipelines.candidates import passage_span, sentence_of, with_next_sentence
from spanwise.reader.answer_form import enclosing_list
from spanwise.reader.load import load_reader
from spanwise.types import Document

pytestmark = pytest.mark.promise("T14")

PIECES = [
    "\n",
    "\n\n",
    "\r\n",
    "\f",
    "- item\n",
    "Steps:\n",
    "e\u0301",
    "日本語。",
    "ﷺ",
    "A word. ",
    "\U0001f642",
]
TEXT = st.lists(
    st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=20
)
TEXTS = st.lists(TEXT.map("".join), min_size=1, max_size=25)


@pytest.fixture(scope="module")
def reader(reader_folder):
    return load_reader(reader_folder)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(texts=TEXTS)
def test_answers_quote_their_document(reader, name, texts):
    documents = {str(i): document for i, text in enumerate(texts) if (document := made(name, text))}
    passages = [passage for key, document in documents.items() for passage in passages_of(document, key)]
    [readings] = reader.read(["what word?"], [passages], n_best=3)
    for scored in (span for spans in readings for span in spans):
        sentence, passage = sentence_of(scored), scored.passage
        shown = [scored.span, sentence, with_next_sentence(sentence, passage)]
        place = scored.span.start - passage.start
        if listed := enclosing_list(passage.text, place, place + len(scored.span.text)):
            shown.append(passage_span(passage, *listed))
        text = documents[passage.document_id].text
        assert [text[span.start : span.end] for span in shown] == [span.text for span in shown]
        assert all(passage.start <= span.start < span.end <= passage.end for span in shown)


def made(name: str, text: str) -> Document | None:
    with suppress(DocumentRejected):
        document = parse(MAKERS[name](text), name)
        return None if isinstance(document, Skipped) else document
    return None


def passages_of(document: Document, key: str):
    return [replace(passage, document_id=key) for passage in split(document, words=12, overlap=4)]
