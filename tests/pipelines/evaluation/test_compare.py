"""`eval compare`: what may be compared, what is left out, and what is printed."""

from __future__ import annotations

import gzip
import json

import pytest

from spanwise.errors import DataMalformed
from spanwise.pipelines.evaluation.compare import chosen, compare_systems, pair_records, told
from spanwise.pipelines.evaluation.scored_files import Truth, read_sources
from spanwise.pipelines.evaluation.scored_records import from_results

OLD = {"q1": {"f1": 0.5}, "q2": {"f1": 1.0}, "q3": {"f1": 0.0}}
NEW = {"q1": {"f1": 1.0}, "q2": {"f1": 0.0}, "q3": {"f1": 0.0}}


def test_two_folders_are_compared(run, results):
    old, new = results("old", {"a": OLD}), results("new", {"b": NEW})
    code, out, err = run("eval", "compare", old, new, "--json")
    [pair] = json.loads(out)["pairs"]
    f1 = pair["measures"]["f1"]
    assert (code, err) == (0, "")
    assert (pair["baseline"], pair["system"], pair["questions"]) == ("a", "b", 3)
    assert (f1["baseline_mean"], f1["difference"]) == (0.5, pytest.approx(-1 / 6))
    [loss] = f1["losses"]
    assert loss == {"id": "q2", "question": "What is q2?", "baseline": 1.0, "system": 0.0, "difference": -1.0}
    assert [one["id"] for one in f1["wins"] + f1["ties"]] == ["q1", "q3"]


def test_people_see_figures_and_named_questions(run, results):
    folder = results("both", {"a": OLD, "b": NEW})
    code, out, _ = run("eval", "compare", folder)
    assert code == 0
    assert "b against a (baseline)" in out
    assert "-1.000  q2  What is q2?" in out
    assert "f1, 1 tie: q3" in out


def test_nothing_raw_from_a_question_reaches_the_terminal(run, results):
    old = results("old", {"a": {"\x1b[2J": {"f1": 1.0}}})
    new = results("new", {"b": {"\x1b[2J": {"f1": 0.0}}})
    _, out, err = run("eval", "compare", old, new)
    assert "\x1b" not in out + err
    assert "␛[2J" in out


def test_the_first_system_is_the_baseline_of_all_others(results):
    source = from_results(results("all", {"a": OLD, "b": NEW, "c": OLD}))
    baseline, *others = chosen([source])
    found = compare_systems([(baseline, other) for other in others])
    assert [(c.pair.baseline.system, c.pair.system.system) for c in found] == [("a", "b"), ("a", "c")]
    assert chosen([source], ["c", "a"])[0].system == "c"


def test_systems_of_one_name_are_told_apart_by_their_place(results):
    sources = [from_results(results(name, {"a": OLD})) for name in ("old", "new")]
    assert [one.system for one in chosen(sources)] == [f"{source.path}:a" for source in sources]


def test_questions_and_measures_of_one_side_are_told(results):
    before = from_results(results("old", {"a": {**OLD, "q4": {"f1": 1.0, "exact": 1.0}}}))
    after = from_results(results("new", {"b": {**NEW, "q5": {"f1": 1.0, "right": 1.0}}}))
    found = compare_systems([chosen([before, after])])
    assert told(found) == [
        "1 question asked of a only, left out: q4",
        "1 question asked of b only, left out: q5",
        "measures of a only, left out: exact",
        "measures of b only, left out: right",
    ]
    assert found[0].questions == 3


def test_a_question_with_other_golds_is_told_and_left_out(results):
    before = from_results(results("old", {"a": OLD}, golds=("Ada",)))
    after = from_results(results("new", {"b": {"q1": {"f1": 1.0}}}, golds=("Ute",)))
    with pytest.raises(DataMalformed, match="share no question"):
        compare_systems([chosen([before, after])])


def test_an_unfinished_evaluation_is_told(run, results):
    old, new = results("old", {"a": OLD}, finished=False), results("new", {"b": NEW})
    _, _, err = run("eval", "compare", old, new)
    assert "old is of an evaluation that has not come to its end" in err


def test_records_alone_will_do(results):
    folder = results("old", {"a": OLD, "b": NEW})
    [source] = read_sources([folder / "records.jsonl"], Truth())
    assert source.systems == from_results(folder).systems


