"""What a person sees: progress on stderr, tables and quotes on stdout, nothing raw from documents."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..visible import visible

__all__ = ["console", "is_styled", "json_line", "print_json", "progress", "say", "show", "visible"]

LABELS = {
    "files": "reading files",
    "bytes": "of which",
    "encode": "encoding passages",
    "tokens": "encoding tokens",
    "codebook": "training the codebook",
    "questions": "asking",
    "rerank": "re-ranking",
    "records": "reading records",
    "steps": "training",
    "train": "mining negatives",
    "validation": "mining for validation",
    "made": "making questions",
    "mined": "finding negatives",
    "scores": "asking the teacher",
    "measured": "measuring",
}


def print_json(record: Any) -> None:
    """One JSON value on stdout, in UTF-8, keys in the order given."""
    print(json_line(record))


def json_line(record: Any) -> str:
    """One JSON value in one line."""
    return json.dumps(record, ensure_ascii=False)


def say(message: str) -> None:
    """A line of talk on stderr."""
    print(message, file=sys.stderr)


@contextmanager
def progress(after_s: float = 0.0) -> Iterator[Callable[[str, int, int], None]]:
    """A reporter of (stage, done, total) that draws a bar on stderr when that is a terminal.

    It is drawn when so many seconds have passed: for what is often done before.
    """
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    began, bars, tasks = time.monotonic(), list[Any](), dict[str, Any]()
    with ExitStack() as stack:

        def report(stage: str, done: int, total: int) -> None:
            if not bars:
                if time.monotonic() - began < after_s:
                    return
                bars.append(stack.enter_context(_bar()))
            if stage not in tasks:
                tasks[stage] = bars[0].add_task(LABELS.get(stage, stage), total=total, amount="")
            amount = _megabytes(done, total) if stage == "bytes" else f"{done:,}/{total:,}"
            bars[0].update(tasks[stage], completed=done, total=total, amount=amount)

        yield report


def is_styled() -> bool:
    """Whether stdout shows styles: a terminal does, and what FORCE_COLOR says to be one."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def show(*parts: str | tuple[str, str], end: str = "\n") -> None:
    """A line of results on stdout, in parts that are plain or have a style, as in ("Ada Rook", "bold").

    rich is loaded where a style is seen; it costs as much as a search.
    """
    if not is_styled():
        print(*(part if isinstance(part, str) else part[0] for part in parts), sep="", end=end)
        return
    from rich.text import Text

    console().print(Text.assemble(*parts), end=end)


def console() -> Any:
    """A rich console on stdout that respects NO_COLOR."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    shown = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    return Progress(*shown, TimeRemainingColumn(), console=Console(stderr=True), transient=True)


def _megabytes(done: int, total: int) -> str:
    return f"{done / 1e6:,.1f}/{total / 1e6:,.1f} MB"
