"""A request must call the server by a name that it has: a page on another name that leads here must not.

This is what stands against DNS rebinding, where a name of the attacker's is made to mean this machine.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from ..faults import Fault
from ..settings import Settings
from .names import host_names
from .refusal import header, refuse


class HostGuard:
    """Refuses a Host that is missing, doubled or foreign, and a target that names a host itself."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._names = app, host_names(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] == "http" and (fault := self._fault(scope)):
            await refuse(scope, send, fault)
            return
        await self._app(scope, receive, send)

    def _fault(self, scope: Scope) -> Fault | None:
        hosts = header(scope, b"host")
        if not scope["path"].startswith("/"):
            return Fault(400, "BadRequest", "the target of the request must be a path")
        if len(hosts) != 1:
            return Fault(400, "BadRequest", "the request must have one Host")
        if hosts[0].decode("latin-1").lower() not in self._names:
            return Fault(403, "HostRefused", "the server is not called so: see --allow-host")
        return None
