"""T19: where others can reach the server it does not start without a token."""

from __future__ import annotations

import pytest
from served import Served, body_of, status_of

import spanwise
from spanwise.pipelines.cli import main

TOKEN = "a token of nineteen"


@pytest.fixture
def index(memory):
    (memory / "notes").mkdir()
    (memory / "notes" / "a.md").write_text("The mill was founded by Ada Rook.\n")
    with spanwise.open(memory / "notes", index=memory / "index") as library:
        library.sync(vectors=False)
    return memory / "index"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "notes.example"])
def test_an_open_address_without_a_token_exits_2(index, host, capsys, monkeypatch) -> None:
    monkeypatch.delenv("SPANWISE_SERVE_TOKEN", raising=False)
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--index", str(index), "--host", host])
    assert stopped.value.code == 2
    assert "can be reached by others" in capsys.readouterr().err


def test_a_token_that_can_be_guessed_exits_2(index, tmp_path, capsys) -> None:
    (tmp_path / "token").write_text("secret\n")
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--index", str(index), "--host", "0.0.0.0", "--token-file", str(tmp_path / "token")])
    assert stopped.value.code == 2
    assert "the token has 6 characters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("", 401),
        (f"Authorization: Bearer {TOKEN}x", 401),
        ("Authorization: Bearer ", 401),
        (f"Authorization: Basic {TOKEN}", 401),
        (f"Authorization: Bearer {TOKEN}", 200),
    ],
)
def test_with_a_token_only_who_brings_it_is_answered(index, tmp_path, authorization, status) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    with Served(index, "--host", "0.0.0.0", "--token-file", str(tmp_path / "token")) as server:
        lines = ["GET /api/status HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Connection: close"]
        response = server.exchange("\r\n".join([*lines, *filter(None, [authorization]), "", ""]).encode())
        assert status_of(response) == status
        if status == 401:
            assert body_of(response)["error"]["type"] == "TokenRefused"
