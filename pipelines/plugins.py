"""Plug-ins: parsers, retrievers, readers and generators of other packages, found by their entry points.

    [project.entry-points."spanwise.retrievers"]
    mine = "my_package:MyRetriever"

They are looked for only when something is named that is not built in, and loaded only when they are used. A
package whose entry points cannot be read, or which wants a name that is taken, costs itself alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any

from spanwise.errors import PluginFailed

PARSERS, RETRIEVERS, READERS, GENERATORS = KINDS = ("parsers", "retrievers", "readers", "generators")
PREFIX = "spanwise."  # of the groups of entry points
PLUGIN_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
SUFFIX_NAME = re.compile(r"\.[a-z0-9][a-z0-9_-]{0,31}\Z")


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a package offers: of which kind, under which name (of a parser: the suffix), and where it stands.

    `problem` says why it is not used: the name is taken, is no name, or another package wants it as well.
    """

    kind: str
    name: str
    value: str
    package: str
    version: str
    problem: str = ""

    @property
    def origin(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}".strip()

    @property
    def is_hidden(self) -> bool:
        """True when its name is built in or no name at all, so that nobody can mean it."""
        return bool(_misnamed(self.kind, self.name))

    @property
    def label(self) -> str:
        """How messages call it.

        >>> Plugin("readers", "mine", "my:Reader", "my-package", "1.0").label
        "the plug-in 'mine' of my-package 1.0 (spanwise.readers)"
        """
        return f"the plug-in {self.name!r} of {self.origin} ({PREFIX}{self.kind})"

    def load(self) -> Any:
        """The object that the entry point names; PluginFailed when it has a problem or cannot be had."""
        if self.problem:
            raise PluginFailed(f"{self.label} is not used: {self.problem}")
        try:
            return EntryPoint(self.name, self.value, PREFIX + self.kind).load()
        except Exception as error:  # importing it runs whatever the package holds
            what = f"{type(error).__name__}: {error}"
            raise PluginFailed(
                f"{self.label} cannot be loaded: {what}; mend or remove {self.package}"
            ) from error


def plugins(kind: str | None = None) -> tuple[Plugin, ...]:
    """All plug-ins of the installed packages, or those of one kind, by kind, name and package.

    None is loaded. Those with a `problem` are among them.
    """
    wanted = KINDS if kind is None else (kind,)
    if not set(wanted) <= set(KINDS):
        raise ValueError(f"plug-ins are of the kinds {', '.join(KINDS)}, not {kind!r}")
    found = sorted(set(_found(wanted)), key=lambda one: (KINDS.index(one.kind), one.name, one.package))
    times = Counter((one.kind, one.name) for one in found)
    return tuple(_judged(one, found) if times[one.kind, one.name] > 1 else _judged(one) for one in found)


def plugin_of(kind: str, name: str) -> Plugin | None:
    """The plug-in of that name, with its problem if it has one; None when no package offers it."""
    return next((one for one in plugins(kind) if one.name == name), None)


def checked_name(kind: str, name: str) -> str:
    """The name; ValueError for one that is built in, or that a command line could not tell from others."""
    if problem := _misnamed(kind, name):
        raise ValueError(f"{name!r} cannot be the name of one of the {kind}: {problem}")
    return name


def _found(kinds: tuple[str, ...]) -> Iterator[Plugin]:
    seen: set[str] = set()
    for distribution in distributions():
        try:
            if PREFIX not in (distribution.read_text("entry_points.txt") or ""):
                continue
            package = str(distribution.metadata["Name"])
        except Exception:  # of a package that is damaged nothing can be said, and it is not ours to mend
            continue
        if package not in seen:  # what comes later on the path is hidden by what came first
            seen.add(package)
            yield from _offered(distribution, package, kinds)


def _offered(distribution: Distribution, package: str, kinds: tuple[str, ...]) -> Iterator[Plugin]:
    version = str(distribution.version)
    try:
        points = list(distribution.entry_points)
    except Exception as error:  # its own file, in whatever state
        problem = f"the entry points of {package} cannot be read: {type(error).__name__}: {error}"
        yield from (Plugin(kind, "", "", package, version, problem) for kind in kinds)
        return
    for point in points:
        kind = point.group.removeprefix(PREFIX)
        if point.group.startswith(PREFIX) and kind in kinds:
            name = point.name if kind != PARSERS else "." + point.name.lower().removeprefix(".")
            yield Plugin(kind, name, point.value, package, version)


def _judged(plugin: Plugin, rivals: list[Plugin] | None = None) -> Plugin:
    problem = plugin.problem or _misnamed(plugin.kind, plugin.name)
    if not problem and rivals:
        others = [r.origin for r in rivals if (r.kind, r.name) == (plugin.kind, plugin.name) and r != plugin]
        problem = f"{', '.join(others)} offers the same name; remove one of them"
    return replace(plugin, problem=problem)


def _misnamed(kind: str, name: str) -> str:
    """Why a plug-in cannot have this name, or the empty string."""
    if name in _BUILT_IN[kind]():
        return "the name is built in, and is not given away"
    pattern = SUFFIX_NAME if kind == PARSERS else PLUGIN_NAME
    if not pattern.match(name):
        return f"a {'suffix such as .log' if kind == PARSERS else 'name such as mine-2'} is expected"
    return ""


def _suffixes() -> set[str]:
    from ..corpora.reading import BY_SUFFIX, MAIL, ZIPPED

    return {*BY_SUFFIX, *ZIPPED, *MAIL, ".rtf"}


def _stages() -> set[str]:
    from ..retrieval.retrievers import ALIASES, ENCODED, LEXICAL

    return {*LEXICAL, *ENCODED, *ALIASES, "rerank"}


_BUILT_IN: dict[str, Callable[[], set[str]]] = {
    PARSERS: _suffixes,
    RETRIEVERS: _stages,
    READERS: lambda: {"builtin"},
    GENERATORS: lambda: {"extractive", "statement"},
}
