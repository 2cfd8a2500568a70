"""Whether an index keeps token vectors up, of which model, and how they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAME, BITS, POOL = "colbert", "colbert_bits", "colbert_pool"
KNOWN_BITS = (2, 4, 8)
NONE = "none"  # the name that stands for no model


@dataclass(frozen=True, slots=True)
class ColbertSetting:
    """The `name` of the model, the `bits` of a stored number, and how many tokens share a vector (`pool`)."""

    name: str
    bits: int = 4
    pool: int = 1

    def __post_init__(self) -> None:
        """Refuse what no index can store."""
        if self.bits not in KNOWN_BITS:
            raise ValueError(f"the bits of a token vector must be one of 2, 4, 8, not {self.bits}")
        if self.pool < 1:
            raise ValueError(f"at least 1 token shares a vector, not {self.pool}")

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ColbertSetting | None:
        """That of an index; None when it keeps no token vectors."""
        name = settings.get(NAME)
        return cls(name, int(settings[BITS]), int(settings[POOL])) if name else None

    def settings(self) -> dict[str, str]:
        """What an index remembers."""
        return {NAME: self.name, BITS: str(self.bits), POOL: str(self.pool)}


NO_COLBERT = {NAME: "", BITS: "", POOL: ""}
"""The settings of an index that is to keep no token vectors."""


def is_undecided(settings: Mapping[str, str]) -> bool:
    """Whether nobody ever said if an index is to keep token vectors; then none are kept."""
    return NAME not in settings


def wanted_setting(
    held: ColbertSetting | None, name: str, bits: int | None = None, pool: int | None = None
) -> ColbertSetting:
    """What an index of `held` is to be set to; what is not given stays.

    The name is made to mean the same wherever a command is run. ModelNotFound or ModelRejected for a model
    that cannot be had, `ValueError` for other numbers than an index can store.
    """
    from ..models.locate import absolute_name, model_digest

    held = held or ColbertSetting(name)
    absolute = absolute_name(name)
    wanted = ColbertSetting(
        absolute, held.bits if bits is None else bits, held.pool if pool is None else pool
    )
    model_digest(absolute, "token-encoder")
    return wanted
