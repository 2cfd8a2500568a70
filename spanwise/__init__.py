"""Question answering over your own documents: every answer is an exact quote, or "not in these documents".

The public API, loaded lazily: importing this package loads the standard library only. Names that are not in
`__all__` may change at any time.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

# In a checkout the sub-packages are beside this folder, in a wheel inside it.
_root = Path(__file__).resolve().parent.parent
if not (Path(__file__).resolve().parent / "retrieval").is_dir() and (_root / "retrieval").is_dir():
    __path__.append(str(_root))

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwise import errors
    from spanwise.pipelines import evaluation
    from spanwise.pipelines.explain import Explanation
    from spanwise.pipelines.library import Library
    from spanwise.pipelines.open import open, open_index
    from spanwise.pipelines.status import Verification, verify
    from spanwise.pipelines.training import api as training
    from spanwise.pipelines.watch import Watch
    from spanwise.types import (
        Answer,
        AnswerSpan,
        AskOptions,
        Document,
        Filter,
        Heading,
        Hit,
        Label,
        Passage,
        ScoredSpan,
        SearchOptions,
        Span,
        Summary,
        SummaryOptions,
        SyncReport,
    )

_MODULES = {
    "errors": "errors",
    "evaluation": "pipelines.evaluation",
    "training": "pipelines.training.api",
}
_PLACES = {
    "Explanation": "pipelines.explain",
    "Library": "pipelines.library",
    "Verification": "pipelines.status",
    "Watch": "pipelines.watch",
    "open": "pipelines.open",
    "open_index": "pipelines.open",
    "verify": "pipelines.status",
}

__all__ = [
    "Answer",
    "AnswerSpan",
    "AskOptions",
    "Document",
    "Explanation",
    "Filter",
    "Heading",
    "Hit",
    "Label",
    "Library",
    "Passage",
    "ScoredSpan",
    "SearchOptions",
    "Span",
    "Summary",
    "SummaryOptions",
    "SyncReport",
    "Verification",
    "Watch",
    "__version__",
    "errors",
    "evaluation",
    "open",
    "open_index",
    "training",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"spanwise.{_MODULES[name]}")
    if name in __all__:
        return getattr(import_module(f"spanwise.{_PLACES.get(name, 'types')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
