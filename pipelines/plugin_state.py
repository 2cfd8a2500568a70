"""What the results of a plug-in depend on, so that answers that were kept are not given after it changed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from .code_state import digest_of_files
from .plugins import Plugin


def plugin_state(plugin: Plugin, made: object) -> str | None:
    """The package, its version, its files by size and time, and the `digest` of what it made, if it has one.

    None, for results that must not be kept: the files cannot be found or have changed since this process
    began, or `digest` is there and is no text, by which a plug-in says that nobody knows.
    """
    digest = getattr(made, "digest", "")
    files = digest_of_files(_files_of(plugin.value))
    if files is None or not isinstance(digest, str):
        return None
    return f"{plugin.origin} {files} {digest}"


def _files_of(value: str) -> list[Path]:
    """The files of the top package, or the module, that an entry point lies in."""
    top = value.partition(":")[0].strip().partition(".")[0]
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations:
        found = [path for place in spec.submodule_search_locations for path in Path(place).rglob("*")]
        return [path for path in found if path.is_file() and path.parent.name != "__pycache__"]
    return [Path(spec.origin)] if spec.origin and Path(spec.origin).is_file() else []
