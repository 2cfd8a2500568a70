"""Answers from a folder of documents, each one a span of a source file, or an honest "not there".

The public API, loaded lazily: importing this package loads the standard library only. docs/api.md has all of
it; what is not in `__all__` may change at any time.
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
    from spanwise import errors
    from spanwise.pipelines.evaluation import api as evaluation
    from spanwise.pipelines.explaining.explanation import Explanation
    from spanwise.pipelines.explaining.page import explanation_page
    from spanwise.pipelines.library import Library
    from spanwise.pipelines.opening import open, open_index
    from spanwise.pipelines.plugins import Plugin, plugins
    from spanwise.pipelines.record_of import record_of
    from spanwise.pipelines.summarize import summary_markdown
    from spanwise.pipelines.training import api as training
    from spanwise.pipelines.verification import Verification, verify
    from spanwise.pipelines.watch import Watch
    from spanwise.types import (
        Answer,
        AnswerSpan,
        AskOptions,
        Citation,
        Document,
        Filter,
        Heading,
        Hit,
        Label,
        Passage,
        ProgressCallback,
        QuestionWord,
        RejectedSpan,
        Rejection,
        Remark,
        Scope,
        ScoredSpan,
        SearchOptions,
        Span,
        Summary,
        SummaryOptions,
        SummarySentence,
        SyncReport,
        UnknownWord,
    )

_MODULES = {
    "errors": "spanwise.errors",
    "evaluation": "spanwise.pipelines.evaluation.api",
    "training": "spanwise.pipelines.training.api",
}
_NAMES = {
    "spanwise.types": (
        "Answer AnswerSpan AskOptions Citation Document Filter Heading Hit Label Passage ProgressCallback "
        "QuestionWord RejectedSpan Rejection Remark ScoredSpan Scope SearchOptions Span "
        "Summary SummaryOptions SummarySentence SyncReport UnknownWord"
    ),
    "spanwise.pipelines.explaining.explanation": "Explanation",
    "spanwise.pipelines.explaining.page": "explanation_page",
    "spanwise.pipelines.library": "Library",
    "spanwise.pipelines.opening": "open open_index",
    "spanwise.pipelines.plugins": "Plugin plugins",
    "spanwise.pipelines.record_of": "record_of",
    "spanwise.pipelines.summarize": "summary_markdown",
    "spanwise.pipelines.verification": "Verification verify",
    "spanwise.pipelines.watch": "Watch",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "AnswerSpan",
    "AskOptions",
    "Citation",
    "Document",
    "Explanation",
    "Filter",
    "Heading",
    "Hit",
    "Label",
    "Library",
    "Passage",
    "Plugin",
    "ProgressCallback",
    "QuestionWord",
    "RejectedSpan",
    "Rejection",
    "Remark",
    "Scope",
    "ScoredSpan",
    "SearchOptions",
    "Span",
    "Summary",
    "SummaryOptions",
    "SummarySentence",
    "SyncReport",
    "UnknownWord",
    "Verification",
    "Watch",
    "__version__",
    "errors",
    "evaluation",
    "explanation_page",
    "open",
    "open_index",
    "plugins",
    "record_of",
    "summary_markdown",
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
