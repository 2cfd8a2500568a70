"""What became of a file that is no document of the index, and whether that of a document is what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...corpora.passed_over import passed_over
from ...index.rows import FileState, Refusal
from ..named import Named
from ..roots import Root

FileStage = Literal["outside", "ignored", "refused", "pending"]


@dataclass(frozen=True, slots=True)
class FileFate:
    """Why a file is not indexed, and what would change it."""

    stage: FileStage
    reason: str
    advice: str


def file_fate(
    one: Named, refusals: Mapping[str, Refusal], roots: Sequence[Root], sync_command: str
) -> FileFate:
    """Why the file is no document; it must not be one."""
    if refusal := refusals.get(one.id):
        return FileFate(
            "refused",
            f"it was found and {refusal.kind}: {refusal.reason}",
            f"mend the file and run: {sync_command}",
        )
    if one.root is None:
        folders = ", ".join(str(root.folder) for root in roots) or "none"
        advice = f"take its folder in with: {sync_command} FOLDER"
        return FileFate("outside", f"it lies in none of the indexed folders ({folders})", advice)
    if reason := passed_over(one.root.folder, one.place):
        return FileFate("ignored", reason, "")
    return FileFate("pending", "it is there and was not indexed yet", f"run: {sync_command}")


def changes(one: Named, state: FileState | None, sync_command: str) -> list[str]:
    """What happened to the file of an indexed document since it was read."""
    if one.root is None or state is None:
        return []
    try:
        now = (one.root.folder / one.place).stat()
    except OSError:
        return [f"its file is gone or cannot be looked at; run: {sync_command}"]
    if (now.st_size, now.st_mtime_ns) != (state.size, state.mtime_ns):
        return [f"its file has changed since it was indexed; run: {sync_command}"]
    return []
