"""The names that a server is called by, and the origins of pages that may ask it."""

from __future__ import annotations

from ..settings import Settings, in_url

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::")


def host_names(settings: Settings) -> frozenset[str]:
    """What may stand in Host, in small letters: loopback, the address bound, and the names allowed.

    Each with the server's own port; a name that was allowed also as it was given, as a proxy sends it.

    >>> sorted(host_names(Settings(allowed_hosts=("notes.example",))))
    ['127.0.0.1:8765', '[::1]:8765', 'localhost:8765', 'notes.example', 'notes.example:8765']
    """
    bound = () if settings.host in _EVERYWHERE else (in_url(settings.host),)
    given = tuple(name.lower() for name in settings.allowed_hosts)
    without_port = {*_LOOPBACK, *bound, *given}
    named = {f"{name}:{settings.port}".lower() for name in without_port}
    return frozenset({*named, *given, *(without_port if settings.port == 80 else ())})


def origins(settings: Settings) -> frozenset[str]:
    """The origins of the server's own page under each of its names.

    >>> "http://localhost:8765" in origins(Settings())
    True
    """
    return frozenset(f"{scheme}://{name}" for scheme in ("http", "https") for name in host_names(settings))
