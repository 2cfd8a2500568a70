"""The account of one sync: every file found is booked once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spanwise.types import Rejection, Remark, SyncReport


@dataclass
class Tally:
    """Grows while a sync goes on; `report` closes it."""

    found: int
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    unchanged: int = 0
    rejected: list[Rejection] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: list[Remark] = field(default_factory=list)

    def report(self, passages: int, reused_vectors: int, seconds: float) -> SyncReport:
        """The account in its final form, ids in order."""
        return SyncReport(
            added=tuple(sorted(self.added)),
            updated=tuple(sorted(self.updated)),
            deleted=tuple(sorted(self.deleted)),
            unchanged=self.unchanged,
            rejected=tuple(sorted(self.rejected, key=lambda rejection: rejection.document_id)),
            skipped=dict(sorted(self.skipped.items())),
            remarks=tuple(sorted(self.remarks, key=lambda remark: remark.document_id)),
            found=self.found,
            reused_vectors=reused_vectors,
            passages=passages,
            seconds=round(seconds, 3),
        )
