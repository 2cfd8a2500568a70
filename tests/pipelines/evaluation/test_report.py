"""The report of a result folder: whole, honest and harmless, whatever the records hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from made_results import made_records, made_results

from spanwise.errors import DataMalformed
from spanwise.eval.question_record import Evidence, QuestionRecord
from spanwise.pipelines.evaluation.report import write_report
from spanwise.pipelines.evaluation.result_folder import ResultFolder

HOSTILE = "</style><script>alert(1)</script><img src=//x onerror=y> \u202e{{ 7 * 7 }} \x00\x1b[31m"


def page_of(results: ResultFolder) -> BeautifulSoup:
    return BeautifulSoup(write_report(results).read_text(encoding="utf-8"), "html.parser")


def results_of(
    path: Path, records: Sequence[QuestionRecord], systems: dict[str, dict[str, object]]
) -> ResultFolder:
    with ResultFolder.start(path, "folder", {"k": 20}) as results:
        results.add(records)
        results.finish(systems)
        return results


def titles(page: BeautifulSoup) -> list[str]:
    return [one.get_text() for one in page.select(".plot h3")]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "large"
    return write_report(made_results(path, made_records(700)))


@pytest.fixture(scope="module")
def page(large: Path) -> BeautifulSoup:
    return BeautifulSoup(large.read_text(encoding="utf-8"), "html.parser")


def test_it_needs_nothing_from_elsewhere(page: BeautifulSoup, large: Path) -> None:
    assert page.find_all(["script", "link", "img", "iframe", "object", "form"]) == []
    assert [one for one in page.find_all(True) if {"src", "href", "srcset", "action"} & set(one.attrs)] == []
    assert "url(" not in large.read_text()
    assert "@import" not in large.read_text()
    assert page.find("meta", {"http-equiv": "Content-Security-Policy"})["content"].startswith(
        "default-src 'none'"
    )


def test_it_stays_small(large: Path) -> None:
    assert large.stat().st_size < 1_500_000


def test_figures_are_those_of_the_metrics_to_the_last_digit(page: BeautifulSoup, large: Path) -> None:
    systems = ResultFolder.open(large.parent).metrics["systems"]
    rows = {
        row.th.get_text(): [one["value"] for one in row.find_all("data")]
        for row in page.select(".figures tbody tr")
    }
    assert rows == {
        "recall@1": [json.dumps(figures["recall@1"]) for figures in systems.values()],
        "exact": [json.dumps(figures["exact"]) for figures in systems.values()],
        "ms, retrieve": [json.dumps(figures["ms"]["retrieve"]) for figures in systems.values()],
    }
    assert [one.get_text() for one in page.select(".figures thead")[0].find_all("th")][1:] == list(systems)


def test_settings_are_told(page: BeautifulSoup) -> None:
    told = {row.dt.get_text(): row.dd.get_text() for row in page.select(".settings > div")}
    assert told == {"k": "20", "data": "made-up.json", "limit": "null"}


def test_every_plot_is_there_with_its_numbers(page: BeautifulSoup) -> None:
    assert titles(page) == [
        "What became of the questions",
        "Recall at k",
        "EM by question word",
        "F1 by question word",
        "EM by answer length",
        "F1 by answer length",
        "EM by kind of answer",
        "F1 by kind of answer",
        "EM by passage length",
        "F1 by passage length",
        "Risk against coverage",
        "Reliability: bm25",
        "Reliability: dense",
        "Reliability: hybrid",
        "Milliseconds per question",
    ]
    for plot in page.select(".plot"):
        assert plot.select("tbody tr")
        assert ElementTree.fromstring(str(plot.svg)).get("aria-label")


def test_numbers_under_a_plot_are_the_means_of_the_records(page: BeautifulSoup) -> None:
    records = [record for record in made_records(700) if record.system == "dense"]
    mean = sum(record.scores["recall@5"] for record in records) / len(records)
    recall = page.select(".plot")[1]
    [row] = [row for row in recall.select("tbody tr") if row.th.get_text() == "dense"]
    assert float(row.find_all("td")[1].get_text()) == pytest.approx(mean, abs=5e-5)


def test_failures_are_counted_and_the_worst_are_shown(page: BeautifulSoup) -> None:
    wrong = [
        r for r in made_records(700, ("bm25",)) if r.prediction and r.answerable and not r.scores["exact"]
    ]
    [first, *_] = page.select("section > details > summary:-soup-contains('Wrong answers')")
    assert first.get_text() == f"Wrong answers: {len(wrong)}"
    assert len(first.parent.select("article")) == 25
    assert f"{len(wrong) - 25} more are in records.jsonl" in first.parent.get_text()
    assert first.parent.select("mark.proposed")
    assert first.parent.select("blockquote mark.gold")


def test_text_from_documents_stays_text(tmp_path: Path) -> None:
    evidence = Evidence(HOSTILE, 0, 9, f"{HOSTILE} gold {HOSTILE}", 1.0, (0, len(HOSTILE)))
    record = QuestionRecord(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        {HOSTILE: 0.5, "exact": 0.0},
        True,
        HOSTILE,
        (HOSTILE, "gold"),
        (HOSTILE,),
        HOSTILE,
        0.5,
        {HOSTILE: 1.0},
        (evidence, replace(evidence, span=None)),
    )
    with ResultFolder.start(tmp_path / "out", "open", {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}) as results:
        results.add([record, replace(record, id="2", type="b", prediction="", answerable=False)])
        results.finish({HOSTILE: {HOSTILE: HOSTILE, "x": {HOSTILE: 1.5}}})
    page = page_of(results)
    text = (results.path / "report.html").read_text(encoding="utf-8")
    assert page.find_all(["script", "img"]) == []
    assert not set("\u202e\x00\x1b") & set(text)
    assert "<U+202E>{{ 7 * 7 }} ␀␛[31m" in page.h4.get_text()
    assert len(page.find_all("style")) == 1


def test_an_evaluation_without_records(tmp_path: Path) -> None:
    results = results_of(tmp_path / "out", [], {})
    page = page_of(results)
    assert titles(page) == []
    assert "no records" in page.main.get_text()


def test_one_record_is_enough(tmp_path: Path) -> None:
    [record] = made_records(1, ("bm25",))
    page = page_of(results_of(tmp_path / "out", [record], {"bm25": {"exact": 0.0}}))
    assert {"Risk against coverage", "Reliability", "Recall at k"} <= set(titles(page))


def test_what_is_not_in_the_records_is_not_drawn(tmp_path: Path) -> None:
    records = [
        QuestionRecord("a", f"q{i}", f"{word} is it?", {"exact": 1.0, "recall@5": 1.0}, prediction="x")
        for i, word in enumerate(("Who", "Where"))
    ]
    page = page_of(results_of(tmp_path / "out", records, {"a": {"exact": 100.0}}))
    assert titles(page) == ["EM and F1 by question word"]
    assert "Failures" not in page.get_text()


def test_rankings_and_texts_without_verdicts(tmp_path: Path) -> None:
    ranked = QuestionRecord(
        "bm25", "q1", "mills", {"nDCG@10": 0.25, "R@10": 0.5, "R@100": 1.0}, documents=("d1",)
    )
    written = QuestionRecord("model", "q2", "", {"rougeL": 0.0}, golds=("a mill",), prediction="")
    page = page_of(results_of(tmp_path / "out", [ranked, written], {"bm25": {}, "model": {}}))
    assert titles(page) == ["Recall at k"]
    assert page.get_text().count("Lowest scores: 1") == 2
    assert "answered" in page.select("article")[1].get_text()


def test_an_unfinished_evaluation_says_so(tmp_path: Path, run) -> None:
    made_results(tmp_path / "out", made_records(20, ("bm25",)), finished=False)
    code, out, err = run("eval", "report", "out", "--json")
    assert (code, json.loads(out)) == (0, {"report": "out/report.html", "finished": False})
    assert "not finished" in err
    text = (tmp_path / "out" / "report.html").read_text()
    assert "Unfinished" in text
    assert "questions so far" in text


def test_it_is_made_again_in_place(tmp_path: Path, run) -> None:
    results = made_results(tmp_path / "out", made_records(5, ("bm25",)))
    before = write_report(results).read_bytes()
    assert run("eval", "report", "out")[:2] == (0, "out/report.html\n")
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert not (tmp_path / "out" / "report.tmp").exists()


def test_a_folder_that_is_none_is_refused_in_a_line(tmp_path: Path, run) -> None:
    code, _, err = run("eval", "report", tmp_path)
    assert (code, err.count("\n")) == (1, 1)


def test_a_broken_record_is_named(tmp_path: Path) -> None:
    results = made_results(tmp_path / "out", made_records(2, ("bm25",)))
    with (results.path / "records.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(DataMalformed, match=r"records\.jsonl, line 3"):
        write_report(results)
