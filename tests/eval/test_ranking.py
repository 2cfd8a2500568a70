"""Every measure equals ir_measures, which has trec_eval compute them, and examples by hand.

Judgements that are all negative are left out, because trec_eval reads beyond its memory there.
"""

import math
import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import ir_measures
import pytest

from spanwise.corpora.datasets.beir import read_qrels
from spanwise.eval.ranking import (
    MEASURES,
    Measure,
    average_precision,
    judge,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    trec_order,
)

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

ALL: dict[str, Measure] = {
    "nDCG": ndcg,
    **{f"nDCG@{k}": partial(ndcg, k=k) for k in (1, 10, 1000)},
    **{f"P@{k}": partial(precision, k=k) for k in (1, 5)},
    **{f"R@{k}": partial(recall, k=k) for k in (1, 5, 100)},
    "RR": reciprocal_rank,
    "AP": average_precision,
}
IDS = [*(f"d{number}" for number in range(30)), "D1", "é", "\uff61", "\U0001f600", "d-1", "d.1"]
SINGLES = [1.0, 1.0 + 1e-9, 1.0 + 2**-23, 16_777_216.0, 16_777_217.0, 1e-46, 0.0, -0.0, -1.5, 1e39]


def random_case(seed: int) -> tuple[Qrels, Run]:
    """Graded, negative and unjudged documents, many ties, missing queries and unjudged queries."""
    rng = random.Random(seed)
    scores = rng.choice([SINGLES, [0.5, 1.0, 2.0], [rng.random() for _ in range(50)]])
    grades = rng.choice([[0, 1], [1], [-1, 0, 1, 2, 3], [-2, 0, 0, 5]])
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in (f"q{number}" for number in range(rng.randint(1, 4))):
        judged = rng.sample(IDS, rng.randint(1, 15))
        qrels[query] = {document: rng.choice(grades) for document in judged} | {judged[0]: max(grades[0], 0)}
        if rng.random() < 0.8:
            run[query] = {document: rng.choice(scores) for document in rng.sample(IDS, rng.randint(1, 30))}
    return qrels, run | {"unjudged": {"d1": 1.0}}


def assert_equal_to_ir_measures(qrels: Qrels, run: Run, measures: Mapping[str, Measure]) -> None:
    parsed = [ir_measures.parse_measure(name) for name in measures]
    for value in ir_measures.iter_calc(parsed, qrels, run):
        judged = judge(trec_order(run.get(value.query_id, {})), qrels[value.query_id])
        expected = pytest.approx(value.value, abs=1e-12, rel=0)
        assert measures[str(value.measure)](judged) == expected, (value.query_id, value.measure)


@pytest.mark.parametrize("hundred", range(3))
def test_measures_equal_ir_measures_on_random_cases(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * (hundred + 1)):
        qrels, run = random_case(seed)
        assert_equal_to_ir_measures(qrels, run, ALL)


@pytest.mark.parametrize("name", ["scifact", "webis-touche2020"])
def test_measures_equal_ir_measures_on_real_judgements(name: str, data: Path) -> None:
    rng = random.Random(name)
    qrels = read_qrels(data / "beir-topics-qrels" / f"qrels.beir-v1.0.0-{name}.test.txt.gz")
    documents = sorted({document for judged in qrels.values() for document in judged})
    run = {}
    for query, judged in qrels.items():
        pool = [*judged, *rng.sample(documents, min(60, len(documents)))]
        run[query] = {document: round(rng.gauss(document in judged, 1), 1) for document in pool}
    assert_equal_to_ir_measures(qrels, run, MEASURES)


def test_ties_go_to_the_greater_id_in_single_precision() -> None:
    assert trec_order({"a": 1.0 + 1e-9, "c": 1, "b": 1, "d": 0.5}) == ["c", "b", "a", "d"]
    assert trec_order({"a": 1e200, "b": 1e39, "c": 1e38}) == ["b", "a", "c"]


def test_a_score_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="the score of document 'a' is nan"):
        trec_order({"a": math.nan})
