"""Whatever a server does wrong is one clear line, and nothing of the text counts."""

from __future__ import annotations

import socket

import pytest
from endpoint_asking import PROMPT, Asking
from endpoint_server import Running

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.endpoint import endpoint_of
from spanwise.reader.generation.endpoint_settings import EndpointSettings

ONCE = EndpointSettings(retries=0)
FAULTS = {
    "cut": "lost the connection before the text was whole$",
    "no_done": "lost the connection before the text was whole$",
    "half_event": "lost the connection before the text was whole$",
    "content_filter": r"withheld the text .*\(finish_reason content_filter\)$",
    "tool_calls": r"wants to call a tool.*\(finish_reason tool_calls\)$",
    "odd_reason": "a reason of its own: abort$",
    "malformed": r'no JSON object: {"choices": \[$',
    "deep": r"no JSON object: \[{199}…$",
    "no_choices": "without choices",
    "parts": "content that is no text$",
    "refused": "refuses to answer: I would rather not$",
    "error_event": "broke off with an error: out of memory with None$",
    "missing": r"has no model 'missing:\d+'; it has llama3, qwen\[2J$",
    "unauthorized": r"wants a key \(401\): put it into the environment variable SPANWISE_API_KEY$",
    "bad_request": "answers with status 400: x+",
    "redirect": r"redirects \(307\), which is not followed",
    "long_line": "a line of more than 1048576 bytes$",
    "large_body": "more than 16777216 bytes$",
    "not_utf8": "bytes that are no UTF-8$",
    "squeezed": "compressed answer",
    "no_stream": "something else where a stream was asked for: application/json$",
}


@pytest.mark.parametrize("scene", FAULTS)
def test_a_fault_is_one_line_that_names_the_endpoint(server: Running, scene: str) -> None:
    asking = Asking(server, scene, retries=0)
    with pytest.raises(GenerationFailed, match=FAULTS[scene]) as failure:
        asking.written()
    assert str(failure.value).startswith(f"{asking.generator.name}: ")
    assert "\n" not in str(failure.value)
    assert asking.n_asked() == 1


def test_a_redirect_is_not_followed(server: Running) -> None:
    asking = Asking(server, "redirect")
    with pytest.raises(GenerationFailed):
        asking.written()
    assert [asked["path"] for asked in server.asked(asking.scene)] == ["/v1/chat/completions"]


def test_a_server_that_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    generator = endpoint_of(f"http://127.0.0.1:{port}/v1#llama3", ONCE)
    with pytest.raises(GenerationFailed, match=rf"127\.0\.0\.1:{port}/v1#llama3: cannot connect; start the"):
        next(generator.write(PROMPT, Decoding(), Limits()))


def test_a_name_that_no_host_can_have() -> None:
    generator = endpoint_of(f"http://{'a' * 70}.example/v1#llama3", ONCE)
    with pytest.raises(GenerationFailed, match="cannot connect: its name"):
        next(generator.write(PROMPT, Decoding(), Limits()))


@pytest.mark.parametrize("scene", ["mute", "silent"])
def test_a_silent_server(server: Running, scene: str) -> None:
    asking = Asking(server, scene, read_s=0.2)
    with pytest.raises(GenerationFailed, match=r"sent nothing for 0\.2 s$"):
        asking.written()
    assert asking.n_asked() == 1


@pytest.mark.parametrize("scene", ["endless", "pings", "slow_header", "silent", "mute"])
def test_the_time_in_all_holds_whatever_the_server_sends(server: Running, scene: str) -> None:
    with pytest.raises(GenerationFailed, match=r"took longer than 0\.3 s in all$"):
        Asking(server, scene, total_s=0.3).written()


@pytest.mark.parametrize("scene", ["endless", "pings", "silent"])
def test_at_the_end_of_the_texts_own_time_what_came_is_the_text(server: Running, scene: str) -> None:
    asking = Asking(server, scene)
    written = asking.written(limits=Limits(seconds=0.3))
    assert written.ended == Ended.TIME
    assert written.text == "".join(asking.pieces)


@pytest.mark.parametrize("scene", ["mute", "slow_header"])
def test_a_text_that_never_began_is_empty_at_the_end_of_its_time(server: Running, scene: str) -> None:
    written = Asking(server, scene).written(limits=Limits(seconds=0.2))
    assert (written.text, written.ended) == ("", Ended.TIME)


def test_time_is_that_of_the_clock_given(server: Running) -> None:
    ticks = iter(range(0, 1000, 10))
    written = Asking(server, "endless").written(limits=Limits(seconds=100, clock=lambda: next(ticks)))
    assert written.ended == Ended.TIME
    assert written.text.startswith("on ")


def test_who_leaves_early_leaves_nothing_open(server: Running) -> None:
    writing = Asking(server, "endless").generator.write(PROMPT, Decoding(), Limits())
    assert next(writing) == "on "
    writing.close()
