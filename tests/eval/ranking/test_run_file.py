"""Runs in files: TREC's and MS MARCO's formats read and written, and damaged ones refused by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import ir_measures
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise.errors import DataMalformed
from spanwise.eval.ranking.order import trec_order
from spanwise.eval.ranking.run_file import read_run, write_run
from spanwise.eval.ranking.trec_run import run_lines

TREC = "q1 Q0 d7 1 2.5 bm25\nq1 Q0 d3 2 1e-3 bm25\nq2 Q0 d7 1 -4 bm25\n"
RUN = {"q1": {"d7": 2.5, "d3": 0.001}, "q2": {"d7": -4.0}}
IDS = st.text(st.characters(exclude_categories=["Z", "Cc", "Cs"], exclude_characters="%"), min_size=1)
RUNS = st.dictionaries(
    IDS, st.dictionaries(IDS, st.floats(allow_nan=False), min_size=1, max_size=5), min_size=1, max_size=4
)


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "run"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_trec_run_is_read(tmp_path: Path) -> None:
    assert read_run(written(tmp_path, TREC)) == RUN


def test_a_gzipped_run_is_known_by_its_content(tmp_path: Path) -> None:
    assert read_run(written(tmp_path, gzip.compress(TREC.encode()))) == RUN


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\n", "\n\n"), (" ", "\t"), ("q1 Q0", "\ufeffq1 Q0")])
def test_line_ends_blank_lines_tabs_and_a_byte_order_mark_mean_nothing(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    assert read_run(written(tmp_path, TREC.replace(*change, 1))) == RUN


def test_ids_are_divided_by_ascii_white_space_alone(tmp_path: Path) -> None:
    assert read_run(written(tmp_path, "q\u00a01 Q0 d\u30007 1 2 t")) == {"q\u00a01": {"d\u30007": 2.0}}


def test_the_rank_of_a_trec_run_is_not_looked_at(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "q Q0 first 9 2.0 t\nq Q0 second 1 1.0 t\n"))
    assert trec_order(run["q"]) == ["first", "second"]


def test_the_rank_of_an_ms_marco_run_is_its_score(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "q\tsecond\t2\nq\tfirst\t1\n"))
    assert run == {"q": {"second": -2.0, "first": -1.0}}
    assert trec_order(run["q"]) == ["first", "second"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "run: holds no lines"),
        (" \n\n", "run: holds no lines"),
        ("q1 d7\n", "run, line 1: 2 columns; expected the six of a TREC run"),
        (TREC + "q3 Q0 d1 1 2.5\n", "run, line 4: 5 columns"),
        (TREC + "q3\td1\t1\n", "run, line 4: 3 columns"),
        (TREC + "q3 Q0 d1 1 2.5 my tag\n", "run, line 4: 7 columns"),
        (TREC + "q3 Q0 d1 1 nan t\n", "run, line 4: the score is 'nan'; expected a number"),
        (TREC + "q3 Q0 d1 1 high t\n", "run, line 4: the score is 'high'"),
        (TREC + "q3 Q0 d1 1 1_0 t\n", "run, line 4: the score is '1_0'"),
        (TREC + "q1 Q0 d7 3 0.1 t\n", "run, line 4: document 'd7' is there twice for query 'q1'"),
        (b"q1 Q0 \xff 1 2 t\n", "run, line 1: 'utf-8' codec"),
        ("q\td\t1\nq\te\t0\n", "run, line 2: the rank is 0; expected at least 1"),
        ("q\td\tfirst\n", "run, line 1: the rank is 'first'; expected an integer"),
        ("q\td\t1\nq\td\t2\n", "run, line 2: document 'd' is there twice"),
        ("q\td\t1\nq Q0 d 1 2 t\n", "run, line 2: 6 columns"),
        (gzip.compress(TREC.encode())[:-9], "run: damaged gzip file"),
        (gzip.compress(TREC.encode())[:-8] + bytes(8), "run: cannot be read"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataMalformed) as refused:
        read_run(written(tmp_path, content))
    assert message in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match="none: cannot be read: No such file"):
        read_run(tmp_path / "none")


def test_a_trec_run_is_written_best_first(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"q": {"a": 1.0, "b": 1.0, "c": 2}}, tag="my run")
    assert (tmp_path / "run").read_text().splitlines() == [
        "q Q0 c 1 2.0 my%20run",
        "q Q0 b 2 1.0 my%20run",
        "q Q0 a 3 1.0 my%20run",
    ]


def test_an_ms_marco_run_is_written_best_first(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"q": {"a": 1.0, "c": 2.0}}, form="msmarco")
    assert (tmp_path / "run").read_text() == "q\tc\t1\nq\ta\t2\n"


def test_equal_runs_give_equal_bytes_when_gzipped(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_run(tmp_path / name, RUN)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_run(tmp_path / "a.gz") == RUN


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = written(tmp_path, TREC)
    with pytest.raises(ValueError, match="an id is empty"):
        write_run(path, {"q": {"": 1.0}})
    assert read_run(path) == RUN
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert next(run_lines("q", [("d", numpy.float32(0.5))], "t")) == "q Q0 d 1 0.5 t\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RUNS)
def test_a_written_run_is_read_back(tmp_path: Path, run: dict[str, dict[str, float]]) -> None:
    write_run(tmp_path / "run", run)
    assert read_run(tmp_path / "run") == run


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RUNS)
def test_an_ms_marco_run_keeps_the_order(tmp_path: Path, run: dict[str, dict[str, float]]) -> None:
    write_run(tmp_path / "run", run, form="msmarco")
    again = read_run(tmp_path / "run")
    assert {query: trec_order(found) for query, found in again.items()} == {
        query: trec_order(found) for query, found in run.items()
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text("q1 \t\nd.-e_", max_size=40).map(str.encode))
def test_any_bytes_are_a_run_or_a_named_error(tmp_path: Path, content: bytes) -> None:
    outcome: object = None
    try:
        outcome = read_run(written(tmp_path, content))
    except DataMalformed as error:
        outcome = str(tmp_path / "run") in str(error)
    assert outcome


def test_ir_measures_reads_what_is_written(tmp_path: Path) -> None:
    write_run(tmp_path / "run", RUN)
    found = {
        (doc.query_id, doc.doc_id): doc.score for doc in ir_measures.read_trec_run(str(tmp_path / "run"))
    }
    assert found == {(query, document): score for query in RUN for document, score in RUN[query].items()}
