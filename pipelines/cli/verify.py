"""`spanwise verify`: reads every byte of an index and says what is not as it was written."""

from __future__ import annotations

from pathlib import Path

import typer

from ...index.store import Store
from ..adapt.history import used_models
from ..disk_usage import bytes_below
from ..own_models import own_problems
from .arguments import IndexOption, JsonOption, index_of
from .terminal import print_json, visible


def verify(index: IndexOption = None, json: JsonOption = False) -> None:
    """Check every byte of an index; one line for each thing that is wrong, and exit 1."""
    path = index_of(index)
    problems, checked = _checked(path)
    if json:
        print_json({"index": str(path), "problems": problems, "checked": checked})
    else:
        for problem in problems:
            print(visible(" ".join(problem.split())))
        if not problems:
            print(
                f"nothing wrong: {checked['documents']} documents, {checked['passages']} passages, "
                f"{checked['bytes']:,} bytes in {visible(str(path))}"
            )
    if problems:
        raise typer.Exit(1)


def _checked(path: Path) -> tuple[list[str], dict[str, int]]:
    """The problems of an index, and how much was looked at when there is none."""
    with Store.open(path) as store:
        problems = store.verify()
        if not problems:
            problems = own_problems(path, used_models(store.settings, path))
        if problems:
            return problems, {}
        with store.snapshot() as snapshot:
            counts = {"documents": snapshot.n_documents, "passages": snapshot.n_passages}
    return [], {**counts, "bytes": bytes_below(path)}