def test_predictions_are_scored_by_their_data(run, tmp_path):
    paragraph = {"context": "Ada Rook built it in 1811.", "qas": []}
    for qid, answer in (("q1", "Ada Rook"), ("q2", "1811")):
        start = paragraph["context"].index(answer)
        gold = {"id": qid, "question": f"{qid}?", "answers": [{"text": answer, "answer_start": start}]}
        paragraph["qas"].append(gold)
    data = tmp_path / "set.json"
    data.write_text(json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": [paragraph]}]}))
    (tmp_path / "old.json").write_text(json.dumps({"q1": "Ada Rook", "q2": "1811"}))
    (tmp_path / "new.json.gz").write_bytes(gzip.compress(json.dumps({"q1": "Rook"}).encode()))
    code, out, err = run("eval", "compare", "old.json", "new.json.gz", "--data", data, "--json")
    measures = json.loads(out)["pairs"][0]["measures"]
    assert code == 0
    assert "new.json.gz: 1 of 2 questions have no prediction" in err
    assert (measures["exact"]["system_mean"], measures["f1"]["system_mean"]) == (0.0, pytest.approx(1 / 3))


def test_runs_are_scored_by_judgements(run, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "old.trec").write_text("q1 Q0 d1 1 2.0 x\nq2 Q0 d2 1 2.0 x\n")
    (tmp_path / "new.trec").write_text("q1 Q0 d9 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    arguments = ("old.trec", "new.trec", "--qrels", "qrels", "--measure", "RR", "--measure", "P@1", "--json")
    code, out, err = run("eval", "compare", *arguments)
    [pair] = json.loads(out)["pairs"]
    assert code == 0
    assert "new.trec: 1 of 2 judged queries are missing and score 0" in err
    assert (pair["baseline"], pair["system"]) == ("old", "new")
    assert {name: one["system_mean"] for name, one in pair["measures"].items()} == {"RR": 0.25, "P@1": 0.0}


def test_a_run_is_scored_by_the_measures_of_the_results_beside_it(tmp_path, results):
    (tmp_path / "old.trec").write_text("q1 Q0 d1 1 2.0 x\n")
    folder = results("new", {"b": {"q1": {"nDCG@5": 1.0, "latency": 1.0}}})
    run, _ = read_sources([tmp_path / "old.trec", folder], Truth(qrels={"q1": {"d1": 1}}))
    assert dict(run.systems[0].scores) == {"nDCG@5": {"q1": 1.0}}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nowhere", "old"), 2, "nowhere is not there"),
        (("old",), 2, "holds a alone"),
        (("old", "both"), 2, "several systems (a, b): pick with --system"),
        (("old", "both", "--system", "c"), 2, "no system 'c'"),
        (("old", "both", "--system", "b"), 2, "old holds a; expected b"),
        (("old", "new", "--measure", "em"), 2, "do not share 'em'; expected f1"),
        (("old", "other"), 1, "share no question with a score of the same measure"),
        (("old", "run.trec"), 2, "name them with --qrels"),
        (("old", "answers.json"), 2, "name it with --data"),
        (("old", "twice.jsonl"), 1, "two records of the question 'q'"),
        (("old", "torn.jsonl"), 1, "torn.jsonl, line 1"),
        (("old", "empty.jsonl"), 1, "no records"),
        (("old", "torn.json.gz"), 1, "cannot be read"),
        (("old", "new", "--confidence", "2"), 2, "confidence 2.0"),
    ],
)
def test_what_cannot_be_compared_is_named_in_one_line(run, results, tmp_path, arguments, code, message):
    results("old", {"a": OLD})
    results("new", {"b": NEW})
    results("both", {"a": OLD, "b": NEW})
    results("other", {"c": {"q1": {"recall": 1.0}}})
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 2.0 x\n")
    (tmp_path / "answers.json").write_text('{"q1": "Ada"}')
    (tmp_path / "twice.jsonl").write_text('{"system": "a", "id": "q", "question": "", "scores": {}}\n' * 2)
    (tmp_path / "torn.jsonl").write_bytes(b'{"system": "\xff')
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "torn.json.gz").write_bytes(gzip.compress(b'{"q1": "Ada"}')[:15])
    found, out, err = run("eval", "compare", *arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1


def test_every_question_is_named_once_in_the_record(results):
    source = from_results(results("both", {"a": OLD, "b": NEW}))
    [record] = pair_records(compare_systems([tuple(chosen([source]))]))
    one = record["measures"]["f1"]
    assert sorted(c["id"] for name in ("wins", "losses", "ties") for c in one[name]) == ["q1", "q2", "q3"]
