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
    "errors": "spanwise.errors",
    "evaluation": "spanwise.pipelines.evaluation",
    "training": "spanwise.pipelines.training.api",
}
_NAMES = {
    "spanwise.types": (
        "Answer AnswerSpan AskOptions Document Filter Heading Hit Label Passage ScoredSpan SearchOptions "
        "Span Summary SummaryOptions SyncReport"
    ),
    "spanwise.pipelines.explain": "Explanation",
    "spanwise.pipelines.library": "Library",
    "spanwise.pipelines.open": "open open_index",
    "spanwise.pipelines.status": "Verification verify",
    "spanwise.pipelines.watch": "Watch",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

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
        return import_module(_MODULES[name])
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
