"""Disk, memory, cores, encodings: what the machine has to offer."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from .finding import Finding, fail, ok, warn

LEAST_DISK, GOOD_DISK = 100e6, 2e9  # bytes
GOOD_MEMORY = 2e9
LEAST_WATCHES = 8_192
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


def check_encoding() -> Finding:
    """Whether names and output are UTF-8."""
    files, output = sys.getfilesystemencoding(), getattr(sys.stdout, "encoding", None) or "none"
    seen = f"file names {files}, output {output}"
    if {files.lower().replace("-", ""), output.lower().replace("-", "")} - {"utf8", "none"}:
        return warn("encoding", seen, "set PYTHONUTF8=1, or a UTF-8 locale such as LANG=C.UTF-8")
    return ok("encoding", seen)


def check_cores() -> Finding:
    """How many cores this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if usable < 2:
        return warn("cores", "1", "files are read and encoded on one core")
    return ok("cores", str(usable))


def check_memory() -> Finding:
    """How much memory there is."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    seen = f"{total / 1e9:.1f} GB"
    if total < GOOD_MEMORY:
        return warn("memory", seen, "index with --workers 1, or with --lexical-only")
    return ok("memory", seen)


def check_disk(folder: Path) -> Finding:
    """Whether the disk that an index is on has room."""
    usage = shutil.disk_usage(folder)
    seen = f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f} GB at {folder}"
    if usage.free < LEAST_DISK:
        return fail("disk", seen, "free some space")
    if usage.free < GOOD_DISK:
        return warn("disk", seen, "an index that grows needs room for a second copy of itself")
    return ok("disk", seen)


def check_watches() -> Finding:
    """How many folders `--watch` can listen to."""
    if not WATCHES.is_file():
        return ok("watches", "no limit is known")
    limit = int(WATCHES.read_text(encoding="ascii"))
    if limit < LEAST_WATCHES:
        advice = "sudo sysctl fs.inotify.max_user_watches=524288, or WATCHFILES_FORCE_POLLING=1"
        return warn("watches", f"{limit:,} folders", advice)
    return ok("watches", f"{limit:,} folders")
