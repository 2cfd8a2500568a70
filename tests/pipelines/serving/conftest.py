"""A library read by a script, served to a client that needs no socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from scripted_reader import read_by
from starlette.testclient import TestClient

from spanwise.pipelines.library import Library
from spanwise.pipelines.serving.app import create_app
from spanwise.pipelines.serving.settings import Settings

BASE = "http://127.0.0.1:8765"
SCRIPT = (("Ada Rook", 9.0, 2.0), ("1920", 8.0, 2.0))


@pytest.fixture
def serve(library: Library, monkeypatch) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of a server with these settings; its reader finds Ada Rook and 1920."""
    read_by(library, monkeypatch, *SCRIPT)
    with ExitStack() as stack:

        def made(**settings) -> TestClient:
            app = create_app(library, Settings(**settings))
            return stack.enter_context(TestClient(app, base_url=BASE))

        yield made


@pytest.fixture
def client(serve) -> TestClient:
    """A client of a server with the settings that there are by default."""
    return serve()
