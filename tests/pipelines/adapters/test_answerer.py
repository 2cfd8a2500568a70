"""The answerer of Haystack quotes what `Library.ask` answers, with offsets that hold."""

from __future__ import annotations

import asyncio

import pytest
from haystack import ExtractedAnswer, Pipeline
from scripted_reader import Scripted

from spanwise.pipelines.adapters.haystack import SpanwiseAnswerer


@pytest.fixture
def answerer(searched, monkeypatch):
    """An answerer whose reader finds the words that a test says."""
    made = SpanwiseAnswerer(searched.store.path, retriever="bm25", top_k=2)
    monkeypatch.setattr("spanwise.reader.builtin.load_calibration", lambda *_: None)

    def reads(*script):
        monkeypatch.setattr(made._opened.get()._models, "reader", lambda name: Scripted(*script))
        made._opened.get().clear_cache()
        return made

    yield reads
    made.close()


def test_an_answer_is_the_span_of_the_library_in_passage_sentence_and_text(answerer, searched):
    [best] = answerer(("1811 by Ada Rook", 9.0, 0.0)).run("Who built the mill?")["answers"]
    assert (best.data, best.query, best.meta["source"]) == (
        "1811 by Ada Rook",
        "Who built the mill?",
        "mill.md",
    )
    text = searched.document("mill.md").text
    assert text[best.meta["start"] : best.meta["end"]] == "1811 by Ada Rook"
    assert best.document.content[best.document_offset.start : best.document_offset.end] == "1811 by Ada Rook"
    assert best.context[best.context_offset.start : best.context_offset.end] == "1811 by Ada Rook"


def test_offsets_hold_in_hostile_text_and_alternatives_follow(answerer, searched):
    made = answerer(("👩‍🔬 at the weir", 9.0, 0.0), ("1811 by Ada Rook", 8.0, 0.0))
    answers = asyncio.run(made.run_async("the mill"))["answers"]
    assert [one.data for one in answers] == ["👩‍🔬 at the weir", "1811 by Ada Rook"]
    for one in answers:
        assert searched.document(one.meta["source"]).text[one.meta["start"] : one.meta["end"]] == one.data
        assert one.document.content[one.document_offset.start : one.document_offset.end] == one.data


def test_an_absent_answer_has_no_data_or_is_none(answerer, searched):
    made = answerer(("1811 by Ada Rook", 0.0, 9.0))
    [absent] = made.run("Who sold the mill?")["answers"]
    assert (absent.data, absent.document, absent.meta["documents"]) == (None, None, 3)
    made._no_answer = False
    assert made.run("Who sold the mill?")["answers"] == []


def test_answers_survive_being_written_down(answerer):
    [best] = answerer(("1811 by Ada Rook", 9.0, 0.0)).run("Who built the mill?")["answers"]
    assert ExtractedAnswer.from_dict(best.to_dict()) == best


def test_a_pipeline_with_an_answerer_is_read_again_as_it_was(searched):
    pipeline = Pipeline()
    made = SpanwiseAnswerer(
        *(searched.store.path, 3, 7, "bm25"), threshold=0.2, where={"paths": ["*.md"]}, no_answer=False
    )
    pipeline.add_component("answers", made)
    again = Pipeline.loads(pipeline.dumps(), unsafe=True).get_component("answers")
    assert again.to_dict() == made.to_dict()
    assert (again._search, again._top_k, again._threshold) == (made._search, 3, 0.2)


@pytest.mark.parametrize("wrong", [{"top_k": 0}, {"read": 0}, {"where": {"path": "x"}}])
def test_what_could_never_work_is_refused_at_once(searched, wrong):
    with pytest.raises(ValueError, match=r"k is 0|a filter has"):
        SpanwiseAnswerer(searched.store.path, **wrong)
