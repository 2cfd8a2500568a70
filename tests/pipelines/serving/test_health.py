"""What a server says of itself when something keeps its index current, or nothing does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from spanwise.pipelines.serving.app import create_app
from spanwise.pipelines.serving.index_watch import RUNNING, IndexWatch, WatchState
from spanwise.pipelines.serving.settings import Settings

FULL = WatchState("failing", "the disk is full")
DEAD = WatchState("ended", "killed by signal 11")


@pytest.fixture
def watched(library) -> Callable[[WatchState], TestClient]:
    """A client of a server whose watch is in that state."""

    def client(state: WatchState) -> TestClient:
        watch = IndexWatch([], {}, print)
        watch.state = state
        return TestClient(create_app(library, Settings(), watch), base_url="http://127.0.0.1:8765")

    return client


def test_without_a_watch_nothing_is_said_of_one(client):
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/api/status").json()["watching"] is None
    assert "spanwise_watching" not in client.get("/metrics").text


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (RUNNING, "running"),
        (FULL, "failing: the disk is full"),
        (DEAD, "ended: killed by signal 11"),
    ],
)
def test_the_status_says_how_the_watch_goes_and_why(watched, state, told):
    with watched(state) as client:
        assert client.get("/api/status").json()["watching"] == told
        assert client.get("/health").json() == {"status": "ok", "watching": told.partition(":")[0]}


@pytest.mark.parametrize(("state", "figure"), [(RUNNING, 1), (FULL, 0), (DEAD, 0)])
def test_the_figures_have_whether_the_index_is_kept_current(watched, state, figure):
    with watched(state) as client:
        assert f"spanwise_watching {figure}.0\n" in client.get("/metrics").text
