"""`calibrate` from questions about folders to a reader's folder with a fitted confidence."""

import json
import math
import random
import shutil
from collections import defaultdict
from dataclasses import replace

import pytest
from helpers.scripted_reader import asker, by_margin

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import ModelRejected
from spanwise.eval.calibration import expected_calibration_error
from spanwise.eval.questions import FolderQuestion, QuestionRecord, is_right_shown
from spanwise.pipelines.evaluation import asked_folders
from spanwise.pipelines.evaluation.asked_folders import AnsweredWording, AskedFolder, Wording, answer_figures
from spanwise.pipelines.training.calibration import (
    FoldFit,
    Judgement,
    absent_confidences,
    calibrate,
    fit,
    fits_apart,
    fitted_threshold,
    held_out_answers,
    hopeless_alone,
    judge,
    keep_calibration,
    shortened,
    shown_candidates,
    sure_alone,
)
from spanwise.pipelines.training.candidate_observations import (
    Observation,
    ObservedCandidate,
    ObservedSection,
    observe,
)
from spanwise.reader.evidence import FEATURES, Calibration, Features, UnseenFolders
from spanwise.reader.load import load_calibration, load_reader
from spanwise.reader.span_reader import SpanReader
from spanwise.retrieval.stage import Stage


def folders_with_questions(folder):
    """Two folders of thirty files with questions about twenty of them, and as many about nobody."""
    for domain in ("mills", "towns"):
        (folder / domain).mkdir(parents=True)
        questions = []
        for i in range(30):
            name = f"{domain[:3]}{i} Rook{i}"
            (folder / domain / f"{i}.txt").write_text(f"{name}\n")
            question = {"id": str(i), "question": f"Who is Rook{i}?", "answerable": i < 20}
            question["answers"] = [name] if i < 20 else []
            question["documents"] = [f"{i}.txt"] if i < 20 else []
            questions.append(question)
        (folder / f"{domain}.jsonl").write_text("\n".join(map(json.dumps, questions)))
    return folder


def test_a_calibration_is_fitted_kept_and_fitted_again_without_reading(
    run, tmp_path, reader_folder, monkeypatch
):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    data = folders_with_questions(tmp_path / "data")
    reworded = {wording_key("Who is Rook3?"): ("Rook3 who",)}
    monkeypatch.setattr(asked_folders, "everyday_wordings", lambda: reworded)
    command = ("calibrate", "--data", data, "--out", reader, "--retriever", "bm25", "--json")
    code, out, err = run(*command)
    assert code == 0, err
    figures = json.loads(out)
    assert [figures["held_out"][kind]["questions"] for kind in ("plain", "everyday")] == [60, 2]
    assert figures["held_out"]["everyday"]["false"] == 0
    digest = load_reader(str(reader)).digest
    assert load_calibration(str(reader), digest).threshold == figures["threshold"]
    with pytest.raises(ModelRejected, match="spanwise calibrate --out"):
        load_calibration(str(reader), "another")
    for kind, method in ((SpanReader, "read"), (Stage, "search")):
        monkeypatch.setattr(kind, method, lambda *arguments: pytest.fail("not recorded"))
    assert json.loads(run(*command)[1]) == figures
    (data / "towns.jsonl").unlink()
    assert "expected two or more" in run(*command)[2]


