"""`spanwise status`: what an index holds."""

from __future__ import annotations

from .arguments import IndexOption, JsonOption, library_of
from .terminal import print_json, visible


def status(index: IndexOption = None, json: JsonOption = False) -> None:
    """Show what an index holds: documents, passages, vectors, model."""
    with library_of(None, index) as library:
        figures, command = library.status(), library.sync_command
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):16} {visible(str(value))}")
    if figures["missing_vectors"]:
        lacking = figures["missing_vectors"]
        print(f"dense search lacks {lacking} passages; finish with: {command}")
