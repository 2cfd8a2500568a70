"""The plug-ins of other packages: which there are, and whether they can be loaded."""

from __future__ import annotations

from spanwise.errors import PluginFailed

from ..plugins import PREFIX, Plugin, plugins
from .finding import Finding, ok, warn


def check_plugins() -> Finding:
    """All plug-ins by their kind; worth a look where one cannot be used, which costs its package alone."""
    found = plugins()
    faults = [fault for one in found if (fault := _fault(one))]
    if faults:
        return warn("plug-ins", "; ".join(faults), "mend, update or remove the packages named")
    return ok("plug-ins", ", ".join(map(_named, found)) or "none")


def _named(plugin: Plugin) -> str:
    return f"{plugin.name} of {plugin.origin} ({PREFIX}{plugin.kind})"


def _fault(plugin: Plugin) -> str:
    try:
        plugin.load()
    except PluginFailed as error:
        return str(error)
    return ""
