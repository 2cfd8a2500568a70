"""What an index is set to: its folders, its models, the recall of its searches."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from spanwise.errors import ModelMismatch

from ..index.analysis import Analyzer
from ..index.ann import RECALL
from ..index.store import Store
from .colbert_setting import NO_COLBERT, NONE, ColbertSetting, is_undecided, wanted_setting
from .roots import Root, read_roots, roots_setting, with_folders, without_folders

MODEL = "model"
RECALL_SETTING = "recall"


def model_setting(model: str) -> str:
    """The name of a model as an index keeps it: it means the same wherever a command is run."""
    from ..models.locate import absolute_name

    return absolute_name(model)


class IndexSettings:
    """The settings of one store, read and written; each change is a commit of its own."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def roots(self) -> tuple[Root, ...]:
        """The indexed folders; one that moved together with its `.spanwise` is found where it is now."""
        return read_roots(self.store.settings, self.store.path)

    def add(self, folders: Sequence[Path]) -> None:
        """Takes folders in that are not there yet; their documents come with the next `sync`."""
        self._keep(with_folders(self.roots, folders))

    def drop(self, folders: Sequence[Path]) -> None:
        """Takes folders out, which need not exist any more; their documents go with the next `sync`."""
        self._keep(without_folders(self.roots, folders))

    @property
    def model(self) -> str:
        """The name of the encoder that the dense vectors are made with."""
        return self.store.settings[MODEL]

    def require_model(self, model: str | None) -> None:
        """Raises ModelMismatch when this index was made with another model."""
        if model not in (None, self.model) and model_setting(str(model)) != self.model:
            raise ModelMismatch(
                f"{self.store.path} was made with the model {self.model!r}, not {model!r}; "
                f"make another index with: spanwise index FOLDER --model {model} --index OTHER"
            )

    @property
    def colbert(self) -> ColbertSetting | None:
        """The model that token vectors are made with, and how they are stored; None when there are none."""
        return ColbertSetting.of(self.store.settings)

    def use_colbert(self, name: str | None) -> None:
        """Keeps token vectors of this model up from the next `sync` on; None or "none" drops them for good.

        Vectors of another model are dropped at once and all passages are encoded again. Raises ModelNotFound
        or ModelRejected for a model that cannot be loaded; then nothing changes.
        """
        if name in (None, NONE):
            if self.colbert is not None or is_undecided(self.store.settings):
                self._put(NO_COLBERT, drop_tokens=True)
            return
        wanted = wanted_setting(str(name))
        if wanted != self.colbert:
            self._put(wanted.settings(), drop_tokens=True)

    def require_colbert(self, name: str) -> None:
        """Sets the model of token vectors when none is set; raises ModelMismatch when they are others."""
        held, wanted = self.colbert, wanted_setting(name)
        if held is not None and wanted != held:
            raise ModelMismatch(
                f"the token vectors of {self.store.path} are of the model {held.name!r}, "
                f"not of {wanted.name!r}; replace them with: {self.sync_command} "
                f"--colbert {shlex.quote(name)}"
            )
        self.use_colbert(name)

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with."""
        return Analyzer.from_settings(self.store.settings)

    @property
    def recall(self) -> float:
        """The share of the exact top 10 that an approximate search should find."""
        return float(self.store.settings.get(RECALL_SETTING, RECALL))

    @recall.setter
    def recall(self, share: float) -> None:
        if not 0 < share < 1:
            raise ValueError(f"recall must be above 0 and below 1, not {share}; for all of it search exactly")
        if share != self.recall:
            self._put({RECALL_SETTING: str(share)})

    @property
    def sync_command(self) -> str:
        """The command that brings this index up to date."""
        return f"spanwise index --index {shlex.quote(str(self.store.path))}"

    def _keep(self, roots: Sequence[Root]) -> None:
        if roots != self.roots:
            self._put(roots_setting(roots, self.store.path))

    def _put(self, settings: Mapping[str, str], drop_tokens: bool = False) -> None:
        with self.store.writer() as writer:
            for key, value in settings.items():
                writer.set(key, value)
            if drop_tokens:
                with self.store.snapshot() as snapshot:
                    models = snapshot.token_models()
                for model in models:
                    writer.drop_tokens(model)
            writer.commit()
