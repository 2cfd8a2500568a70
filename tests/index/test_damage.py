"""Whatever happens to a file of an index: it is found, it is named, and no answer comes from it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import suppress

import numpy as np
import pytest

from spanwise.errors import FormatTooNew, IndexCorrupt, IndexNotFound, SpanwiseError
from spanwise.index import Store

TEXTS = {f"d{number}": [f"word{number} shared text", f"another{number} shared"] for number in range(6)}


@pytest.fixture
def index(corpus_of, tmp_path):
    """A closed index with postings, vectors and tombstones, and the answers it gives."""
    corpus = corpus_of(TEXTS)
    with corpus.store.writer() as writer:
        writer.put_vectors("m", list(range(1, 13)), np.tile(np.eye(1, 8, dtype=np.float32), (12, 1)))
        writer.commit()
    corpus.write({}, remove=["d3"])
    corpus.store.close()
    return corpus.store.path


def answers(path):
    with Store.open(path) as store, store.snapshot() as snapshot:
        postings = snapshot.postings()
        (dense,) = snapshot.vectors("m").search(np.eye(1, 8, dtype=np.float32), 20)
        return (
            list(snapshot.all_passages()),
            [snapshot.document(name) for name in snapshot.files()],
            postings.all_statistics,
            [postings.find(term)[0].tolist() for term in ("shared", "word1")],
            snapshot.passages(dense.passage_ids.tolist()),
            dense.scores.tolist(),
        )


def complaints(path):
    try:
        with Store.open(path) as store:
            return store.verify()
    except SpanwiseError as error:
        return [str(error)]


def flipped(data, draw):
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


def test_an_untouched_index_has_no_problems(index) -> None:
    assert complaints(index) == []


@pytest.mark.parametrize("kind", ["flip", "truncate", "zero", "delete"])
def test_damage_to_a_segment_is_found_and_named(index, kind) -> None:
    draw = random.Random(11)
    for file in sorted((index / "segments").rglob("*.*")):
        whole = file.read_bytes()
        cut = whole[: draw.randrange(len(whole))]
        file.write_bytes({"flip": flipped(whole, draw), "truncate": cut}.get(kind, bytes(len(whole))))
        if kind == "delete":
            file.unlink()
        (complaint,) = [line for line in complaints(index) if "those of the live" not in line]
        assert file.name in complaint
        file.write_bytes(whole)


def served(path):
    """The answers, or the name of the error that took their place."""
    try:
        return answers(path)
    except (IndexCorrupt, FormatTooNew, IndexNotFound) as error:
        return type(error).__name__


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.stress)])
def test_a_flipped_bit_never_changes_an_answer_in_silence(index, tmp_path, seed) -> None:
    draw = random.Random(seed)
    right = answers(index)
    for file in sorted(path for path in index.rglob("*.*") if path.is_file() and path.name != "write.lock"):
        whole = file.read_bytes()
        for _ in range(10 if seed == 1 else 200):
            copy = tmp_path / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(index, copy)
            (copy / file.relative_to(index)).write_bytes(flipped(whole, draw))
            found = served(copy)
            if isinstance(found, str):
                assert complaints(copy) != []
            else:
                assert found == right


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
        "UPDATE settings SET value = 'none'",
        "UPDATE state SET passages = 3",
        "DROP TABLE passages",
    ],
)
def test_rows_changed_behind_our_back_are_found(index, sql) -> None:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    catalog.execute(sql)
    catalog.commit()
    catalog.close()
    assert complaints(index) != []


TABLES = ["settings", "state", "documents", "passages", "tombstones", "segments", "refusals"]


@pytest.mark.stress
@pytest.mark.parametrize("value", [None, -1, 2**62, 1.5, "\u00e9", b"\xff\x00"])
@pytest.mark.parametrize("table", TABLES)
def test_a_value_of_any_type_in_any_column_is_answered_rightly_or_named(index, table, value) -> None:
    right = answers(index)
    whole = (index / "catalog.sqlite").read_bytes()
    for column in columns_of(index, table):
        overwrite(index, table, column, value)
        found = served(index)
        assert found == right or isinstance(found, str)
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


def test_a_writer_deletes_nothing_that_is_not_its_own(index) -> None:
    mine = index / "segments" / "notes"
    mine.mkdir()
    with Store.open(index) as store, store.writer():
        pass
    assert mine.is_dir()


def test_a_writer_does_not_seal_damage(index) -> None:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    catalog.execute("DELETE FROM tombstones")
    catalog.commit()
    catalog.close()
    with Store.open(index) as store, store.writer() as writer, pytest.raises(IndexCorrupt, match="deletions"):
        writer.remove("d1")
