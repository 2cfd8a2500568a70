"""All checks, the quick ones first: torch is imported by the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spanwise.errors import SpanwiseError

from . import health, index, installation, machine
from .extras import EXTRAS, check_extra
from .finding import Finding, fail
from .generator import check_generator
from .plug_ins import check_plugins
from .port import check_port
from .reader import check_reader
from .weights import check_gpu, check_weights

Check = Callable[[], Finding | None]
REINSTALL = "install spanwise again; README.md says how"


def checkup(
    named: Path | None, start: Path, reader: str = "builtin", generator: str | None = None
) -> Iterator[Finding]:
    """One finding a check, as they are made: this machine, and the index named or the nearest above `start`.

    The address of a `generator` is asked only when one is named; nothing else leaves this machine.
    Nothing that is broken stops it: a check that breaks down is a finding, too.
    """
    path = index.find_index(named, start)
    checks: dict[str, Check] = {
        "python": installation.check_python,
        "packages": installation.check_packages,
        **{extra: partial(check_extra, extra) for extra in EXTRAS},
        "plug-ins": check_plugins,
        "tesseract": installation.check_tesseract,
        "encoding": machine.check_encoding,
        "cores": machine.check_cores,
        "memory": machine.check_memory,
        "disk": partial(machine.check_disk, start if path is None else path),
        "watches": machine.check_watches,
        "port": check_port,
        "weights": check_weights,
        "model": partial(index.check_model, path),
        "rerank": index.check_rerank,
        "index": partial(index.check_no_index, named),
    }
    if path is not None:
        checks |= {"index": partial(index.check_index, path), "folders": partial(index.check_roots, path)}
        checks |= {"age": partial(health.check_age, path), "damage": partial(health.check_damage, path)}
        checks |= {"room": partial(health.check_room, path)}
    if generator is not None:
        checks |= {"generator": partial(check_generator, generator)}
    checks |= {"faiss": installation.check_faiss, "torch": installation.check_torch, "gpu": check_gpu}
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
