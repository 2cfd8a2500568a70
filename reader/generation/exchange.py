"""One request to an endpoint and its answer: bounded in time and size, to one address and no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from .endpoint_settings import EndpointSettings, is_loopback
from .faults import Fault
from .time_left import TimeLeft, Watchdog

MOST_BYTES = 2**24
"""The largest body of an answer that is read to its end."""


def client_for(url: httpx.URL, settings: EndpointSettings, key: str | None) -> httpx.Client:
    """A client that follows no redirect, with a proxy of the environment for https to other machines only.

    Raises a Fault if the proxy that the environment names cannot be used.
    """
    headers = {"User-Agent": "spanwise", "Accept-Encoding": "identity"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    encrypts = url.scheme == "https"  # certificates take time to load, and http has none
    try:
        direct = is_loopback(url) or not encrypts
        transport = httpx.HTTPTransport(verify=encrypts) if direct else None
        return httpx.Client(headers=headers, transport=transport, follow_redirects=False)
    except (ImportError, ValueError, httpx.InvalidURL):  # their messages quote the proxy's password
        raise Fault("cannot be reached by the proxy that the environment names") from None


@contextmanager
def answered(
    client: httpx.Client,
    url: str,
    settings: EndpointSettings,
    time_left: TimeLeft,
    body: dict[str, Any] | None = None,
) -> Iterator[httpx.Response]:
    """The answer to a GET, or to a POST of this body, of any status. Raises a Fault when the wire fails."""
    watchdog, left = Watchdog(), time_left.seconds()
    timeout = httpx.Timeout(min(settings.read_s, left), connect=min(settings.connect_s, left))
    method = "GET" if body is None else "POST"
    request = client.build_request(
        method, url, json=body, timeout=timeout, extensions={"trace": watchdog.trace}
    )
    with watchdog.after(left):
        try:
            try:
                response = client.send(request, stream=True)
            except UnicodeError:  # a name that is too long to be looked up
                raise Fault("cannot connect: its name is none that a host can have") from None
            try:
                yield response
            finally:
                response.close()
        except httpx.TransportError as error:
            raise _fault_of(error, settings, time_left) from None


def body_of(response: httpx.Response, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The bytes of the answer as they come. Raises a Fault if there are more, or if they are compressed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Fault("sent a compressed answer, which was not asked for")
    n_bytes = 0
    for chunk in response.iter_raw():
        n_bytes += len(chunk)
        if n_bytes > most:
            raise Fault(f"sent more than {most} bytes")
        yield chunk


def cut_off(time_left: TimeLeft) -> Fault:
    """What a stream that ends too early means: our time was over, or the server lost it."""
    if time_left.is_spent:
        return Fault(f"took longer than {time_left.total_s:g} s in all", wire=True)
    return Fault("lost the connection before the text was whole", again=True, wire=True)


def _fault_of(error: httpx.TransportError, settings: EndpointSettings, time_left: TimeLeft) -> Fault:
    """What failed, in our words; a silent server is not asked again, it may be busy with the first try."""
    if time_left.is_spent:
        return cut_off(time_left)
    match error:
        case httpx.ConnectTimeout():
            return Fault(
                f"did not take the connection within {settings.connect_s:g} s", again=True, wire=True
            )
        case httpx.ConnectError():
            hint = "cannot connect; start the server (`ollama serve`, `vllm serve MODEL`) or mend the address"
            return Fault(hint, str(error), again=True, wire=True)
        case httpx.ProxyError():
            return Fault("cannot be reached by the proxy that the environment names", wire=True)
        case httpx.TimeoutException():
            return Fault(f"sent nothing for {settings.read_s:g} s", wire=True)
    return cut_off(time_left)
