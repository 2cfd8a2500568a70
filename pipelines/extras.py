"""What an optional extra of this project brings along, and what is said where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spanwise.errors import ExtraMissing


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turns an import that fails inside into an ExtraMissing that names the command which installs it."""
    try:
        yield
    except ImportError as error:
        raise ExtraMissing(missing(extra, str(error))) from error


def missing(extra: str, why: str) -> str:
    """One line on an extra that is not there.

    >>> missing("mcp", "No module named 'mcp'")
    "No module named 'mcp'; install it with: pip install 'spanwise[mcp]'"
    """
    return f"{why}; install it with: pip install 'spanwise[{extra}]'"
