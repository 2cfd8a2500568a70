"""Open-domain evaluation end to end on a few paragraphs, with a scripted reader."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spanwise.errors import DataMalformed, IndexNotFound, ModelMismatch
from spanwise.pipelines.evaluation import open_domain
from spanwise.pipelines.evaluation.open_corpus import OpenCorpus
from spanwise.pipelines.evaluation.open_run import read_together, run_open
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.paragraph_index import document_id_of
from spanwise.reader import load
from spanwise.reader.evidence import FEATURES, Calibration
from spanwise.types import ScoredSpan, Span

MILL = "The mill was built in 1811 by Ada Rook."
TRAM = "The tram was opened in 1903 by Ute Falk."
WEIR = "The weir was raised in 1920 by Otto Brandt."
COPY = "Ada Rook is named on a stone of the mill that she built."
ASKED = [
    (MILL, "q0", "Who built the mill?", "Ada Rook"),
    (TRAM, "q1", "Who opened the tram?", "Ute Falk"),
    (WEIR, "q2", "Who raised the weir?", "Otto Brandt"),
    (MILL, "q3", "When was the mill built?", "1811"),
]
ABSENT = [(WEIR, "n0", "Who sold the weir?", ""), (TRAM, "n1", "Who bought the tram?", "")]
NAMES = {MILL: "Ada Rook", TRAM: "Ute Falk", WEIR: "Otto Brandt", COPY: "Ada Rook"}


def squad_file(path: Path, asked=ASKED, more: tuple[str, ...] = ()) -> Path:
    """A file with one paragraph a question, so that paragraphs repeat, and some without questions."""
    version_2 = any(not answer for *_, answer in asked)
    paragraphs = [{"context": context, "qas": []} for context in more]
    for context, name, question, answer in asked:
        golds = [{"text": answer, "answer_start": context.index(answer)}] if answer else []
        qa = {"id": name, "question": question, "answers": golds}
        paragraphs.append(
            {"context": context, "qas": [qa | ({"is_impossible": not golds} if version_2 else {})]}
        )
    path.write_text(json.dumps({"version": "x", "data": [{"title": "Town", "paragraphs": paragraphs}]}))
    return path


class Scripted:
    """A reader that proposes the name in each passage, unsure of it when something was sold."""

    digest = "scripted"

    def read(self, questions, passages, n_best=5):
        return [[[self._span(q, p)] for p in group] for q, group in zip(questions, passages, strict=True)]

    def _span(self, question, passage):
        words = NAMES[passage.text]
        at = passage.text.index(words)
        shares = sum(word in passage.text for word in question.rstrip("?").split()[1:])
        score = -9.0 if "sold" in question else float(shares)
        return ScoredSpan(Span(passage.document_id, at, at + len(words), words), passage, score, 0.0)


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    calibration = Calibration(
        {n: float(n == "margin") for n in FEATURES}, 1.0, 0.0, 0.5, "scripted", "nothing"
    )
    monkeypatch.setattr(load, "load_reader", lambda name, **_: Scripted())
    monkeypatch.setattr(load, "load_calibration", lambda *of: calibration)


@pytest.fixture
def measure(tmp_path, encoder_folder):
    """Runs the evaluation of a file into tmp_path/out; retrievers by words unless others are named."""

    def call(data: Path, retrievers=("tfidf", "bm25"), out: str = "out", **more):
        return run_open([data], tmp_path / out, list(retrievers), model=encoder_folder, **more)

    return call


def records(folder: Path) -> list:
    """All records, without their times."""
    return [replace(record, timings_ms={}) for record in ResultFolder.open(folder).records()]


def test_every_retriever_has_its_figures(tmp_path, measure):
    figures = measure(squad_file(tmp_path / "a.json"), ("bm25", "dense", "hybrid"))
    assert list(figures) == ["bm25", "dense", "hybrid"]
    assert figures["bm25"]["recall@1"] == figures["bm25"]["rr"] == 1.0
    assert figures["bm25"]["exact"] == 75.0  # the reader knows names only
    assert set(figures["hybrid"]["ms"]) == {"retrieve", "read", "weigh"}
    assert ResultFolder.open(tmp_path / "out").metrics["systems"] == figures


def test_token_vectors_are_made_where_a_stage_needs_them(tmp_path, measure, words):
    figures = measure(squad_file(tmp_path / "a.json"), ("bm25", "bm25+colbert"))
    assert figures["bm25+colbert"]["recall@1"] == 1.0
    settings = ResultFolder.open(tmp_path / "out").settings
    assert settings["colbert"] == "builtin"


def test_identical_paragraphs_are_one_document(tmp_path, measure):
    measure(squad_file(tmp_path / "a.json"))
    first = records(tmp_path / "out")[0]
    assert first.documents == (document_id_of(MILL),)
    assert ResultFolder.open(tmp_path / "out").settings["documents"] == 3


def test_an_answer_in_another_paragraph_counts_under_its_own_name(tmp_path, measure):
    asked = [(MILL, "q0", "Whose stone is named?", "Ada Rook")]
    corpus = squad_file(tmp_path / "more.json", [], (COPY, TRAM, WEIR))
    figures = measure(squad_file(tmp_path / "a.json", asked), ("bm25",), corpus=[corpus])["bm25"]
    assert (figures["recall@1"], figures["answer_recall@1"]) == (0.0, 1.0)
    assert (figures["exact"], figures["retrieved"]) == (100.0, 0.0)
    assert "exact_retrieved" not in figures


def test_the_corpus_is_searched_and_not_asked(tmp_path, measure):
    corpus = squad_file(tmp_path / "more.json", [(COPY, "other", "Who is named?", "Ada Rook")])
    measure(squad_file(tmp_path / "a.json"), ("bm25",), corpus=[corpus])
    assert ResultFolder.open(tmp_path / "out").settings["documents"] == 4
    assert {record.id for record in records(tmp_path / "out")} == {"q0", "q1", "q2", "q3"}


def test_evidence_shows_the_answer_in_its_passage(tmp_path, measure):
    measure(squad_file(tmp_path / "a.json"), ("bm25",))
    [first, *_] = records(tmp_path / "out")
    [with_span] = [one for one in first.evidence if one.span]
    assert with_span.text[slice(*with_span.span)] == first.prediction == "Ada Rook"


def test_unanswerable_questions_are_read_and_not_ranked(tmp_path, measure):
    figures = measure(squad_file(tmp_path / "a.json", ASKED + ABSENT), ("bm25",))["bm25"]
    assert (figures["questions"], figures["read"], figures["unanswerable"]) == (4, 6, 2)
    assert figures["false_answers"] == 0.5  # the one that was bought
    sold = next(record for record in records(tmp_path / "out") if record.id == "n0")
    assert (sold.prediction, sold.scores["declined"], sold.documents) == ("", 1.0, ())


def test_only_some_are_read_and_the_unanswerable_among_the_rest_left_out(tmp_path, measure):
    figures = measure(squad_file(tmp_path / "a.json", ASKED + ABSENT), ("bm25",), read_limit=0)["bm25"]
    assert (figures["questions"], figures["read"]) == (4, 0)
    assert all(record.prediction is None for record in records(tmp_path / "out"))


@pytest.mark.parametrize("at_once", [1, 3])
def test_records_do_not_depend_on_how_many_are_kept_at_once(tmp_path, measure, monkeypatch, at_once):
    data = squad_file(tmp_path / "a.json", ASKED + ABSENT)
    measure(data, ("bm25", "hybrid"))
    monkeypatch.setattr(open_domain, "RECORDS_AT_ONCE", at_once)
    measure(data, ("bm25", "hybrid"), out="other")
    assert records(tmp_path / "other") == records(tmp_path / "out")


def test_stopped_it_goes_on_to_the_same_end(tmp_path, measure, monkeypatch):
    data = squad_file(tmp_path / "a.json", ASKED + ABSENT)
    whole = measure(data, out="whole")
    monkeypatch.setattr(open_domain, "RECORDS_AT_ONCE", 1)
    with pytest.raises(KeyboardInterrupt):
        measure(data, report=stop_after(3))
    assert len(records(tmp_path / "out")) == 3
    assert without_times(measure(data)) == without_times(whole)
    assert records(tmp_path / "out") == records(tmp_path / "whole")
    assert run_of(tmp_path / "out") == run_of(tmp_path / "whole")


def stop_after(done: int):
    def report(stage: str, n_done: int, total: int) -> None:
        if (stage, n_done) == ("tfidf", done):
            raise KeyboardInterrupt

    return report


def without_times(figures):
    return {name: {k: v for k, v in one.items() if not k.startswith("ms")} for name, one in figures.items()}


def run_of(folder: Path) -> str:
    return (folder / "runs" / "bm25.trec").read_text()


def test_more_retrievers_may_be_added_and_nothing_is_done_twice(tmp_path, measure, monkeypatch):
    data = squad_file(tmp_path / "a.json")
    first = measure(data, ("bm25", "dense"))
    with monkeypatch.context() as patch:
        patch.setattr("spanwise.models.encoder.TextEncoder.encode", None)
        assert measure(data, ("bm25", "dense")) == first
    assert list(measure(data, ("tfidf",))) == ["tfidf"]
    assert set(ResultFolder.open(tmp_path / "out").metrics["systems"]) == {"tfidf", "bm25", "dense"}


def test_another_corpus_does_not_go_on_with_the_folder(tmp_path, measure):
    data = squad_file(tmp_path / "a.json")
    measure(data, ("bm25",))
    with pytest.raises(ValueError, match="lacks 1 of the 4 paragraphs"):
        measure(data, ("bm25",), corpus=[squad_file(tmp_path / "more.json", [], (COPY,))])
    with pytest.raises(ValueError, match="k = 20, not 5"):
        measure(data, ("bm25",), k=5)


def test_an_index_may_hold_more_than_is_asked_about(tmp_path, measure):
    index = tmp_path / "index"
    measure(squad_file(tmp_path / "more.json", ASKED, (COPY,)), ("bm25",), index=index)
    measure(squad_file(tmp_path / "a.json"), ("bm25",), out="second", index=index)
    assert ResultFolder.open(tmp_path / "second").settings["documents"] == 4


def test_an_index_that_was_stopped_before_its_first_paragraph_is_filled(tmp_path, encoder_folder):
    OpenCorpus.plan(tmp_path / "index", [], encoder_folder).open().close()
    with OpenCorpus.plan(tmp_path / "index", [MILL, TRAM]).open() as library:
        assert library.store.snapshot().n_documents == 2


def test_what_is_no_index_of_these_paragraphs_is_refused_by_name(tmp_path, encoder_folder):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("Dear")
    with pytest.raises(IndexNotFound, match="letters"):
        OpenCorpus.plan(tmp_path / "letters", [MILL])
    OpenCorpus.plan(tmp_path / "index", [MILL], encoder_folder).open().close()
    with pytest.raises(ModelMismatch):
        OpenCorpus.plan(tmp_path / "index", [MILL], "other")


@pytest.mark.parametrize(
    ("asked", "message"), [(ASKED, "'q0' is in another"), ([(MILL, "q9", " ", "1811")], "'q9' is empty")]
)
def test_questions_that_cannot_be_told_apart_or_asked_are_refused(tmp_path, asked, message):
    with pytest.raises(DataMalformed, match=message):
        read_together([squad_file(tmp_path / "a.json"), squad_file(tmp_path / "b.json", asked)])


def test_nothing_to_ask_is_refused(tmp_path, measure):
    with pytest.raises(DataMalformed, match="no question to ask"):
        measure(squad_file(tmp_path / "a.json", ABSENT), read_limit=0)


def test_an_unknown_retriever_is_refused_before_anything_is_made(tmp_path, run):
    data = squad_file(tmp_path / "a.json")
    code, out, err = run("eval", "open", "--data", data, "--retriever", "bm26", "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert "bm26" in err
    assert not (tmp_path / "out").exists()


def test_the_verb_prints_one_json_value(tmp_path, run, encoder_folder):
    data = squad_file(tmp_path / "a.json")
    arguments = ("eval", "open", "--data", data, "--retriever", "bm25", "--model", encoder_folder)
    code, out, err = run(*arguments, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    assert set(json.loads(out)["bm25"]) >= {"recall@1", "recall@100", "exact", "f1", "ms_per_question", "ms"}
    assert (tmp_path / "out" / "runs" / "bm25.trec").is_file()


def test_the_verb_prints_a_column_for_each_retriever(tmp_path, run, encoder_folder):
    data = squad_file(tmp_path / "a.json")
    names = ("--retriever", "tfidf", "--retriever", "bm25")
    code, out, err = run("eval", "open", "--data", data, *names, "--model", encoder_folder)
    assert code == 0, err
    assert out.split()[:2] == ["tfidf", "bm25"]
    assert "answer_recall@20" in out


def test_the_type_of_a_question_is_kept(tmp_path, measure):
    data = squad_file(tmp_path / "a.json")
    value = json.loads(data.read_text())
    value["data"][0]["paragraphs"][0]["qas"][0]["type"] = "who"
    data.write_text(json.dumps(value))
    measure(data, ["bm25"])
    kept = ResultFolder.open(tmp_path / "out").records("bm25")
    assert {record.id: record.type for record in kept}["q0"] == "who"
