"""`Library.adapt` and `Library.undo_adapt`: what they need is loaded when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanwise.types import ProgressCallback, no_progress

if TYPE_CHECKING:
    from ..colbert_setting import ColbertSetting
    from ..library import Library
    from .adaptation import Adaptation
    from .recipe import AdaptRecipe


def adapted(
    library: Library, recipe: AdaptRecipe | None = None, report: ProgressCallback = no_progress
) -> Adaptation:
    """Trains the model of token vectors on the documents; the index takes it only when it is better."""
    from .adapt import adapt

    return adapt(library, recipe, report)


def undone(library: Library, report: ProgressCallback = no_progress) -> ColbertSetting | None:
    """Goes back to the model of token vectors before the last adaptation, and encodes by it again."""
    from .install import undo

    return undo(library, report)
