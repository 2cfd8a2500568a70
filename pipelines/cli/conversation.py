"""Questions one after the other over a library that stays open: `spanwise ask` without a question.

At a terminal they are typed, with the editing and the history of readline; otherwise they are the lines of
stdin. Models are loaded once. Between two questions no generation of the index is held: a writer can go on,
and the next answer is from what it committed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from spanwise.errors import SpanwiseError

from ..library import Library
from .terminal import say, visible

PROMPT = "? "
HINT = "Ask; an empty line or Ctrl-D ends, Ctrl-C drops the question."


def converse(library: Library, answer: Callable[[str], None]) -> None:
    """Has every question answered. A typed one that fails is told in one line and the next one may follow;
    of the lines of a file the first that fails ends it. ValueError when there is none.
    """
    if sys.stdin.isatty():
        _talk(library, answer)
        return
    asked = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        answer(line)
        asked += 1
    if not asked:
        raise ValueError("no question: give one, or a line for each on stdin, or ask at a terminal")


def _talk(library: Library, answer: Callable[[str], None]) -> None:
    seen: int | None = None
    for question in _typed():
        try:
            with library.reading() as snapshot:
                now, n_documents = snapshot.generation, snapshot.n_documents
            if seen not in (None, now):
                say(f"the index was updated: {n_documents} documents")
            seen = now
            answer(question)
        except KeyboardInterrupt:
            say("\ndropped")
        except (SpanwiseError, ValueError) as error:
            say(f"spanwise: {visible(' '.join(str(error).split()))}")


def _typed() -> Iterator[str]:
    """What is typed, up to an empty line or Ctrl-D."""
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history and the arrow keys)
    say(HINT)
    while True:
        try:
            question = _read_line().strip()
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            continue
        if not question:
            return
        yield question


def _read_line() -> str:
    """A line from the terminal; the prompt goes to stderr where stdout is kept for results."""
    if sys.stdout.isatty():
        return input(PROMPT)
    print(PROMPT, end="", file=sys.stderr, flush=True)
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line
