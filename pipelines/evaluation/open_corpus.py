"""The paragraphs that open-domain questions are asked over, in an index that is made once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..folders import resolve_index
from ..library import Library
from ..open import open_index
from ..paragraph_index import document_id_of, paragraph_library, put_paragraphs

BASE_MODEL = "base"


@dataclass(frozen=True, slots=True)
class OpenCorpus:
    """What is searched: an index that is there or will be made, its documents by id, its encoder."""

    index: Path
    contexts: tuple[str, ...]
    document_ids: tuple[str, ...]
    model: str

    @classmethod
    def plan(cls, index: Path, contexts: Sequence[str], model: str | None = None) -> OpenCorpus:
        """The corpus of these paragraphs, with nothing written yet.

        An index that is there may hold more documents, which are searched too. ValueError: it lacks some of
        the paragraphs. ModelMismatch: it has another model. IndexNotFound: the place holds something else.
        """
        wanted = {document_id_of(context) for context in contexts}
        held: set[str] = set()
        if _is_there(index):
            with open_index(index) as library:
                library.require_model(model)
                model, held = library.model, set(library.snapshot.files())
        if missing := held and wanted - held:
            raise ValueError(
                f"{index} lacks {len(missing)} of the {len(wanted)} paragraphs of these files: "
                "name another --index, or a new one to be made"
            )
        return cls(index, tuple(contexts), tuple(sorted(held or wanted)), model or BASE_MODEL)

    def open(self) -> Library:
        """The library, made of the paragraphs unless that was done before; vectors may be missing."""
        paragraphs = [("", context) for context in self.contexts]
        if not _is_there(self.index):
            return paragraph_library(paragraphs, self.index, self.model)
        library = open_index(self.index)
        with library.store.snapshot() as snapshot:
            stopped_early = not snapshot.n_documents and not library.roots
        if stopped_early:
            put_paragraphs(library, paragraphs)
        return library


def _is_there(index: Path) -> bool:
    """False for a place where an index can be made; IndexNotFound when it holds something else."""
    if not index.exists() or (index.is_dir() and not any(index.iterdir())):
        return False
    resolve_index(index)
    return True
