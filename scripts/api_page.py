"""Writes docs/api.md and tests/public_api.txt from the signatures and docstrings of the public API.

Run `python scripts/api_page.py` after a change of either; a test compares both with the code.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import public_api

import spanwise

ROOT = Path(__file__).resolve().parent.parent
PAGE, CONTRACT = ROOT / "docs" / "api.md", ROOT / "tests" / "public_api.txt"

# What each verb of the command line does, in Python; `library` is a Library.
VERBS = {
    "index": "open, Library.add, Library.drop, Library.use_colbert, Library.sync, Library.gaps, Watch",
    "search": "Library.search, Library.search_many",
    "ask": "Library.ask, Library.ask_many, Library.explain, explanation_page",
    "summarize": "Library.summarize, summary_markdown",
    "status": "Library.status, Library.files, Library.gaps",
    "verify": "verify",
    "eval squad": "evaluation.open_task, evaluation.evaluate_squad, evaluation.evaluate_predictions",
    "eval open": "evaluation.evaluate_open",
    "eval folder": "evaluation.read_questions, evaluation.evaluate_folder",
    "eval compare": "evaluation.compare_results",
    "eval retrieval": "evaluation.open_collection, evaluation.evaluate_retrieval",
    "train reader": "training.read_squad, training.train_reader",
    "train mine": "training.mine",
    "train retriever": "training.read_ranking_examples, training.train_retriever",
    "train reranker": "training.read_ranking_examples, training.train_reranker",
    "calibrate": "training.calibrate, training.keep_calibration",
}
INTRODUCTION = """# The Python API

What stands here is the contract: names, arguments and their defaults change only with a new version, and
the changelog says so. Everything else in the package may change at any time. `import spanwise` loads
nothing but the standard library; each name is loaded when it is used. The package is typed (`py.typed`).

```python
import spanwise

with spanwise.open("notes") as library:
    library.sync()
    answer = library.ask("who founded the mill?")
    print(answer.text, answer.span, answer.confidence)
```

Threads may share a `Library`: one computes at a time, and each sees the last commit. A program on an event
loop takes an `AsyncLibrary`:

```python
async with spanwise.open_async("notes") as library:
    await library.sync()
    answers = await asyncio.gather(*map(library.ask, questions))
    async for answer in library.ask_each(questions):
        print(answer.text)
```

A call that is cancelled is no longer waited for: what has not begun never begins, a sync stops at its next
report of progress, and the library can be used by others at once. After `close`, or at the end of the
`with`, every use raises `spanwise.errors.IndexClosed`.

Every result as the JSON that the command line prints: `spanwise.record_of(answer)`. Other parsers,
retrievers, readers and generators: [plugins.md](plugins.md). Small programs that use all this:
[examples](../examples/README.md).
"""
GROUPS = {
    "Libraries": (*("open", "open_index", "open_async", "Library", "AsyncLibrary", "Stream", "Watch"),),
    "Results": (
        *("Answer", "AnswerSpan", "RejectedSpan", "UnknownWord", "QuestionWord", "Hit"),
        *("Passage", "Span", "ScoredSpan", "Document", "Heading", "Label", "Scope", "Filter"),
        *("Summary", "SummarySentence", "Citation", "Explanation", "WhyNot"),
        *("SyncReport", "Rejection", "Remark", "Verification", "Finding"),
    ),
    "Functions": (*("record_of", "explanation_page", "summary_markdown", "verify", "checkup"),),
    "Plug-ins": ("plugins", "Plugin"),
}


def page() -> str:
    """The page."""
    parts = [INTRODUCTION, "## The verbs of the command line\n", "\n".join(_verbs()) + "\n"]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [part for name in names for part in _described(name)]
    first, tree, last = _text(spanwise.errors).split("\n\n")
    parts.append(f"## Errors\n\n`spanwise.errors`: {first}\n\n```\n{tree}\n```\n\n{last}\n")
    for name in public_api.NAMESPACES:
        module = getattr(spanwise, name)
        parts += [f"## spanwise.{name}\n", "\n".join(_listed(module)) + "\n"]
    return "\n".join(parts)


def _verbs() -> Iterator[str]:
    yield "| verb | in Python |\n|---|---|"
    for verb, names in VERBS.items():
        yield f"| `{verb}` | {', '.join(f'`{name}`' for name in names.split(', '))} |"


def _described(name: str) -> Iterator[str]:
    given = getattr(spanwise, name)
    yield f"### `{name}`\n\n```python\n{name}{public_api.signature_of(given)}\n```\n\n{_text(given)}\n"
    if isinstance(given, type):
        for member, call, found in public_api.members_of(given):
            if name == "AsyncLibrary" and hasattr(spanwise.Library, member):
                continue
            yield f"- `{call}`: {' '.join(_text(found).split())}\n"
    if name == "AsyncLibrary":
        members = [one for one, _, _ in public_api.members_of(given)]
        twins = ", ".join(f"`{one}`" for one in members if hasattr(spanwise.Library, one))
        yield f"With the arguments and results of `Library`: {twins}.\n"


def _listed(module: Any) -> Iterator[str]:
    for name in sorted(module.__all__):
        given = getattr(module, name)
        first = " ".join(_text(given).partition("\n\n")[0].split())
        yield f"- `{name}{public_api.signature_of(given)}`: {first}"


def _text(given: Any) -> str:
    return inspect.getdoc(given) or ""


def contract() -> str:
    """The text of the contract: a line for each name, method and error."""
    return "\n".join(public_api.lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    CONTRACT.write_text(contract(), encoding="utf-8")
