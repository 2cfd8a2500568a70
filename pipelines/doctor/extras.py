"""The optional extras: what is installed of each, and how the others are had."""

from __future__ import annotations

from importlib.metadata import requires

from packaging.requirements import Requirement

from .finding import Finding, note, ok, warn
from .installation import fits, installed

EXTRAS = ("serve", "mcp", "langchain", "llama-index", "haystack")


def check_extra(name: str) -> Finding:
    """Whether the packages of an extra are there; without them all else works."""
    needed = packages_of(name)
    seen = ", ".join(f"{line.name} {installed(line.name)}" for line in needed)
    command = f"pip install 'spanwise[{name}]'"
    if all(installed(line.name) == "none" for line in needed):
        return note(name, "not installed", f"to use it: {command}")
    if wrong := [f"{line} (found: {installed(line.name)})" for line in needed if not fits(line)]:
        return warn(name, "; ".join(wrong), f"{command} --upgrade")
    return ok(name, seen)


def packages_of(extra: str) -> list[Requirement]:
    """What an extra of spanwise brings along."""
    lines = [Requirement(line) for line in requires("spanwise") or []]
    return [line for line in lines if line.marker is not None and _belongs(line, extra)]


def _belongs(line: Requirement, extra: str) -> bool:
    assert line.marker is not None
    return line.marker.evaluate({"extra": extra}) and not line.marker.evaluate({"extra": ""})
