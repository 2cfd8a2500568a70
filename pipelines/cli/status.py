"""`spanwise status`: what an index holds."""

from __future__ import annotations

from .arguments import IndexOption, JsonOption, library_of
from .terminal import print_json, visible


def status(index: IndexOption = None, json: JsonOption = False) -> None:
    """Show what an index holds: documents, passages, vectors, model."""
    with library_of(None, index) as library:
        figures = library.status()
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):16} {visible(str(value))}")
    if figures["missing_vectors"]:
        lacking, root = figures["missing_vectors"], figures["root"]
        print(f"dense search lacks {lacking} passages; finish with: spanwise index {root}")
