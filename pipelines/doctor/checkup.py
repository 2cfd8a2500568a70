"""All checks, the quick ones first: torch is imported by the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spanwise.errors import SpanwiseError

from . import index, installation, machine
from .finding import Finding, fail
from .reader import check_reader

Check = Callable[[], Finding | None]
REINSTALL = "install spanwise again; README.md says how"


def checkup(named: Path | None, start: Path, reader: str = "builtin") -> Iterator[Finding]:
    """One finding a check, as they are made: this machine, and the index named or the nearest above `start`.

    Nothing that is broken stops it: a check that breaks down is a finding, too.
    """
    path = index.find_index(named, start)
    checks: dict[str, Check] = {
        "python": installation.check_python,
        "packages": installation.check_packages,
        "tesseract": installation.check_tesseract,
        "encoding": machine.check_encoding,
        "cores": machine.check_cores,
        "memory": machine.check_memory,
        "disk": partial(machine.check_disk, start if path is None else path),
        "watches": machine.check_watches,
        "model": partial(index.check_model, path),
        "rerank": index.check_rerank,
        "index": partial(index.check_no_index, named),
    }
    if path is not None:
        checks |= {"index": partial(index.check_index, path), "folders": partial(index.check_roots, path)}
    checks |= {"faiss": installation.check_faiss, "torch": installation.check_torch}
    checks["reader"] = partial(check_reader, reader)
    if path is not None:
        checks["vectors"] = partial(index.check_vectors, path)
        checks["colbert"] = partial(index.check_colbert, path)
    for subject, check in checks.items():
        if (finding := _made(subject, check)) is not None:
            yield finding


def _made(subject: str, check: Check) -> Finding | None:
    try:
        return check()
    except SpanwiseError as error:
        return fail(subject, str(error))  # which says what to do
    except Exception as error:  # whatever is broken, the other checks are still wanted
        return fail(subject, f"{type(error).__name__}: {error}", REINSTALL)
