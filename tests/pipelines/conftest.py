"""A small folder, a tiny encoder and a tiny reader that the tests of this folder share."""

import shutil
from pathlib import Path

import pytest
from helpers.tiny_models import tiny_encoder, tiny_span_model
from helpers.word_encoders import WordEncoder

import spanwise
from spanwise.errors import ModelNotFound
from spanwise.models import model_files
from spanwise.pipelines.cli import main

MILL = """# The mill

The mill was built in 1811 by Ada Rook.

## Rules

Visitors must:

- keep off the stones
- leave by six
"""
WEIR = "<title>Weir</title><body><h1>The weir</h1><p>The weir was raised in 1920.</p></body>"
FILES = {
    "mill.md": MILL,
    "tram.txt": "The tram runs every ten minutes.\nIt was opened by Ute Falk in 1903.\n",
    "sub/weir.html": f"<html>{WEIR}</html>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="session")
def reader_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_span_model(tmp_path_factory.mktemp("reader")))


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    """Opens the library of a folder with its words; the same files are parsed once in a run."""
    ready: dict[tuple[object, ...], Path] = {}

    def opened(folder: Path, **options) -> spanwise.Library:
        files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
        key = (*sorted((name, path.read_bytes()) for name, path in files.items()), *options.items())
        if key not in ready:
            ready[key] = shutil.copytree(folder, tmp_path_factory.mktemp("ready") / "notes")
            with spanwise.open(ready[key], **options) as library:
                library.sync(vectors=False)
        shutil.copytree(ready[key] / ".spanwise", folder / ".spanwise")
        for name, path in files.items():
            shutil.copystat(ready[key] / name, path)
        return spanwise.open(folder, **options)

    return opened


@pytest.fixture
def library(folder, encoder_folder, indexed):
    with indexed(folder, model=encoder_folder) as opened:
        yield opened


@pytest.fixture
def words(monkeypatch) -> dict[str, WordEncoder]:
    """Puts encoders of words in the place of models of tokens: "builtin" and "other", loaded once each."""
    known = {"builtin": WordEncoder("words"), "other": WordEncoder("others")}

    def encoder(name: str) -> WordEncoder:
        if name not in known:
            raise ModelNotFound(f"no model {name!r}")
        return known[name]

    monkeypatch.setattr("spanwise.models.encoder.load_token_encoder", encoder)
    digest_of = model_files.model_digest

    def digest(name: str, kind: model_files.Kind = "encoder") -> str:
        return encoder(name).digest if kind == "token-encoder" else digest_of(name, kind)

    monkeypatch.setattr(model_files, "model_digest", digest)
    return known


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs the command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    return call
