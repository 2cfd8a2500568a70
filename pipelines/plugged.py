"""The retrievers and readers of one library that are not built in: of plug-ins, or given in code.

What is given in code goes before what a package offers under the same name; a built-in name is neither's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spanwise.errors import PluginFailed

from .plugin_state import plugin_state
from .plugins import READERS, RETRIEVERS, Plugin, checked_name, plugin_of, plugins

if TYPE_CHECKING:
    from ..reader.plugged import PluggedReader, Reading
    from ..retrieval.plugged import RetrieverFactory, RetrieverSource


class Plugged:
    """Looked up when something is named that is not built in, loaded when it is used, and kept."""

    def __init__(self) -> None:
        self._retrievers: dict[str, RetrieverSource] = {}
        self._readers: dict[str, tuple[PluggedReader, str | None] | None] = {}

    def use_retriever(self, name: str, factory: RetrieverFactory) -> None:
        """Take this factory for the retriever of that name."""
        from ..retrieval.plugged import RetrieverSource

        label = f"the retriever {checked_name(RETRIEVERS, name)!r} given in code"
        self._retrievers[name] = RetrieverSource(label, _callable(factory, label), _digest_of(factory))

    def use_reader(self, name: str, reader: Reading) -> None:
        """Take this object for the reader of that name."""
        label = f"the reader {checked_name(READERS, name)!r} given in code"
        self._readers[name] = _reader(label, reader, _digest_of(reader))

    def retrievers(self, name: str) -> Mapping[str, RetrieverSource]:
        """The sources of those stages of a retriever that are not built in.

        ValueError for a stage that nobody offers; PluginFailed for one that cannot be had.
        """
        from ..retrieval.retrievers import ALIASES, ENCODED, LEXICAL, stages_of

        named = ALIASES.get(name, name).split("+")
        foreign = [stage for stage in named if stage not in LEXICAL and stage not in ENCODED]
        if foreign and not set(foreign) <= set(self._retrievers):
            offered = [plugin.name for plugin in plugins(RETRIEVERS) if plugin.name and not plugin.is_hidden]
            stages_of(name, list(dict.fromkeys([*self._retrievers, *offered])))
        return {stage: self._retriever(stage) for stage in foreign}

    def reader(self, name: str) -> PluggedReader | None:
        """The reader of that name; None where it is none of these."""
        found = self._found_reader(name)
        return found and found[0]

    def reader_state(self, name: str) -> str | None:
        """What names all that a reader reads by; None where that is not known, or it is none of these."""
        found = self._found_reader(name)
        return found and found[1]

    def _retriever(self, name: str) -> RetrieverSource:
        if name not in self._retrievers:
            from ..retrieval.plugged import RetrieverSource

            plugin = _existing(RETRIEVERS, name)
            factory = plugin.load()
            state = plugin_state(plugin, factory)
            self._retrievers[name] = RetrieverSource(plugin.label, _callable(factory, plugin.label), state)
        return self._retrievers[name]

    def _found_reader(self, name: str) -> tuple[PluggedReader, str | None] | None:
        if name not in self._readers:
            self._readers[name] = _offered_reader(name)
        return self._readers[name]


def plugin_named(kind: str, name: str) -> Plugin | None:
    """The plug-in meant by a name that may also be that of a folder, of a model or of a server."""
    from .plugins import PLUGIN_NAME

    found = plugin_of(kind, name) if PLUGIN_NAME.match(name) else None
    return None if found is None or found.is_hidden else found


def made_by(plugin: Plugin) -> Any:
    """What the class or function of a plug-in makes; PluginFailed when that fails."""
    make = _callable(plugin.load(), plugin.label)
    try:
        return make()
    except Exception as error:
        raise PluginFailed(f"{plugin.label} cannot be made: {type(error).__name__}: {error}") from error


def _offered_reader(name: str) -> tuple[PluggedReader, str | None] | None:
    plugin = plugin_named(READERS, name)
    if plugin is None:
        return None
    made = made_by(plugin)
    return _reader(plugin.label, made, plugin_state(plugin, made))


def _existing(kind: str, name: str) -> Plugin:
    found = plugin_of(kind, name)
    if found is None:
        raise PluginFailed(f"no package offers {name!r} any more")
    return found


def _reader(label: str, reader: Reading, state: str | None) -> tuple[PluggedReader, str | None]:
    from ..reader.plugged import PluggedReader

    if not callable(getattr(reader, "read", None)):
        raise PluginFailed(f"{label} has no method read")
    return PluggedReader(label, state or label, reader), state


def _digest_of(given: object) -> str | None:
    digest = getattr(given, "digest", None)
    return digest if isinstance(digest, str) and digest else None


def _callable(made: Any, label: str) -> Any:
    if not callable(made):
        raise PluginFailed(f"{label} is {made!r:.60}, which cannot be called: give a class or a function")
    return made
