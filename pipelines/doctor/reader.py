"""The reader: whether it finds answers, and whether it can say that there is none."""

from __future__ import annotations

from .finding import Finding, ok, warn


def check_reader(name: str) -> Finding:
    """Whether the reader loads; worth a look where its null score does not tell what a passage lacks."""
    from ...reader.load import load_reader

    if load_reader(name).answers_null:
        return ok("reader", f"{name} reads, and declines what a passage does not answer")
    advice = "choose another one, or train it on with: spanwise train reader --absent article=0.33"
    return warn("reader", f"{name} reads, and cannot decline: its null score tells nothing", advice)
