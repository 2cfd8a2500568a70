"""`verify` finds rows that were changed by another program; damage to bytes is in tests/reliability."""

import shutil
import sqlite3
from contextlib import suppress

import pytest
from helpers.corpora import stage
from workload import answers, answers_or_error, complaints

from spanwise.errors import IndexCorrupt
from spanwise.index.schema import UnreadFile
from spanwise.index.store import Store

TEXTS = {f"d{number}": [f"word{number} shared text", f"another{number} shared"] for number in range(6)}


@pytest.fixture
def index(corpus_of):
    """A closed index with postings, vectors and tombstones."""
    corpus = corpus_of({})
    with corpus.store.writer() as writer:
        stage(writer, TEXTS, vectors=True)
        writer.put_unread_file("b.png", UnreadFile(0, -1, "skipped", "no text"))
        writer.commit()
    corpus.write({}, remove=["d3"])
    corpus.store.close()
    return corpus.store.path


@pytest.mark.promise("T3")
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE documents SET text = replace(text, 'shared', 'shored')",
        "UPDATE documents SET title = 'other'",
        "UPDATE passages SET page = 3 WHERE id = 2",
        "UPDATE passages SET start = start + 1 WHERE id = 2",
        "DELETE FROM passages WHERE id = 2",
        "DELETE FROM documents WHERE id = 'd1'",
        "DELETE FROM segments WHERE kind = 'vectors'",
        "DELETE FROM tombstones",
        "DELETE FROM state",
        "UPDATE refusals SET reason = 'other'",
        "UPDATE settings SET value = 'none'",
        "UPDATE state SET passages = 3",
        "DROP TABLE passages",
    ],
)
def test_a_change_by_another_program_is_found(index, sql) -> None:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    catalog.execute(sql)
    catalog.commit()
    catalog.close()
    assert complaints(index) != []


TABLES = ["settings", "state", "documents", "passages", "tombstones", "segments", "refusals"]


@pytest.mark.reliability
@pytest.mark.parametrize("value", [None, -1, 2**62, 1.5, "\u00e9", b"\xff\x00"])
@pytest.mark.parametrize("table", TABLES)
def test_with_a_wrong_value_in_a_column_answers_stay_right_or_an_error_is_named(index, table, value) -> None:
    right = answers(index)
    whole = (index / "catalog.sqlite").read_bytes()
    for column in columns_of(index, table):
        overwrite(index, table, column, value)
        answered = answers_or_error(index)[0]
        assert answered in (None, right)
        assert all(isinstance(line, str) for line in complaints(index))
        (index / "catalog.sqlite").write_bytes(whole)


def columns_of(index, table) -> list[str]:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    names = [row[1] for row in catalog.execute("SELECT * FROM pragma_table_info(?)", [table])]
    catalog.close()
    return names


def overwrite(index, table, column, value) -> None:
    """Put a value where its table's declaration forbids it, as damage or a stranger may."""
    catalog = sqlite3.connect(index / "catalog.sqlite", isolation_level=None)
    catalog.execute("PRAGMA writable_schema = ON")
    catalog.execute("PRAGMA ignore_check_constraints = ON")
    catalog.execute("UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')")
    catalog.close()
    catalog = sqlite3.connect(index / "catalog.sqlite", isolation_level=None)
    with suppress(sqlite3.Error):  # a primary key takes some values only
        catalog.execute(f'UPDATE {table} SET "{column}" = ?', [value])
    catalog.close()


def test_a_writer_deletes_nothing_behind_a_link(index, tmp_path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ("0" * 64)).mkdir()
    shutil.rmtree(index / "segments")
    (index / "segments").symlink_to(tmp_path / "mine")
    with Store.open(index) as store, pytest.raises(IndexCorrupt, match="is a link"), store.writer():
        pass
    assert (tmp_path / "mine" / ("0" * 64)).is_dir()


def test_a_writer_refuses_a_catalog_with_missing_deletions(index) -> None:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    catalog.execute("DELETE FROM tombstones")
    catalog.commit()
    catalog.close()
    with Store.open(index) as store, store.writer() as writer, pytest.raises(IndexCorrupt, match="deletions"):
        writer.remove("d1")
