"""The process of one engine: what is left of it when it is late, silent or unknown."""

from __future__ import annotations

import dataclasses

import pytest
import stub_engines as stubs

from spanwise.pipelines.evaluation.speed.process import EngineFailed, EngineProcess
from spanwise.pipelines.evaluation.speed.registry import entrant


@pytest.fixture
def start(corpus, tmp_path):
    corpus.save(tmp_path)
    (tmp_path / "own").mkdir()
    return lambda one, limit_s=60.0: EngineProcess(one, tmp_path, tmp_path / "own", 1, limit_s)


def test_a_late_engine_is_ended(start):
    with start(entrant(stubs.Hangs)) as process:
        process.wait_until_ready()
        process.limit_s = 0.2
        with pytest.raises(EngineFailed, match=r"no answer after 0\.2 s"):
            process.ask("build", paragraphs=None)


def test_a_request_that_is_not_known_is_refused(start):
    with start(entrant(stubs.Stub)) as process:
        process.wait_until_ready()
        with pytest.raises(EngineFailed, match="not known"):
            process.ask("dance")


def test_a_class_that_is_not_there_is_named(start):
    one = dataclasses.replace(entrant(stubs.Stub), class_name="Gone")
    with start(one) as process, pytest.raises(EngineFailed, match="Gone"):
        process.wait_until_ready()
