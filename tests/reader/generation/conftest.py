"""The chat server, started once, and what tests ask it."""

from __future__ import annotations

from collections.abc import Iterator

import endpoint_server
import pytest


@pytest.fixture(scope="session")
def server() -> Iterator[endpoint_server.Running]:
    with endpoint_server.running() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANWISE_API_KEY", raising=False)
