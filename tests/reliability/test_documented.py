"""The page on reliability and the tests speak of the same promises."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "reliability.md"


def test_every_promise_that_is_tested_is_explained() -> None:
    tested = {int(path.name[6:8]) for path in TESTS.glob("reliability/test_t*.py")}
    for path in TESTS.rglob("test_*.py"):
        tested |= {int(number) for number in re.findall(r'promise\("T(\d+)"\)', path.read_text("utf-8"))}
    explained = {
        int(number) for number in re.findall(r"^\| T(\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    }
    assert tested <= explained
