"""The single retrievers that a name stands for, where those of plug-ins count as well."""

from __future__ import annotations

from .plugged import Plugged


def stages_named(name: str) -> list[str]:
    """The stages of a retriever; ValueError lists the known ones. Plug-ins are loaded only where named.

    >>> stages_named("hybrid")
    ['bm25', 'dense']
    """
    from ..retrieval.retrievers import stages_of

    return stages_of(name, Plugged().retrievers(name))
