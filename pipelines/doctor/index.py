"""The index, its folders and its model."""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import IndexNotFound, SpanwiseError

from ...index.store import Store
from ...models import token_models
from ...models.sides import folders_of, model_digest
from ..library import Library
from ..locations import is_writable, nearest_index, resolve_index
from .finding import Finding, fail, ok, warn


def find_index(named: Path | None, start: Path) -> Path | None:
    """The index named, or the nearest one upward; None when there is none."""
    try:
        return nearest_index(start) if named is None else resolve_index(named)
    except IndexNotFound:
        return None


def check_no_index(named: Path | None) -> Finding:
    """A failure when an index was named that is none, otherwise worth a look."""
    advice = "make one with: spanwise index FOLDER"
    return warn("index", "none here", advice) if named is None else fail("index", f"none at {named}", advice)


def check_index(path: Path) -> Finding:
    """Whether the index opens, its last commit is whole, and how much it holds."""
    with Store.open(path) as store, store.snapshot() as snapshot:
        seen = f"{snapshot.n_documents} documents, {snapshot.n_passages} passages in {path}"
    if not is_writable(path):
        return warn("index", f"{seen}, read-only", "it can be searched, but not brought up to date")
    return ok("index", f"{seen} (spanwise verify checks every byte)")


def check_roots(path: Path) -> Finding:
    """Whether the indexed folders are there."""
    with Library(Store.open(path)) as library:
        folders = [root.folder for root in library.roots]
        command = library.sync_command
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    if missing:
        advice = f"bring it back, or take it out with: {command} --drop FOLDER"
        return warn("folders", f"{', '.join(missing)} missing", advice)
    return ok("folders", ", ".join(map(str, folders)))


def check_model(path: Path | None) -> Finding:
    """Whether the encoder is there and, for the base, has the digest that it should have."""
    name = _model_of(path)
    return ok("model", f"{name} in {' and '.join(map(str, folders_of(name)))}")


def check_vectors(path: Path) -> Finding:
    """Whether each passage has a vector of the model that questions are encoded with."""
    with Library(Store.open(path)) as library, library.store.snapshot() as snapshot:
        digest = model_digest(library.model)
        n_passages, having = snapshot.n_passages, snapshot.vector_models().get(digest, 0)
        command = library.sync_command
    seen = f"{having} of {n_passages} passages have one of this model"
    if having < n_passages:
        return warn("vectors", seen, f"dense search lacks the others; finish with: {command}")
    return ok("vectors", seen)


def check_colbert(path: Path) -> Finding | None:
    """Whether the model of the token vectors is there, and each passage has some; None when none are kept."""
    with Library(Store.open(path)) as library:
        if library.colbert is None:
            return None
        name, command = library.colbert.name, library.sync_command
        digest = token_models.token_model_digest(name)
        with library.reading() as snapshot:
            n_passages, having = snapshot.n_passages, snapshot.token_models().get(digest, 0)
    seen = f"{having} of {n_passages} passages have token vectors of {name}"
    if having < n_passages:
        return warn("colbert", seen, f"search by tokens lacks the others; finish with: {command}")
    return ok("colbert", seen)


def _model_of(path: Path | None) -> str:
    if path is None:
        return "base"
    try:
        with Library(Store.open(path)) as library:
            return library.model
    except SpanwiseError:
        return "base"  # what is wrong with the index is said by its own check
