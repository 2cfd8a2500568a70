"""The programs in examples/ do what they say, in a process of their own, with the built-in models."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TEXTS = {
    "mill.md": "# The mill\n\nThe mill was founded by Ada Farrow in May 1841.\n\n# Opening hours\n\n"
    "Visitors are let in from nine until five.\n",
    "tram.txt": "The tram runs every ten minutes.\nIt was opened by Ute Falk in 1903.\n",
}
QUESTIONS = ["Who founded the mill?", "Who opened the tram?", "What colour is the moon's cheese?"]


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    for name, text in TEXTS.items():
        (made / name).write_text(text)
    (tmp_path / "questions.txt").write_text("\n".join(QUESTIONS) + "\n")
    return made


def command(name: str, *arguments: object) -> list[str]:
    return [sys.executable, str(EXAMPLES / name), *map(str, arguments)]


def run(name: str, *arguments: object, cwd: Path) -> str:
    done = subprocess.run(command(name, *arguments), cwd=cwd, env=env(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(ROOT)])}


def test_the_batch_job_cites_and_goes_on_where_it_stopped(folder, tmp_path):
    out = tmp_path / "answers.jsonl"
    run("batch.py", folder, "questions.txt", out, cwd=tmp_path)
    whole = out.read_text()
    first, second, third = map(json.loads, whole.splitlines())
    assert ("Ada Farrow" in first["answer"], "Ute Falk" in second["answer"]) == (True, True)
    place = first["citations"][0]
    assert TEXTS[place["document"]][place["start"] : place["end"]] == first["answer"]
    assert (third["answer"], third["citations"]) == (None, [])
    lines = whole.splitlines(keepends=True)
    out.write_text(lines[0] + lines[1][:20])
    run("batch.py", folder, "questions.txt", out, cwd=tmp_path)
    again = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["question"] for one in again] == QUESTIONS
    assert again[:2] == [first, second]


def test_the_plot_has_a_point_for_each_question(folder, tmp_path):
    run("confidence_plot.py", folder, "questions.txt", "plot.svg", cwd=tmp_path)
    svg = "{http://www.w3.org/2000/svg}"
    points = list(ElementTree.parse(tmp_path / "plot.svg").iter(f"{svg}circle"))
    titles = [point.findtext(f"{svg}title") for point in points]
    assert "Ada Farrow" in titles[0]
    assert titles[2] == f"{QUESTIONS[2]} (declined)"
    assert [point.get("fill") for point in points] == ["steelblue", "steelblue", "none"]
    heights = [float(point.get("cy")) for point in points]
    assert heights[2] > max(heights[:2])


def test_the_retriever_of_ones_own_takes_part_in_the_fusion(folder, tmp_path):
    out = run("custom_retriever.py", folder, "What are the opening hours of the mill?", cwd=tmp_path)
    assert "by-heading 1.000" in out.splitlines()[0]
    assert out.startswith("1. mill.md, line ")


def test_the_reader_of_ones_own_finds_the_date(folder, tmp_path):
    assert run("custom_reader.py", folder, "When was the mill founded?", cwd=tmp_path) == (
        "May 1841  (mill.md, line 3)\n"
    )
    assert run("custom_reader.py", folder, "When did it rain?", cwd=tmp_path) == "not in these documents\n"


def test_the_web_app_marks_the_answer_and_escapes_what_it_shows(folder, tmp_path):
    (folder / "odd.txt").write_text("The <b>odd</b> gate was painted by Ines Marsh & sons.\n")
    with subprocess.Popen(
        command("web_app.py", folder, 0), cwd=tmp_path, env=env(), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            address = server.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address), address
            pages = [
                urllib.request.urlopen(f"{address}{path}", timeout=60).read().decode()
                for path in ("", "?q=who+founded+the+mill", "?q=who+painted+the+odd+gate")
            ]
        finally:
            server.terminate()
    assert "<form>" in pages[0]
    assert "<mark>" not in pages[0]
    assert "Ada Farrow" in re.findall(r"<mark>(.*?)</mark>", pages[1])[0]
    assert "<b>" not in pages[2]
    assert "Ines Marsh" in pages[2]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_small_and_named_in_the_list(path):
    assert len(path.read_text().splitlines()) < 100
    assert f"`{path.name}`" in (EXAMPLES / "README.md").read_text()
