"""Puts an adapted model into an index and takes it out again, with all its vectors, in one commit.

The order: the model's files, durably; then the vectors of all passages, the settings, and the end of the old
vectors at once; then the files of models that nothing names any more. A kill at any moment leaves the index
searched by a model that is there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.errors import ModelMismatch
from spanwise.types import ProgressCallback, no_progress

from ...index.atomic import make_folder, publish, sync_directory
from ...index.faults import named_faults
from ..colbert_setting import ColbertSetting
from ..own_models import UNFINISHED, check_own_model, own_folder, placed, portable, remove_others
from ..token_sync import switch_tokens
from .history import Installed, before_of, history_of, history_setting, in_use, used_models

if TYPE_CHECKING:
    from ..library import Library

_MODEL_FILES = (".json", ".safetensors", ".txt", ".md")


def install(
    library: Library, model: Path, figures: Mapping[str, Any], report: ProgressCallback = no_progress
) -> str:
    """Takes the model of a folder for the token vectors of the index; its digest."""
    from ...models.token_models import token_model_digest

    index, held = library.store.path, library.colbert
    digest = token_model_digest(str(model))
    folder = own_folder(index, digest)
    remove_others(index, used_models(library.store.settings, index))
    if not folder.is_dir():
        with named_faults(index):
            _copy(model, folder)
    new = ColbertSetting(str(folder)) if held is None else ColbertSetting(str(folder), held.bits, held.pool)
    past = history_of(library.store.settings) if in_use(library.store.settings, index) else []
    before = before_of(held and portable(held, index))
    _switch(library, new, [*past, Installed(digest, before, figures)], report)
    return digest


def undo(library: Library, report: ProgressCallback = no_progress) -> ColbertSetting | None:
    """Goes back to the model before the last adaptation and encodes all passages by it; that setting.

    ModelMismatch when the index is not searched by an adapted model.
    """
    settings, index = library.store.settings, library.store.path
    last = in_use(settings, index)
    if last is None:
        raise ModelMismatch(f"the token vectors of {index} are not by an adapted model: nothing to undo")
    before = ColbertSetting.of(last.before)
    setting = before and placed(before, index)
    _switch(library, setting, history_of(settings)[:-1], report)
    return setting


def _switch(
    library: Library, setting: ColbertSetting | None, history: list[Installed], report: ProgressCallback
) -> None:
    from ...models.token_encoder import load_token_encoder

    index = library.store.path
    encoder = None
    if setting is not None:
        encoder = load_token_encoder(setting.name)
        check_own_model(setting.name, index, encoder.digest)
    settings = before_of(setting and portable(setting, index)) | history_setting(history)
    switch_tokens(library.store, encoder, setting, settings, report)
    remove_others(index, used_models(library.store.settings, index))


def _copy(model: Path, folder: Path) -> None:
    """The model's own files, and not the checkpoints beside them; whole or not at all."""
    make_folder(folder.parent)
    unfinished = folder.parent / UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    for path in sorted(model.iterdir()):
        if path.is_file() and path.suffix in _MODEL_FILES:
            shutil.copyfile(path, unfinished / path.name)
            with (unfinished / path.name).open("rb") as file:
                os.fsync(file.fileno())
    publish(unfinished, folder)
    sync_directory(folder.parent.parent)
