"""`calibrate` from questions about folders to a reader's folder with a fitted confidence."""

import json
import math
import random
import shutil
from dataclasses import replace

import pytest
from helpers.scripted_reader import asker, by_margin

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import DataMalformed, ModelRejected
from spanwise.eval.questions import FolderQuestion, is_right_shown
from spanwise.pipelines.training import candidate_observations
from spanwise.pipelines.training.calibration import (
    Judgement,
    fit,
    held_out_figures,
    hopeless_alone,
    judge,
    keep_calibration,
    shortened,
    shown_candidates,
    sure_alone,
    unseen_folders,
)
from spanwise.pipelines.training.candidate_observations import (
    Observation,
    ObservationFile,
    ObservedCandidate,
    ObservedSection,
    Wording,
    wordings_of,
)
from spanwise.reader.evidence import FEATURES, Calibration, Features, UnseenFolders
from spanwise.reader.load import load_calibration, load_reader


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
    monkeypatch.setattr(candidate_observations, "everyday_wordings", lambda: reworded)
    command = ("calibrate", "--data", data, "--out", reader, "--retriever", "bm25", "--json")
    code, out, err = run(*command)
    assert code == 0, err
    figures = json.loads(out)
    assert 0 <= figures["held_out"]["false"] <= 1
    assert 0 <= figures["held_out"]["plain"]["right_at_10"] <= 1
    assert figures["held_out"]["everyday"]["false"] == 0
    digest = load_reader(str(reader)).digest
    assert load_calibration(str(reader), digest).threshold == figures["threshold"]
    with pytest.raises(ModelRejected, match="spanwise calibrate --out"):
        load_calibration(str(reader), "another")
    observations, _ = sorted((reader / "run" / "calibration").glob("observed-*.jsonl"))
    observations.write_bytes(observations.read_bytes() + b'{"torn')
    monkeypatch.setattr(
        candidate_observations, "observation_of", lambda *arguments: pytest.fail("read again")
    )
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
    files = [path.read_text().splitlines() for path in (reader / "run/calibration").glob("obs*.jsonl")]
    assert [len(lines) for lines in files] == [11, 11]  # the identity and a third of 30
    with pytest.raises(ValueError, match="every is 0"):
        candidate_observations.observe(data, reader, "bm25", 20, every=0)


def test_another_retriever_gets_a_calibration_of_its_own(tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    for name, threshold in (("bm25", 0.2), ("colbert", 0.3), ("dense", 0.4)):
        keep_calibration(
            Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, 0.0, threshold, "d1", ""), reader, name
        )
    names = ("bm25", "colbert", "dense", "bm25+dense")
    thresholds = [load_calibration(str(reader), "d1", name).threshold for name in names]
    assert thresholds == [0.2, 0.3, 0.4, 0.3]


def test_other_observations_and_damaged_ones_are_refused(tmp_path):
    file = ObservationFile(tmp_path / "o.jsonl", {"reader": "d1"})
    section = ObservedSection(sentence=1, right=False)
    observations = [
        Observation((candidate(1.0),), True, "mills", everyday=True, passage_right=True, section=section),
        Observation((), False, "mills"),
    ]
    assert file.read("mills") == []
    file.add(observations)
    assert file.read("mills") == observations
    with pytest.raises(DataMalformed, match="other observations"):
        ObservationFile(file.path, {"reader": "d2"}).read("mills")
    file.path.write_bytes(file.path.read_bytes() + b'{"right": [true]}\n')
    with pytest.raises(DataMalformed, match="Remove it to start anew"):
        file.read("mills")


def candidate(margin: float, right: bool = True, same: int = 0, **fields) -> ObservedCandidate:
    """A candidate of this margin, in another sentence than candidates with another `same`."""
    values = {"right_span": right, "sentence": same, "adds_words": True} | fields
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
    threshold, _ = unseen_folders([judge(made_up(600), calibration)])
    figures = held_out_figures(judge(made_up(900)[600:], calibration), threshold)
    assert figures["ece"] < 0.1
    assert figures["false"] < 0.2
    assert 0.3 < figures["right"] < figures["right_forced"] < 1


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
    [trace] = asked.trace([question.question])
    observation = candidate_observations.observation_of(
        asked, Wording(question, False), trace.hits, trace.readings, "mills"
    )
    shown = [
        is_right_shown(question, each.span, each.passage, sentence_spans) for each in trace.answer.candidates
    ]
    assert shown == [True, False]
    assert list(shown_candidates(observation, by_margin(0.99))) == shown


def judged(confidence: float, right: bool = True, **fields) -> Judgement:
    values = {"right_span": right, "answerable": True, "everyday": False, "passage_right": None}
    return Judgement(confidence, right, **{**values, "candidates": (), **fields})


def test_the_threshold_holds_for_all_folders_together_and_for_each():
    calm = [judged(0.1, right=False, answerable=False)] * 40
    eager = [judged(c, right=False, answerable=False) for c in (*[0.6] * 7, 0.5, *[0.1] * 42)]
    threshold, unseen = unseen_folders([calm, eager])
    assert 0.5 < threshold < 0.6
    assert unseen == UnseenFolders(2, 90, 7, 0.0, 0.14)
    assert unseen_folders([calm, eager[1:]])[0] < 0.5  # too few questions about this folder alone


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
    hopeless, merged = hopeless_alone(alone, pair, 0.5)
    assert hopeless == 0.2
    assert merged == [[*alone[0][:2], *pair[0][2:]]]
    pair[0][2] = judged(0.2, right=False, candidates=(False,))
    assert hopeless_alone(alone, pair, 0.5)[0] == 0.4
    pair[0][2] = judged(0.2, right=False, candidates=(True,))
    assert hopeless_alone(alone, pair, 0.5)[0] == 0.2


def test_the_figures_are_shares_of_the_questions_that_they_are_about():
    absent = {"right": False, "answerable": False}
    rows = [
        judged(0.9, right_span=False, passage_right=True),
        judged(0.3, passage_right=False),
        judged(0.2, right=False, candidates=(False, True)),
        judged(0.1, right=False, candidates=(False,)),
        *(judged(confidence, **absent) for confidence in (0.6, *9 * [0.25])),
        judged(0.05, candidates=(False,), **absent),
    ]
    figures = held_out_figures(rows, 0.5)
    expected = {
        "right": 1 / 4,
        "right_span": 0,
        "right_forced": 2 / 4,
        "right_span_forced": 1 / 4,
        "right_shown": 2 / 4,
        "right_at_10": 2 / 4,
        "passage_right": 1 / 2,
        "false": 1 / 11,
        "absent_shown": 2 / 11,
    }
    assert {name: figures[name] for name in expected} == expected
    assert held_out_figures(rows[3:], 0.5)["passage_right"] is None


def test_a_question_is_asked_in_all_its_wordings():
    question = FolderQuestion("q", "When was it built?", "factoid", ("1811",), ("mill.md",), True)
    plain, everyday = wordings_of([question], {wording_key(question.question): ["its age"]})
    assert plain.question == question
    assert not plain.everyday
    assert everyday.question.question == "its age"
    assert everyday.question.answers == ("1811",)
    assert everyday.everyday
    assert wordings_of([replace(question, everyday=True)], {})[0].everyday
