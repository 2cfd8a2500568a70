"""Every measure equals ir_measures, which has trec_eval's own code compute most of them.

Values are compared to 1e-12: both sides work in double precision and add the same terms, if not in the same
order. Judgements that are all negative are left out, because trec_eval reads beyond its memory there.
"""

from __future__ import annotations

import random
from pathlib import Path

import ir_measures
import pytest

from spanwise.eval.ranking.evaluate import Qrels, RankingScores, Run, evaluate
from spanwise.eval.ranking.measures import parse_measures
from spanwise.eval.ranking.qrels import read_qrels

MEASURES = parse_measures(
    "nDCG nDCG@1 nDCG@3 nDCG@10 nDCG@1000 P@1 P@5 P@10 P(rel=2)@5 R@1 R@5 R@100 R(rel=2)@5 "
    "RR RR@1 RR@5 RR@10 RR(rel=2) RR(rel=2)@5 AP AP@1 AP@5 AP@100 AP(rel=2) AP(rel=2)@5 AP(rel=3) "
    "Success@1 Success@5 Success(rel=2)@5 Bpref Bpref(rel=2) Bpref(rel=3) Judged Judged@1 Judged@5 Judged@100"
)
IDS = [*(f"d{number}" for number in range(30)), "D1", "doc", "é", "z", "\uff61", "\U0001f600", "d-1", "d.1"]
SINGLES = [
    1.0,
    1.0 + 1e-9,
    1.0 - 1e-9,
    1.0 + 2**-23,
    16_777_216.0,
    16_777_217.0,
    1e-46,
    0.0,
    -0.0,
    -1.5,
    1e39,
]


def random_case(seed: int) -> tuple[Qrels, Run]:
    """Graded, negative and unjudged documents, many ties, missing queries and queries that nobody judged."""
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


def assert_equal_to_ir_measures(found: RankingScores, qrels: Qrels, run: Run) -> None:
    expected = ir_measures.calc([ir_measures.parse_measure(m.name) for m in MEASURES], qrels, run)
    values = {(value.query_id, str(value.measure)): value.value for value in expected.per_query}
    assert {name: found.mean[name] for name in found.mean} == pytest.approx(
        {str(measure): value for measure, value in expected.aggregated.items()}, abs=1e-12, rel=0
    )
    assert len(values) == len(qrels) * len(MEASURES)
    for (query, name), value in values.items():
        assert found.per_query[query][name] == pytest.approx(value, abs=1e-12, rel=0), (query, name)


@pytest.mark.parametrize("hundred", range(10))
def test_equals_ir_measures_on_random_cases(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * (hundred + 1)):
        qrels, run = random_case(seed)
        assert_equal_to_ir_measures(evaluate(qrels, run, MEASURES), qrels, run)


@pytest.mark.parametrize(
    "name", ["scifact", "nfcorpus", "signal1m", "webis-touche2020", "cqadupstack-webmasters"]
)
def test_equals_ir_measures_on_real_judgements(name: str, data: Path) -> None:
    rng = random.Random(name)
    qrels = read_qrels(data / "beir-topics-qrels" / f"qrels.beir-v1.0.0-{name}.test.txt.gz")
    documents = sorted({document for judged in qrels.values() for document in judged})
    run = {}
    for query, judged in qrels.items():
        pool = [*judged, *rng.sample(documents, min(60, len(documents)))]
        run[query] = {document: round(rng.gauss(document in judged, 1), 1) for document in pool}
    assert_equal_to_ir_measures(evaluate(qrels, run, MEASURES), qrels, run)
