"""Judgements of TREC and BEIR are read, and errors name the wrong line."""

import gzip
from pathlib import Path

import ir_measures
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from spanwise.corpora.datasets.beir import read_qrels
from spanwise.errors import DataMalformed

TREC = "q1 0 d7 2\nq1 0 d3 0\nq2 0 d7 -1\n"
BEIR = "query-id\tcorpus-id\tscore\nq1\td7\t2\nq1\td3\t0\nq2\td7\t-1\n"
QRELS = {"q1": {"d7": 2, "d3": 0}, "q2": {"d7": -1}}


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "qrels"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content", [TREC, BEIR, gzip.compress(BEIR.encode(), mtime=0), TREC.replace(" ", "\t")]
)
def test_either_format_is_read(tmp_path: Path, content: str | bytes) -> None:
    assert read_qrels(written(tmp_path, content)) == QRELS


def test_ids_of_beir_may_hold_spaces(tmp_path: Path) -> None:
    content = "query-id\tcorpus-id\tscore\nq 1\td 7\t2\n"
    assert read_qrels(written(tmp_path, content)) == {"q 1": {"d 7": 2}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query-id\tcorpus-id\tscore\n", "qrels: no judgements"),
        ("q1\td7\t2\n", "qrels, line 1: 3 columns; expected `qid 0 docid relevance`, or BEIR's header"),
        (TREC + "q3 0 d1 1_0\n", "qrels, line 4: the relevance is '1_0'; expected an integer"),
        (TREC + "q3 0 d1 ٣\n", "qrels, line 4: the relevance is '٣'"),
        (TREC + "q3 0 d1 2147483648\n", "qrels, line 4: the relevance is '2147483648'"),
        (TREC + "q1 0 d7 2\n", "qrels, line 4: document 'd7' is judged twice for query 'q1'"),
        (BEIR + "q3\t\t1\n", "qrels, line 5: expected query-id corpus-id score, separated by tabs"),
        (b"q1 0 \xff 1\n", "qrels, line 1: not UTF-8"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataMalformed) as refused:
        read_qrels(written(tmp_path, content))
    assert message in str(refused.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text("q1 \t\nd.-0_", max_size=40).map(str.encode))
def test_any_bytes_are_judgements_or_a_named_error(tmp_path: Path, content: bytes) -> None:
    outcome: object = None
    try:
        outcome = read_qrels(written(tmp_path, content))
    except DataMalformed as error:
        outcome = str(tmp_path / "qrels") in str(error)
    assert outcome


def test_published_judgements_are_read_as_ir_measures_reads_them(data: Path) -> None:
    paths = sorted((data / "beir-topics-qrels").glob("qrels.*.gz"))
    for path in [path for path in paths if path.stat().st_size < 60_000]:
        expected: dict[str, dict[str, int]] = {}
        for judgement in ir_measures.read_trec_qrels(str(path)):
            expected.setdefault(judgement.query_id, {})[judgement.doc_id] = judgement.relevance
        assert read_qrels(path) == expected
