"""The key goes to the host that it is for, and into nothing that is shown."""

from __future__ import annotations

import logging
import traceback

import pytest
from endpoint_asking import PROMPT, Asking
from endpoint_server import Running

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Limits
from spanwise.reader.generation.endpoint import endpoint_of
from spanwise.reader.generation.endpoint_settings import EndpointSettings, split_name

KEY = "sk-Secret-0123456789"
VARIABLE = "SPANWISE_API_KEY"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")


def test_the_key_is_sent(server: Running) -> None:
    asking = Asking(server, "whole")
    asking.written()
    assert server.asked(asking.scene)[0]["headers"]["Authorization"] == f"Bearer {KEY}"


def test_the_key_of_another_variable(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "other")
    asking = Asking(server, "whole", key_variable="OTHER_KEY")
    asking.written()
    assert server.asked(asking.scene)[0]["headers"]["Authorization"] == "Bearer other"


def test_no_key_where_none_is_wanted(server: Running) -> None:
    asking = Asking(server, "whole", key_variable=None)
    asking.written()
    assert "Authorization" not in server.asked(asking.scene)[0]["headers"]


@pytest.mark.parametrize("scene", ["unauthorized", "bad_request", "error_event", "busy"])
def test_no_error_shows_the_key(server: Running, scene: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asking = Asking(server, scene, retries=0)
    with pytest.raises(GenerationFailed) as failure:
        asking.written()
    shown = "".join(traceback.format_exception(failure.value)) + caplog.text + repr(asking.generator)
    assert not any(part in shown.lower() for part in ("sk-s", "0123456789"))
    assert failure.value.__cause__ is None


def test_a_refused_key_is_named_by_its_variable(server: Running) -> None:
    with pytest.raises(GenerationFailed, match=rf"refuses the key from the environment variable {VARIABLE}"):
        Asking(server, "unauthorized").written()


def test_no_key_in_the_open_to_another_machine() -> None:
    with pytest.raises(ValueError, match=r"unencrypted to example\.org: use https") as refusal:
        endpoint_of("http://example.org/v1#llama3")
    assert KEY not in str(refusal.value)


def test_a_key_that_was_set_later_does_not_travel_in_the_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    generator = endpoint_of("http://example.org/v1#llama3")
    monkeypatch.setenv(VARIABLE, KEY)
    with pytest.raises(ValueError, match="unencrypted"):
        next(generator.write(PROMPT, Decoding(), Limits()))


@pytest.mark.parametrize(
    "address",
    ["http://localhost.example.org", "http://127.0.0.1.example.org", "http://0.0.0.0", "http://2130706433"],
)
def test_what_only_looks_like_this_machine_is_another(address: str) -> None:
    with pytest.raises(ValueError, match="unencrypted"):
        endpoint_of(f"{address}/v1#llama3")


def test_it_may_be_allowed() -> None:
    allowed = EndpointSettings(key_over_http=True)
    assert endpoint_of("http://example.org/v1#llama3", allowed).name == "http://example.org/v1#llama3"


@pytest.mark.parametrize(
    "address", ["https://example.org", "http://localhost", "http://[::1]:80", "http://127.0.0.9"]
)
def test_https_and_this_machine_are_safe(address: str) -> None:
    assert endpoint_of(f"{address}/v1#llama3").name == f"{address.removesuffix(':80')}/v1#llama3"


def test_a_key_that_no_header_can_hold_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\r\nX: y")
    with pytest.raises(ValueError, match=f"the key in {VARIABLE} has characters") as refusal:
        endpoint_of("https://example.org/v1#llama3")
    assert KEY not in str(refusal.value)


@pytest.mark.parametrize(
    "name", [f"https://me:{KEY}@example.org/v1#m", f"https://example.org/v1?key={KEY}#m"]
)
def test_no_secret_stands_in_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="neither user, password nor query") as refusal:
        split_name(name)
    assert KEY not in str(refusal.value)


@pytest.mark.parametrize(
    "name",
    ["", "llama3", "ftp://example.org/v1", "http://", "http:///v1", "file:///etc/passwd", "http://a b/v1"],
)
def test_what_is_no_address(name: str) -> None:
    with pytest.raises(ValueError, match="is no address of an endpoint"):
        split_name(name)


def test_proxies_are_not_used_on_this_machine(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert Asking(server, "whole", retries=0).written().text == "The library opens at nine."


def test_a_proxy_sees_no_key(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.root)
    generator = endpoint_of("https://example.org/v1#llama3", EndpointSettings(retries=0))
    with pytest.raises(GenerationFailed, match="by the proxy"):
        next(generator.write(PROMPT, Decoding(), Limits()))
    (asked,) = server.asked("CONNECT")
    assert asked["path"] == "example.org:443"
    assert KEY not in str(asked)


def test_a_proxy_that_cannot_be_used_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"gopher://me:{KEY}@127.0.0.1:1")
    generator = endpoint_of("https://example.org/v1#llama3")
    with pytest.raises(GenerationFailed, match="by the proxy") as failure:
        next(generator.write(PROMPT, Decoding(), Limits()))
    assert KEY not in "".join(traceback.format_exception(failure.value))


@pytest.mark.parametrize(
    "given", [{"read_s": 0}, {"total_s": -1}, {"room": 0}, {"retries": -1}, {"connect_s": 0}]
)
def test_settings_that_cannot_be(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        EndpointSettings(**given)  # type: ignore[arg-type]
