"""Whether an index keeps token vectors up, and of which model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAME = "colbert"
NONE = "none"  # the name that stands for no model


@dataclass(frozen=True, slots=True)
class ColbertSetting:
    """The `name` of the model that token vectors are made with."""

    name: str

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ColbertSetting | None:
        """The setting of an index; None when it keeps no token vectors."""
        name = settings.get(NAME)
        return cls(name) if name else None

    def settings(self) -> dict[str, str]:
        """What an index stores."""
        return {NAME: self.name}


NO_COLBERT = {NAME: ""}
"""The settings of an index that keeps no token vectors."""


def is_undecided(settings: Mapping[str, str]) -> bool:
    """Whether token vectors were never switched on or off; then none are kept."""
    return NAME not in settings


def wanted_setting(name: str) -> ColbertSetting:
    """The setting for a model, by a name that means the same wherever a command is run.

    Raises ModelNotFound or ModelRejected for a model that cannot be loaded.
    """
    from ..models.token_models import absolute_token_name, token_model_digest

    absolute = absolute_token_name(name)
    token_model_digest(absolute)
    return ColbertSetting(absolute)
