"""A corpus of three paragraphs, and comparisons of stub engines in real processes."""

from __future__ import annotations

import json

import pytest

from spanwise.pipelines.evaluation.speed.comparisons import Comparison
from spanwise.pipelines.evaluation.speed.corpus import corpus_of
from spanwise.pipelines.evaluation.speed.registry import entrant
from spanwise.pipelines.evaluation.speed.rounds import compare
from spanwise.pipelines.evaluation.speed.settings import Settings

ASKED = (
    ("The mill was built in 1811 by Ada Rook.", ("Who built the mill?",)),
    ("The tram was opened in 1903 by Ute Falk.", ("Who opened the tram?",)),
    ("The weir was raised in 1920 by Otto Brandt.", ("Who raised the weir?",)),
)


@pytest.fixture
def corpus():
    return corpus_of(ASKED, 3, seed=0)


@pytest.fixture
def build():
    return Comparison("stub-build", "build", "passages/s", "made for tests")


@pytest.fixture
def search():
    return Comparison("stub-search", "search", "ms/question", "made for tests")


@pytest.fixture
def measure(tmp_path, corpus):
    """Compares stub engines: (rows, left out, log, what each process saw)."""

    def run(comparison, *engines, **settings):
        rows, out = compare(
            comparison, [entrant(each) for each in engines], corpus, tmp_path, Settings(**settings)
        )
        log = (tmp_path / "log").read_text().splitlines() if (tmp_path / "log").exists() else []
        seen = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("*/seen.json"))]
        return rows, out, log, seen

    return run
