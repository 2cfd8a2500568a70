"""`spanwise verify`: reads every byte of an index and says what is not as it was written."""

from __future__ import annotations

import typer

from .arguments import IndexOption, JsonOption, index_of
from .terminal import print_json, visible


def verify(index: IndexOption = None, json: JsonOption = False) -> None:
    """Check every byte of an index; one line for each thing that is wrong, and exit 1."""
    from ..status import verify as verified

    found = verified(index_of(index))
    if json:
        from ..status import verification_record

        print_json(verification_record(found))
    else:
        for problem in found.problems:
            print(visible(" ".join(problem.split())))
        if not found.problems:
            print(
                f"nothing wrong: {found.documents} documents, {found.passages} passages, "
                f"{found.bytes:,} bytes in {visible(str(found.index))}"
            )
    if found.problems:
        raise typer.Exit(1)
