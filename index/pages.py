"""The pages of an index that an engine recognised, a file for each, below `ocr/` in the index.

Each lies under the digest of its picture and of the engine, so nothing that was read is read again. The
metadata of a document name its pages.
"""

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from .files import make_folder, named_errors, publish, sha256_of, write_file

OCR = "ocr"
PAGE_KEY = re.compile(r"(?:^|, )([0-9]{1,6}) [0-9.]{1,6} ([0-9a-f]{64})")
Recognised = Mapping[str, object]
"""The fields of a `RecognisedPage`, which only child processes look into."""


def page_keys(metadata: Mapping[str, str]) -> dict[int, str]:
    """The keys of the recognised pages of a document, by the number of the page."""
    return {int(number): key for number, key in PAGE_KEY.findall(metadata.get(OCR, ""))}


class PageStore:
    """The recognised pages of an index. Threads and processes may share it."""

    def __init__(self, index: Path) -> None:
        self._folder = index / OCR

    def get(self, key: str) -> Recognised | None:
        """The page under a key; None without one, or for a damaged file."""
        with suppress(FileNotFoundError):
            digest, _, content = self._path(key).read_bytes().partition(b"\n")
            if digest == sha256_of(content).encode():
                page: Recognised = json.loads(content)
                return page
        return None

    def put(self, key: str, page: Recognised) -> None:
        """Keep a page under its key; it is durable on return."""
        content = json.dumps(page).encode()
        path = self._path(key)
        temporary = path.with_name(f"{uuid4().hex}.new")
        with named_errors(path):
            make_folder(path.parent)
            write_file(temporary, [sha256_of(content).encode(), b"\n", content])
            publish(temporary, path)

    def pages(self, keys: Mapping[int, str]) -> dict[int, Recognised]:
        """The pages under some keys, without those that are missing."""
        pages = {number: self.get(key) for number, key in keys.items()}
        return {number: page for number, page in pages.items() if page}

    def prune(self, keys: Collection[str]) -> None:
        """Delete all pages but those under some keys."""
        for path in self._folder.glob("*/*"):
            if path.stem not in keys:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def recognised_page(index: Path, metadata: Mapping[str, str], number: int) -> Recognised | None:
    """A page of a document as an engine read it; None for a page with text, or if it is not kept any more."""
    key = page_keys(metadata).get(number)
    stores = map(PageStore, [index, *index.glob("shard-*")])
    return next(filter(None, (store.get(key) for store in stores)), None) if key else None
