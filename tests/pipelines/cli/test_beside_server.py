"""What a server starts beside itself, and what is refused before it serves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.cli.beside_server import SECRETS, told, watch_command, watch_environment
from spanwise.reader.generation.endpoint_settings import EndpointSettings


def test_the_index_is_named_and_not_its_folders(library):
    command = watch_command(library)
    assert command[command.index("--index") + 1] == str(library.store.path.absolute())
    assert not any(str(root.folder) in command for root in library.roots)


def test_an_index_whose_folder_is_gone_is_not_watched(folder, tmp_path, run):
    with spanwise.open([folder], tmp_path / "index") as library:
        library.sync(vectors=False)
    folder.rename(tmp_path / "away")
    code, out, err = run("serve", "--index", tmp_path / "index", "--port", "0", "--watch")
    assert (code, out, err) == (1, "", f"spanwise: there is no folder {folder}\n")


def test_an_index_that_cannot_be_written_to_is_not_watched(library, run, monkeypatch):
    monkeypatch.setattr("spanwise.pipelines.cli.beside_server.is_writable", lambda path: False)
    code, out, err = run("serve", "--index", library.store.path, "--port", "0", "--watch")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.endswith("cannot be written to, nor kept current: serve it without --watch\n")


def test_it_is_told_no_secrets(monkeypatch):
    for name in SECRETS:
        monkeypatch.setenv(name, "a token of nineteen")
    assert "a token of nineteen" not in watch_environment().values()
    assert EndpointSettings().key_variable in SECRETS


def test_it_imports_what_the_server_would(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    command = [sys.executable, "-P", "-c", "import sys; print(*sys.path, sep='\\n')"]
    printed = subprocess.run(command, env=dict(watch_environment()), capture_output=True, check=True).stdout
    expected = [str(Path(entry).absolute()) for entry in sys.path]
    assert printed.decode().splitlines()[: len(expected)] == expected


def test_the_server_hears_how_a_sync_went(library):
    heard: list[str] = []
    outcomes = iter([OSError("full"), library.sync(vectors=False)])

    def sync(**options):
        outcome = next(outcomes)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    with pytest.raises(OSError, match="full"):
        told(sync, heard.append)()
    told(sync, heard.append)()
    assert heard == ["OSError", ""]


def test_the_flag_of_the_child_is_not_in_the_help(run):
    assert "beside-server" not in run("index", "-h")[1]
