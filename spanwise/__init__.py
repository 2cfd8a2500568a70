"""Answers from a folder of documents, each one a span of a source file, or an honest "not there".

The public API, loaded lazily: importing this package loads the standard library only.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

# In a checkout the sub-packages lie beside this folder, in a wheel inside it.
_root = Path(__file__).resolve().parent.parent
if not (Path(__file__).resolve().parent / "retrieval").is_dir() and (_root / "retrieval").is_dir():
    __path__.append(str(_root))

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwise.pipelines.async_library import AsyncLibrary, open_async
    from spanwise.pipelines.library import Library
    from spanwise.pipelines.opening import open
    from spanwise.pipelines.plugins import plugins
    from spanwise.types import Filter

_LAZY = {
    "AsyncLibrary": "spanwise.pipelines.async_library",
    "Filter": "spanwise.types",
    "Library": "spanwise.pipelines.library",
    "open": "spanwise.pipelines.opening",
    "open_async": "spanwise.pipelines.async_library",
    "plugins": "spanwise.pipelines.plugins",
}

__all__ = ["AsyncLibrary", "Filter", "Library", "__version__", "open", "open_async", "plugins"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
