"""Question answering over your own documents: every answer is an exact quote, or "not in these documents".

The public API, loaded lazily: importing this package loads the standard library only. Names that are not in
`__all__` may change at any time.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

# In a checkout the sub-packages are beside this folder, in a wheel inside it.
_root = Path(__file__).resolve().parent.parent
if not (Path(__file__).resolve().parent / "retrieval").is_dir() and (_root / "retrieval").is_dir():
    __path__.append(str(_root))

if TYPE_CHECKING:  # "as" marks what is exported
    from spanwise import errors as errors
    from spanwise.pipelines import evaluation as evaluation, training as training
    from spanwise.pipelines.answering.conversation import Conversation as Conversation
    from spanwise.pipelines.answering.explain import Explanation as Explanation
    from spanwise.pipelines.library.library import Library as Library
    from spanwise.pipelines.library.status import Verification as Verification, verify as verify
    from spanwise.pipelines.library.watch import Watch as Watch
    from spanwise.pipelines.open import open as open, open_index as open_index
    from spanwise.types import (
        Answer as Answer,
        AnswerSpan as AnswerSpan,
        AskOptions as AskOptions,
        CheckedQuote as CheckedQuote,
        ClusterOptions as ClusterOptions,
        Document as Document,
        Filter as Filter,
        Heading as Heading,
        Hit as Hit,
        Label as Label,
        ModelOptions as ModelOptions,
        Passage as Passage,
        ScoredSpan as ScoredSpan,
        SearchOptions as SearchOptions,
        SearchResult as SearchResult,
        Span as Span,
        Summary as Summary,
        SummaryOptions as SummaryOptions,
        SyncReport as SyncReport,
    )


_MODULES = {"errors": "errors", "evaluation": "pipelines.evaluation", "training": "pipelines.training"}
_NAMES = {
    "pipelines.answering.conversation": "Conversation",
    "pipelines.answering.explain": "Explanation",
    "pipelines.library.library": "Library",
    "pipelines.open": "open open_index",
    "pipelines.library.status": "Verification verify",
    "pipelines.library.watch": "Watch",
    "types": "Answer AnswerSpan AskOptions CheckedQuote ClusterOptions Document Filter Heading Hit Label "
    "ModelOptions Passage ScoredSpan SearchOptions SearchResult Span Summary SummaryOptions SyncReport",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(["__version__", *_MODULES, *_PLACES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"spanwise.{_MODULES[name]}")
    if name in _PLACES:
        return getattr(import_module(f"spanwise.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
