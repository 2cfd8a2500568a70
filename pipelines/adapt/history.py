"""What was installed in an index, in order: each adapted model, what was set before it, and what it gained.

The settings keep it as one JSON value, so that it changes in the same commit as the model searched by.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..colbert_setting import NO_COLBERT, ColbertSetting
from ..own_models import own_digest, placed

ADAPTED = "colbert_adapted"


@dataclass(frozen=True, slots=True)
class Installed:
    """An adapted model by its `digest`, the settings of token vectors `before` it, and its `figures`."""

    digest: str
    before: Mapping[str, str]
    figures: Mapping[str, Any]


def history_of(settings: Mapping[str, str]) -> list[Installed]:
    """All that can be gone back on, the last one last."""
    return [Installed(**each) for each in json.loads(settings.get(ADAPTED) or "[]")]


def history_setting(history: Sequence[Installed]) -> dict[str, str]:
    """What an index remembers of it."""
    return {ADAPTED: json.dumps([asdict(each) for each in history], sort_keys=True)}


def in_use(settings: Mapping[str, str], index: Path) -> Installed | None:
    """The adapted model that the index is searched by; None when it is another one."""
    setting, history = ColbertSetting.of(settings), history_of(settings)
    digest = own_digest(placed(setting, index).name, index) if setting else None
    return history[-1] if history and digest == history[-1].digest else None


def used_models(settings: Mapping[str, str], index: Path) -> set[str]:
    """The digests of the models of the index that are searched by, or can be gone back to."""
    history = history_of(settings) if in_use(settings, index) else []
    kept = [ColbertSetting.of(each) for each in (settings, *(one.before for one in history))]
    names = [placed(setting, index).name for setting in kept if setting is not None]
    return {digest for name in names if (digest := own_digest(name, index)) is not None}


def before_of(setting: ColbertSetting | None) -> dict[str, str]:
    """The settings of token vectors that bring this one back; `setting` as an index keeps it."""
    return dict(NO_COLBERT) if setting is None else setting.settings()
