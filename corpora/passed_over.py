"""Why the walk of a folder does not come to a file: the part of its path that is left alone, and the rule."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from spanwise.errors import DocumentRejected

from .folder import OWN, PARTS_OF_INDEX, reason_to_skip
from .ignore import NAME, IgnoreRules, parse_rules
from .opening import read_regular


def passed_over(root: Path, place: str) -> str:
    """Why the walk of `root` leaves alone what is at this path below it; empty when it comes there.

    `OSError` when there is nothing.
    """
    rules: IgnoreRules | None = None
    folder = ""
    for name in place.split("/"):
        here = folder + name
        if all(os.path.lexists(root / folder / part) for part in PARTS_OF_INDEX):
            return f"{folder or root} is an index"
        rules = _rules_in(root, folder, rules)
        mode = os.lstat(root / here).st_mode
        if name in OWN:
            return f"{here} belongs to spanwise itself"
        if reason := reason_to_skip(name, mode):
            return f"{here} is passed over: {reason}"
        decided = rules.deciding(here, stat.S_ISDIR(mode)) if rules else None
        if decided is not None and not decided[1].negated:
            return f"{here} is ignored by the rule {decided[1].text!r} in {decided[0]}{NAME}"
        folder = here + "/"
    return ""


def _rules_in(root: Path, folder: str, above: IgnoreRules | None) -> IgnoreRules | None:
    if not os.path.lexists(root / folder / NAME):
        return above
    try:
        own, _ = parse_rules(read_regular(root, folder + NAME))
    except DocumentRejected:  # which the walk reports; the rules are not in force
        return above
    return IgnoreRules(folder, own, above)
