"""The chat server and tiny models that write, each made once."""

from __future__ import annotations

from collections.abc import Iterator

import endpoint_server
import pytest
import torch
from made_generators import FAMILIES, writer

from spanwise.reader.generation.transformers_generator import load_generator


@pytest.fixture(scope="session")
def server() -> Iterator[endpoint_server.Running]:
    with endpoint_server.running() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANWISE_API_KEY", raising=False)


@pytest.fixture(scope="session", params=FAMILIES)
def generator(request, tmp_path_factory):
    """A generator of each family."""
    return load_generator(str(writer(tmp_path_factory.mktemp(request.param), request.param)), "cpu")


@pytest.fixture(scope="session")
def chat_generator(tmp_path_factory):
    """A generator with a chat template."""
    return load_generator(str(writer(tmp_path_factory.mktemp("chat"), "Llama")), "cpu")


@pytest.fixture(autouse=True)
def _one_thread():
    """Products of a few numbers are sooner done than shared out."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
