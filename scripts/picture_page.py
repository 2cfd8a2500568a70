"""Takes the picture of the page in docs/page.png: an answer from the sample corpus beside its document.

Run from the root: python scripts/picture_page.py [FILE]. It needs playwright and an installed Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Why is the Eskery Psalter shown for only one month in the year?"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 200_000
STARTS_S = 60.0


def main() -> None:
    """Indexes the sample corpus in a folder that goes away, serves it, and takes the picture."""
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "page.png"
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch) / "index"
        sample = str(ROOT / "corpora" / "sample" / "docs")
        spanwise = [sys.executable, "-m", "spanwise"]
        subprocess.run([*spanwise, "index", sample, "--index", index, "--colbert", "builtin"], check=True)
        log = Path(scratch) / "log"
        with log.open("wb") as stderr:
            server = subprocess.Popen([*spanwise, "serve", "--index", index, "--port", "0"], stderr=stderr)
        try:
            take(address(log), picture)
        finally:
            server.terminate()
            server.wait()
    size = picture.stat().st_size
    print(f"{picture}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"the picture is larger than {MOST_BYTES:,} bytes")


def address(log: Path) -> str:
    """The address that the server says it listens at."""
    late = time.monotonic() + STARTS_S
    while time.monotonic() < late:
        if found := re.search(r" at (http://\S+)", log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.1)
    sys.exit(f"the server did not start: {log.read_text(encoding='utf-8')}")


def take(url: str, picture: Path) -> None:
    """Asks the question and keeps what is to be seen."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(url)
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#document-body mark.current")
        page.wait_for_selector("#progress", state="hidden")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
