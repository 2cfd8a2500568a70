"""A server of the page in a process of its own, and a visit to it by a browser without a window."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

WIDE = {"width": 1300, "height": 850}
PATIENCE_MS = 120_000  # on a busy machine models take long to load, and a sync, too


@dataclass(frozen=True)
class Site:
    """A folder and the server of its index."""

    folder: Path
    url: str

    def sync(self) -> None:
        """Brings the index up to date by another process."""
        subprocess.run(spanwise("index", str(self.folder)), check=True, capture_output=True)

    def post(self, path: str, **body: Any) -> Any:
        """The answer of the server, without the page."""
        request = Request(self.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        with urlopen(request, timeout=60) as response:
            return json.load(response)

    def text(self, document: str) -> str:
        """The stored text of a document."""
        with urlopen(f"{self.url}api/document?id={quote(document)}", timeout=60) as response:
            return str(json.load(response)["text"])


def spanwise(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "spanwise", *arguments]


def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[Site]:
    """The site, as long as it is iterated."""
    log = folder.parent / "server.log"
    with log.open("wb") as stderr:
        command = spanwise("serve", str(folder), "--port", "0", "--timeout", "120", *arguments)
        process = subprocess.Popen(command, stderr=stderr, env={**os.environ, **environment})
    try:
        yield Site(folder, address_of(process, log))
    finally:
        process.terminate()
        process.wait(60)


def address_of(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address that a server says it listens at."""
    while process.poll() is None:
        if found := re.search(r" at (http://\S+)", log.read_text()):
            return found[1]
    raise AssertionError(f"the server ended: {log.read_text()}")


class Visit:
    """A page of the browser, all that it asked for, and all that it complained of."""

    def __init__(self, browser: Any, site: Site, **options: Any) -> None:
        self.site = site
        self.context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text)
        )

    def open(self, fragment: str = "") -> Visit:
        """The page, loaded."""
        self.page.goto(self.site.url + fragment)
        return self

    def ask(self, question: str) -> Visit:
        """The question typed and asked; returns when an answer, or that there is none, is shown."""
        self.page.fill("#question", question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#best, #absent")
        return self

    def text(self, selector: str) -> str:
        """The text of the first match."""
        return str(self.page.locator(selector).first.text_content())

    def until(self, condition: str, argument: Any = None) -> None:
        """Waits for a condition of the page, whose policy forbids to look for it there by a string."""
        late = time.monotonic() + PATIENCE_MS / 1000
        while not self.page.evaluate(condition, argument):
            assert time.monotonic() < late, f"waited in vain for {condition} ({argument})"
            self.page.wait_for_timeout(50)

    def marked(self) -> str:
        """The marked words of the current place in the open document."""
        self.page.wait_for_selector("#document-body mark.current")
        return "".join(self.page.locator("#document-body mark.current").all_text_contents())

    def outside(self) -> list[str]:
        """What it asked of anybody but the server."""
        home = urlsplit(self.site.url).netloc
        return [url for url in self.requests if not url.startswith("blob:") and urlsplit(url).netloc != home]
