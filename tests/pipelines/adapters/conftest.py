"""Frameworks that tell nobody, and documents that are hard to count in."""

from __future__ import annotations

import os

import pytest
from made_texts import PIECES

import spanwise

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when haystack is imported
os.environ["LANGSMITH_TRACING"] = "false"

HOSTILE = "\n".join(
    [
        "🂡 e\u0301\r\n\u202e" + " ".join(PIECES),
        "The mill 👩‍🔬 at the weir burned.\n",
        "𝔘𝔫𝔦 The mill again\n",
    ]
)


@pytest.fixture(scope="session")
def searched(tmp_path_factory):
    """A library over plain and hostile texts, which no test writes to."""
    folder = tmp_path_factory.mktemp("searched")
    (folder / "hostile.txt").write_text(HOSTILE, encoding="utf-8")
    (folder / "mill.md").write_text("# The mill\n\nThe mill was built in 1811 by Ada Rook.\n")
    (folder / "tram.txt").write_text("The tram runs every ten minutes past the mill.\n")
    with spanwise.open(folder) as library:
        library.sync(vectors=False, workers=1)
        yield library