def test_every_third_question_makes_a_quick_check(run, tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    data = folders_with_questions(tmp_path / "data")
    code, out, err = run("calibrate", "--data", data, "--out", reader, "--retriever", "bm25", "--every", "3")
    assert code == 0, err
    assert out == ""
    assert "right_at_10" in err
    files = [path.read_text().splitlines() for path in (reader / "run/calibration").glob("hits*.jsonl")]
    assert [len(lines) for lines in files] == [10, 10]
    with pytest.raises(ValueError, match="every is 0"):
        calibrate(data, reader, "bm25", every=0)


def test_another_retriever_gets_a_calibration_of_its_own(tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    for name, threshold in (("bm25", 0.2), ("colbert", 0.3), ("dense", 0.4)):
        keep_calibration(
            Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, 0.0, threshold, "d1", ""), reader, name
        )
    names = ("bm25", "colbert", "dense", "bm25+dense")
    thresholds = [load_calibration(str(reader), "d1", name).threshold for name in names]
    assert thresholds == [0.2, 0.3, 0.4, 0.3]


def candidate(margin: float, right: bool = True, same: int = 0, **fields) -> ObservedCandidate:
    """A candidate of this margin, in another sentence than candidates with another `same`."""
    values = {"sentence": same, "adds_words": True} | fields
    return ObservedCandidate(Features(margin, 0, 0, 0), right, same=same, **values)


def made_up(n: int) -> list[Observation]:
    """Questions with a right and a wrong candidate; the margin of the right one is the true log odds."""
    rng = random.Random(4)
    questions = []
    for _ in range(n):
        sure = rng.gauss(0, 2)
        right = rng.random() < 1 / (1 + math.exp(-sure))
        pair = (candidate(sure, right), candidate(sure - 3, right=False, same=1))
        questions.append(Observation(pair, right or rng.random() < 0.5, "mills"))
    return questions


def test_confidence_and_threshold_hold_on_other_questions():
    calibration = fit(made_up(600), "r", "made-up questions")
    threshold = fitted_threshold(absent_confidences([judge(made_up(600), calibration)]))
    judged = judge(made_up(900)[600:], calibration)
    confidences = [each.confidence for each in judged]
    right = [float(each.right) for each in judged]
    assert expected_calibration_error(confidences, right) < 0.1
    absent = [each.confidence >= threshold for each in judged if not each.answerable]
    assert sum(absent) / len(absent) < 0.2
    assert 0.3 < sum(each.right and each.confidence >= threshold for each in judged) / sum(right) < 1


def test_each_folder_is_left_out_of_the_fit_for_it():
    first, second = made_up(200)[:100], made_up(200)[100:]
    assert fits_apart([first, second], True) == [fit(second, "", ""), fit(first, "", "")]


@pytest.mark.parametrize("answers_null", [True, False])
def test_reading_ends_early_where_the_rest_changes_nothing(answers_null):
    far = []
    for observation in made_up(200):
        first, second = observation.candidates
        last = replace(second, features=replace(second.features, log_rank=math.log(20)))
        far.append(replace(observation, candidates=(first, last)))
    rule = fit(far, "r", "", answers_null=answers_null).stopping
    assert (rule is not None) is answers_null
    if rule is not None:
        assert rule.first == 8
        assert rule.of == 20
        assert rule.changed <= 0.01
    assert [candidate.same for candidate in shortened(far[0], 4).candidates] == [0]


BY_MARGIN = Calibration({"margin": 1.0}, 1.0, 0.0, 0.5, "r", "")


@pytest.mark.parametrize(
    ("candidates", "section", "shown"),
    [
        ([candidate(1.0), candidate(0.5, False, 1), candidate(0.2, True, 2)], None, (True, False)),
        ([candidate(0.5, False), candidate(1.0, same=1)], None, (True, False)),
        ([candidate(-3.0)], None, ()),
        ([candidate(1.0, adds_words=False), candidate(0.5, False, 1)], None, (False,)),
        ([candidate(1.0), candidate(0.5, same=0, sentence=7)], None, (True,)),
        ([candidate(1.0), candidate(0.5, same=1, sentence=0)], None, (True,)),
        ([candidate(1.0), candidate(0.5, same=1)], ObservedSection(9, False), (False, True)),
        ([candidate(1.0), candidate(0.5, False, 1)], ObservedSection(0, True), (True, False)),
        ([], None, ()),
    ],
)
def test_the_candidates_of_a_declined_question_are_those_of_ask(candidates, section, shown):
    assert (
        shown_candidates(Observation(tuple(candidates), True, "mills", section=section), BY_MARGIN) == shown
    )


def test_the_candidates_shown_are_those_that_ask_shows(library):
    script = (("Ada Rook", 3.0, 1.0), ("every ten minutes", 2.0, 1.0), ("Ute Falk", 1.5, 1.0))
    asked = asker(library, *script, calibration=by_margin(0.99), dedupe=False)
    question = FolderQuestion("q", "Who built the tram?", "factoid", ("Ada Rook",), ("mill.md",), True)
    [answer] = asked.answer([question.question])
    [observation] = observe(AskedFolder("mills", [Wording(question, False)], asked), asked)
    shown = [is_right_shown(question, each.span, each.passage, sentence_spans) for each in answer.candidates]
    assert shown == [True, False]
    assert list(shown_candidates(observation, by_margin(0.99))) == shown


def judged(confidence: float, right: bool = True, answerable: bool = True, candidates=()) -> Judgement:
    return Judgement(confidence, right, answerable, candidates)


def test_the_threshold_holds_for_all_folders_together_and_for_each():
    calm = [0.1] * 40
    eager = [*[0.6] * 7, 0.5, *[0.1] * 42]
    assert 0.5 < fitted_threshold([calm, eager]) < 0.6
    assert fitted_threshold([calm, eager[1:]]) < 0.5  # too few questions about this folder alone


def test_a_small_reader_stands_where_it_loses_nothing():
    alone = [[judged(0.9), judged(0.6, right=False)], [judged(0.8), judged(0.7)]]
    pair = [[judged(0.5), judged(0.5)], [judged(0.5), judged(0.5, right=False)]]
    sure, merged = sure_alone(alone, pair)
    assert sure == 0.6  # one question is lost, another one won
    assert merged == alone
    sure, merged = sure_alone([alone[0]], [pair[0]])
    assert sure == 0.9
    assert merged == [[alone[0][0], pair[0][1]]]


def test_a_small_reader_declines_for_both_where_that_misses_nothing():
    absent = {"right": False, "answerable": False}
    alone = [[judged(0.1, **absent), judged(0.2, **absent), judged(0.3, right=False), judged(0.4, **absent)]]
    pair = [[judged(0.6, **absent), judged(0.2, **absent), judged(0.6), judged(0.2, **absent)]]
    assert hopeless_alone(alone, pair, 0.5) == 0.2
    pair[0][2] = judged(0.2, right=False, candidates=(False,))
    assert hopeless_alone(alone, pair, 0.5) == 0.4
    pair[0][2] = judged(0.2, right=False, candidates=(True,))
    assert hopeless_alone(alone, pair, 0.5) == 0.2


def answered(confidence: float, answerable: bool = True, folder: str = "mills", **scores) -> AnsweredWording:
    """A question that is declined below a confidence of 0.5; the other scores are 0."""
    every = defaultdict(float, scores)
    forced = QuestionRecord(folder, "", "", every, answerable, prediction="x", confidence=confidence)
    declined = replace(forced, scores=every | {"right": 0, "right_span": 0, "declined": 1}, prediction="")
    return AnsweredWording(False, forced if confidence >= 0.5 else declined, forced, forced)


def test_the_figures_are_shares_of_the_questions_that_they_are_about():
    rows = [
        answered(0.9, right=1, right_forced=1, right_shown=1),
        answered(0.3, right=1, right_forced=1, right_span=1, right_span_forced=1),
        answered(0.6),
        answered(0.1, right_shown=1),
        *(answered(confidence, False, nothing_shown=confidence < 0.5) for confidence in (0.7, *9 * [0.25])),
        answered(0.05, False, "towns"),
    ]
    figures = answer_figures(rows)
    expected = {
        "questions": 15,
        "right": 1 / 4,
        "wrong": 1 / 4,
        "right_span": 0,
        "right_forced": 2 / 4,
        "right_span_forced": 1 / 4,
        "right_shown": 2 / 4,
        "right_at_10": 2 / 4,
        "false": 1 / 11,
        "false_by_folder": {"mills": 1 / 10, "towns": 0},
        "absent_shown": 2 / 11,
    }
    assert {name: figures[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "right", "answered"),
    [("Which documents mention the tram?", "1 document", 1), ("How old is Bo?", "29", 0)],
)
def test_answers_from_tables_and_lists_of_documents_count(folder, indexed, text, right, answered):
    (folder / "keepers.csv").write_text("Keeper,Age\nIda,41\nBo,29\n")
    question = FolderQuestion("q", text, "factoid", (right,), ("keepers.csv",), True)
    absent = replace(question, id="n", answers=(), answerable=False)
    with indexed(folder) as library:
        asked = asker(library, ("Bo", 1.0, 3.0))
        wordings = [Wording(question, False), Wording(absent, True)]
        fold = FoldFit(AskedFolder("mills", wordings, asked), by_margin(0.99))
        threshold, unseen, figures = held_out_answers([fold])
        answer, _ = fold.answers(1e-9)
    assert threshold == pytest.approx(answer.confidence or 0.0)
    assert unseen == UnseenFolders(1, 1, answered, answered, answered)
    assert figures["right_forced"] == 1
    assert figures["plain"]["right"] == figures["everyday"]["false"] == answered
