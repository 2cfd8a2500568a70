"""`eval gate`: it fails on a significant loss, and on nothing else."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import spanwise
from spanwise.eval.significance.comparison import Method
from spanwise.eval.significance.pairing import Asked, Scored
from spanwise.pipelines.evaluation.gate import gate, loss_line
from spanwise.pipelines.evaluation.gate_run import Present, answer_questions, read_gate_questions
from spanwise.pipelines.evaluation.junit import junit_xml
from spanwise.pipelines.evaluation.scored_records import Source, from_results

RIGHT = {f"q{i:02}": {"right": 1.0} for i in range(20)}
WORSE = {qid: {"right": 0.0} if int(qid[1:]) < 8 else scores for qid, scores in RIGHT.items()}
SLIGHTLY = {**RIGHT, "q03": {"right": 0.0}}


def source(path, **measures):
    ids = {qid for scores in measures.values() for qid in scores}
    return Source(path, (Scored("it", measures, {qid: Asked(f"What is {qid}?") for qid in ids}),))


def test_a_significant_loss_fails_in_one_line(run, results):
    old, new = results("old", {"a": RIGHT}), results("new", {"a": WORSE})
    code, out, err = run("eval", "gate", "--run", new, "--baseline", old)
    assert code == 1
    assert "a against" in out
    assert err == (
        "spanwise: significant loss: right of a fell by 0.4000, from 1.0000 to 0.6000 "
        "(n = 20, p = 0.0039 corrected); worst: q00 (-1), q01 (-1), q02 (-1)\n"
    )


@pytest.mark.parametrize("now", [RIGHT, SLIGHTLY], ids=["equal", "slightly worse"])
def test_what_chance_does_passes(run, results, now):
    old, new = results("old", {"a": RIGHT}), results("new", {"a": now})
    code, out, err = run("eval", "gate", "--run", new, "--baseline", old)
    assert (code, err) == (0, "")
    assert out.endswith("passed: no significant loss at alpha 0.05\n")


def test_a_gain_passes(run, results):
    old, new = results("old", {"a": WORSE}), results("new", {"a": RIGHT})
    assert run("eval", "gate", "--run", new, "--baseline", old)[0] == 0


def test_json_is_one_value_and_names_the_loss(run, results):
    old, new = results("old", {"a": RIGHT}), results("new", {"a": WORSE})
    code, out, _ = run("eval", "gate", "--run", new, "--baseline", old, "--json", "--alpha", "0.01")
    found = json.loads(out)
    assert (code, found["passed"], found["alpha"]) == (1, False, 0.01)
    [lost] = found["losses"]
    assert (lost["system"], lost["measure"]) == ("a", "right")
    assert len(found["pairs"][0]["measures"]["right"]["losses"]) == 8


def test_systems_are_held_against_those_of_their_name(results):
    old = from_results(results("old", {"a": RIGHT, "b": RIGHT}))
    new = from_results(results("new", {"b": WORSE, "c": RIGHT}))
    [one] = gate(old, new).comparisons
    assert (one.pair.baseline.system, one.pair.system.system) == (f"{old.path}:b", "b")


def test_two_single_systems_need_not_share_a_name(results):
    old, new = from_results(results("old", {"a": RIGHT})), from_results(results("new", {"b": WORSE}))
    assert len(gate(old, new).losses) == 1


def test_systems_without_a_match_are_refused(results):
    old = from_results(results("old", {"a": RIGHT, "b": RIGHT}))
    new = from_results(results("new", {"c": WORSE}))
    with pytest.raises(ValueError, match="no system of one name"):
        gate(old, new)


def test_the_correction_makes_more_measures_stricter(tmp_path):
    old = {qid: 1.0 for qid in RIGHT}
    new = {qid: float(int(qid[1:]) >= 5) for qid in RIGHT}  # p = 1/32 for each measure
    alone = gate(source(tmp_path, f1=old), source(tmp_path, f1=new))
    names = ("f1", "exact", "recall")
    three = gate(source(tmp_path, **dict.fromkeys(names, old)), source(tmp_path, **dict.fromkeys(names, new)))
    assert (len(alone.losses), len(three.losses)) == (1, 0)


def test_equal_systems_fail_about_as_often_as_alpha_says(tmp_path):
    generator = np.random.default_rng(5)
    failed = 0
    for _ in range(300):
        sides = ({"f1": {}, "exact": {}}, {"f1": {}, "exact": {}})
        for i, level in enumerate(generator.random(40)):
            f1 = generator.permutation([level, min(1.0, max(0.0, level + generator.normal(0, 0.3)))])
            for side, value in zip(sides, f1, strict=True):
                side["f1"][str(i)], side["exact"][str(i)] = float(value), float(value > 0.8)
        old, new = (source(tmp_path, **side) for side in sides)
        failed += bool(gate(old, new, method=Method(permutations=199)).losses)
    assert failed <= 26  # 15 are expected at most; more than 26 have a chance of 0.3 %


def test_the_junit_file_has_a_case_for_each_measure(run, results, tmp_path):
    both = {qid: {**scores, "f1": 1.0} for qid, scores in WORSE.items()}
    old = results("old", {"a": {qid: {"right": 1.0, "f1": 1.0} for qid in RIGHT}})
    new = results("new", {"a": both})
    run("eval", "gate", "--run", new, "--baseline", old, "--junit", "gate.xml")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()[0]
    assert suite.attrib | {"tests": "2", "failures": "1", "errors": "0"} == suite.attrib
    cases = {case.get("name"): case for case in suite}
    assert cases["f1"].find("failure") is None
    failure = cases["right"].find("failure")
    assert failure.get("message").startswith("right of a fell by 0.4000")
    assert failure.text.splitlines()[0] == "-1 q00 What is q00?"
    assert len(failure.text.splitlines()) == 8


def test_the_junit_file_parses_whatever_the_questions_hold(results):
    odd = "\x00\x1b[31m<script>&]]>\ud800\ufffe\u202e\u0085"
    old = {f"{qid}{odd}": scores for qid, scores in RIGHT.items()}
    new = {f"{qid}{odd}": scores for qid, scores in WORSE.items()}
    sides = [
        source("place", **{f"right{odd}": {qid: one["right"] for qid, one in side.items()}})
        for side in (old, new)
    ]
    root = ElementTree.fromstring(junit_xml(gate(*sides)))
    assert "<script>&]]>" in root[0][0].find("failure").text
    assert "\x1b" not in "".join(root.itertext())


def test_questions_restrict_what_results_are_held_against(run, results, tmp_path):
    old, new = results("old", {"a": RIGHT}), results("new", {"a": WORSE})
    asked = [
        {"id": qid, "question": "?", "answers": ["a"], "documents": ["d"], "answerable": True}
        for qid in list(RIGHT)[8:]
    ]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, asked)))
    code, out, _ = run("eval", "gate", "some.jsonl", "--run", new, "--baseline", old, "--json")
    assert (code, json.loads(out)["pairs"][0]["questions"]) == (0, 12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("q.jsonl", "--folder", "a b"), "spanwise eval folder 'a b' --questions q.jsonl --out none"),
        (("collection",), "spanwise eval retrieval --data collection --out none"),
        (("--run", "new"), "there is no baseline at none"),
    ],
)
def test_a_missing_baseline_says_how_to_make_one(run, tmp_path, arguments, message):
    (tmp_path / "collection").mkdir()
    code, _, err = run("eval", "gate", *arguments, "--baseline", "none")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name QUESTIONS to ask, or --run RESULTS"),
        (("--run", "old", "--alpha", "0"), "alpha is 0.0"),
        (("--run", "old", "--out", "new"), "leave one out"),
        (("old", "--folder", "."), "leave --folder out"),
        (("--run", "old", "--system", "z"), "no system 'z'"),
    ],
)
def test_wrong_usage_is_named(run, results, arguments, message):
    results("old", {"a": RIGHT})
    code, _, err = run("eval", "gate", *arguments, "--baseline", "old")
    assert code == 2
    assert message in err


def test_a_single_question_is_never_a_significant_loss(tmp_path):
    one = gate(source(tmp_path, f1={"q": 1.0}), source(tmp_path, f1={"q": 0.0})).comparisons[0]
    assert (one.p, one.interval) == (0.5, None)
    assert "(n = 1, p = 0.5 corrected)" in loss_line(one)


def ask(qid, question, answer):
    documents = ["mill.md"] if answer else []
    record = {"id": qid, "question": question, "answers": [answer] if answer else [], "documents": documents}
    return json.dumps({**record, "answerable": bool(answer)})


def test_the_present_system_is_asked_about_a_folder(run, folder, encoder_folder, reader_folder, tmp_path):
    lines = [ask("q1", "Who built the mill?", "Ada Rook"), ask("n1", "Who sold it?", "")]
    (tmp_path / "asked.jsonl").write_text("\n".join(lines))
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        asked = read_gate_questions(tmp_path / "asked.jsonl")
        answer_questions(library, asked, tmp_path / "kept", Present("bm25", reader_folder))
    options = ("--folder", folder, "--retriever", "bm25", "--reader", reader_folder, "--out", "now", "--json")
    code, out, _ = run("eval", "gate", "asked.jsonl", *options, "--baseline", "kept")
    [pair] = json.loads(out)["pairs"]
    recall = {"answer_recall@1", "answer_recall@5", "answer_recall@20"}
    assert (code, set(pair["measures"])) == (0, {"right", "right_top3", "right_forced", "declined"} | recall)
    assert all(len(one["ties"]) == 1 for one in pair["measures"].values())
    assert (tmp_path / "now" / "report.html").exists()


def test_a_document_that_questions_misspell_is_told(run, folder, reader_folder, results, tmp_path):
    (tmp_path / "asked.jsonl").write_text(ask("q1", "Who built it?", "Ada").replace("mill.md", "mil.md"))
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    options = ("--retriever", "bm25", "--reader", reader_folder, "--index", folder)
    old = results("old", {"bm25": RIGHT})
    code, _, err = run("eval", "gate", "asked.jsonl", *options, "--baseline", old)
    assert code == 1
    assert "0 are common, 0 changed, 21 of one side only" in err
    assert "mil.md is not in the index: no answer from it can be right" in err


def test_the_present_system_ranks_a_collection_against_a_run(run, tmp_path):
    beir = tmp_path / "town"
    (beir / "qrels").mkdir(parents=True)
    texts = {"d1": "The mill was built by Ada Rook.", "d2": "The tram was opened by Ute Falk."}
    corpus = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in texts.items()]
    (beir / "corpus.jsonl").write_text("\n".join(corpus))
    (beir / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "Who built the mill?"}))
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    (tmp_path / "kept.trec").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    arguments = ("town", "--retriever", "bm25", "--baseline", "kept.trec", "--measure", "RR", "--json")
    code, out, err = run("eval", "gate", *arguments)
    rr = json.loads(out)["pairs"][0]["measures"]["RR"]
    assert (code, err) == (0, "")
    assert (rr["baseline_mean"], rr["system_mean"]) == (0.5, 1.0)
    assert rr["wins"][0]["question"] == "Who built the mill?"
