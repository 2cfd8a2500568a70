"""A made folder, indexed and served by a real process, and a browser without a window to look at its page."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from made_files import pdf_of
from visited_page import Site, Visit, serving, spanwise

KEEPER_PAGE, N_PAGES = 137, 200
KEEPER = "The keeper of the lighthouse on Gannet Rock was Tomas Hale."
HOSTILE_NAME = "<img src=x onerror=canary()>.md"
DEEDS = "<script>canary()</script><img src=x onerror='canary()'><a href='javascript:canary()'>x</a>"
FILES = {
    "mill.md": "# The mill 𝄞\n\nA song 𝄞𝄞 of the mill 🌊🌊 is sung.\n\n## Its founder\n\n"
    "The mill on the river was founded by Ada Rook 🌊 in 1790. It ground barley for the valley.\n",
    "letters/rook.txt": "Dear sister,\n\nyou ask who founded the mill on the river. "
    "It was founded by Ada Rook.\n",
    "letters/falk.txt": "The tram of the town was opened by Ute Falk in 1903, and the mayor fell asleep.\n",
    "prices/2019.txt": "In 2019 a ticket for the ferry to the island cost four crowns.\n",
    "prices/2024.txt": "In 2024 a ticket for the ferry to the island cost seven crowns.\n",
    "rtl.txt": "הטחנה נוסדה בשנת 1790.\n\n"
    "The old bakery of the harbour \u202e\u200bwas painted by Noa Levi in green.\n",
    HOSTILE_NAME: f"# {DEEDS}\n\n"
    f"The depot of the trams {DEEDS} was designed by Jonas Teal {DEEDS} in 1911.\n",
}


def made_pdf() -> bytes:
    """Two hundred pages, one of which says who the keeper was, on its second line."""
    pages = [
        [f"Page {number} of the log of the harbour.", f"Nothing happened on day {number}."]
        for number in range(1, N_PAGES + 1)
    ]
    pages[KEEPER_PAGE - 1][1:] = [KEEPER]
    return pdf_of(pages, title="Log of the harbour")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("page") / "notes"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "log.pdf").write_bytes(made_pdf())
    subprocess.run(spanwise("index", str(folder), "--colbert", "builtin"), check=True, capture_output=True)
    yield from serving(folder)


@pytest.fixture(scope="session")
def guarded(site: Site) -> Iterator[Site]:
    """The same folder behind a token."""
    yield from serving(site.folder, SPANWISE_SERVE_TOKEN="a token of the tests")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Ends with the module: while it is open, nothing else in this thread can run an event loop."""
    sync_api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is installed")
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Visit]:
    """A wide page, opened; it must not have complained, nor asked anybody else."""
    made = Visit(browser, site)
    yield made.open()
    made.context.close()
    assert made.complaints == []
    assert made.outside() == []
