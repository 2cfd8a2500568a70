"""Every format ever released opens with equal answers and can be written to; a newer one is refused."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest
from golden.make import HERE, MODELS, answers, encode, put

from spanwise.errors import FormatTooNew, IndexCorrupt
from spanwise.index import Refusal, Store
from spanwise.index.schema import FORMAT

GOLDEN = sorted(HERE.glob("v*.json"), key=lambda path: int(path.stem[1:]))

pytestmark = pytest.mark.promise("T4")


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def golden(request, tmp_path):
    """A copy of a golden index, and the answers it must give."""
    shutil.copytree(request.param.with_suffix(""), tmp_path / "index")
    return tmp_path / "index", json.loads(request.param.read_text(encoding="utf-8"))


def answered(store):
    return json.loads(json.dumps(answers(store)))


def version(path) -> int:
    catalog = sqlite3.connect(path / "catalog.sqlite")
    (number,) = catalog.execute("PRAGMA user_version").fetchone()
    catalog.close()
    return int(number)


def test_it_opens_with_equal_answers(golden) -> None:
    path, expected = golden
    before = version(path)
    with Store.open(path) as store:
        found = answered(store)
        assert {key: found[key] for key in expected} == expected
        assert store.verify() == []
    assert version(path) == before


def test_it_can_be_written_to_and_stays_equal_but_for_that(golden) -> None:
    path, expected = golden
    with Store.open(path) as store:
        with store.writer() as writer:
            put(writer, "copy.txt", ["The owl has gone.", "Quite new."])
            writer.refuse("broken too.pdf", Refusal(1, 2, "rejected", "broken"))
            writer.commit()
            writer.remove("copy.txt")
            writer.forget_refusal("broken too.pdf")
            writer.commit()
        found = answered(store)
        same = set(expected) - {"generation"}
        assert {key: found[key] for key in same} == {key: expected[key] for key in same}
        encode(store)
        assert set(map(len, answered(store)["lacking"].values())) == {0}
        assert answered(store)["lacking tokens"] == []
        assert store.verify() == []
    assert version(path) == FORMAT


def test_vectors_of_an_older_format_are_taken_over(golden) -> None:
    path, _ = golden
    with Store.open(path) as store:
        with store.writer() as writer:
            ids = put(writer, "copy.txt", ["The bridge crosses the river.", "quite new"])
            writer.commit()
            assert writer.reused_vectors == 1
        with store.snapshot() as snapshot:
            for model in MODELS:
                assert ids[0] not in snapshot.without_vectors(model)
        assert store.verify() == []


def test_a_newer_catalog_is_refused_by_name(golden) -> None:
    path, _ = golden
    catalog = sqlite3.connect(path / "catalog.sqlite")
    catalog.execute("PRAGMA user_version = 99")
    catalog.close()
    with pytest.raises(FormatTooNew, match=r"catalog\.sqlite has format 99, this program reads up to"):
        Store.open(path)


def test_newer_segments_are_refused_by_name(golden, monkeypatch) -> None:
    path, _ = golden
    for module in ("manifest", "segment_writer"):
        monkeypatch.setattr(f"spanwise.index.{module}.FORMAT", 99)
    with Store.open(path) as store, store.writer() as writer:
        put(writer, "new", ["new"])
        writer.commit()
    monkeypatch.undo()
    with Store.open(path) as store, pytest.raises(FormatTooNew, match=r"segments/\w+ has format 99"):
        store.snapshot()


KILLED = """
import os, signal, sys
from pathlib import Path
from spanwise.index import Refusal, Store

with Store.open(Path(sys.argv[1])) as store, store.writer() as writer:
    writer.refuse("x", Refusal(1, 2, "rejected", "broken"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def oldest(tmp_path):
    shutil.copytree(HERE / "v1", tmp_path / "v1")
    return tmp_path / "v1"


def test_a_kill_during_the_upgrade_leaves_format_1(oldest) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(oldest)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert version(oldest) == 1
    with Store.open(oldest) as store:
        assert store.verify() == []


def test_a_writer_that_changes_nothing_does_not_upgrade(oldest) -> None:
    with Store.open(oldest) as store, store.writer() as writer:
        writer.commit()
    assert version(oldest) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE documents SET title = 'other' WHERE id = 'owls.pdf'",
        "UPDATE passages SET page = 9 WHERE document_id = 'owls.pdf'",
        "DELETE FROM tombstones",
    ],
)
def test_an_upgrade_never_seals_damage(oldest, sql) -> None:
    catalog = sqlite3.connect(oldest / "catalog.sqlite")
    catalog.execute(sql)
    catalog.commit()
    catalog.close()
    with (
        Store.open(oldest) as store,
        store.writer() as writer,
        pytest.raises(IndexCorrupt, match=r"catalog\.sqlite"),
    ):
        writer.refuse("x", Refusal(1, 2, "rejected", "broken"))
    assert version(oldest) == 1
