"""The script that measures the check of written sentences."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from small_squad import small_squad, written

from spanwise.pipelines.validation_split import is_validation

ROOT = Path(__file__).parents[2]
HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))


def run(*arguments):
    command = [sys.executable, ROOT / "scripts" / "measure_support.py", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)


def begin_file(path, rows):
    head = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label"
    lines = [f"m\ts\t{knowledge}\thello\t{response}\t{label}" for knowledge, response, label in rows]
    path.write_bytes(gzip.compress("\n".join([head, *lines, ""]).encode()))
    return path


def test_people_and_the_check_agree_where_overlap_is_misled(tmp_path):
    source = "The mill was built in 1811 by Ada Rook."
    data = begin_file(
        tmp_path / "part.tsv.gz",
        [
            (source, "Ada Rook built the mill.", "Fully attributable"),
            (source, "The mill was built in 1911 by Ada Rook.", "Not fully attributable"),
            (source, "The mill was not built by Ada Rook.", "Not fully attributable"),
        ],
    )
    assert run("begin", data).stdout.splitlines()[2:] == ["| part | 3 | 1 | 1.000 | 0.500 |"]


@pytest.mark.parametrize("text", ["a\tb\n1\t2\n", ""])
def test_another_file_is_named(tmp_path, text):
    path = tmp_path / "other.tsv"
    path.write_text(text)
    done = run("begin", path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_errors_are_counted_by_kind(tmp_path):
    value = small_squad("1.1")
    value["data"][0]["title"] = HELD_BACK
    done = run("errors", written(tmp_path / "data.json", value))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()[2:]]
    assert {"date", "name", "negation", "foreign"} <= {row[1] for row in rows}, done.stderr
    assert all(row[3:] == ["1.000", "1.000"] for row in rows)
