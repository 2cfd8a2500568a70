"""Sync: the index becomes what the folder is, one bad file stops nothing, an interruption loses nothing."""

from __future__ import annotations

import os

import numpy as np
import pytest

import spanwise
from spanwise.errors import FolderNotFound, ModelMismatch
from spanwise.pipelines import sync
from spanwise.pipelines.library import open_index


def documents(library) -> list[str]:
    return sorted(library.snapshot.files())


def test_a_first_sync_adds_every_readable_file(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        report = library.sync()
        assert report.added == ("mill.md", "sub/weir.html", "tram.txt")
        assert report.passages == library.snapshot.n_passages > 0
        assert library.missing_vectors() == 0


def test_a_second_sync_reads_nothing(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        generation = library.snapshot.generation
        report = library.sync()
        assert (report.added, report.updated, report.deleted, report.unchanged) == ((), (), (), 3)
        assert library.snapshot.generation == generation


def test_new_changed_and_removed_files_are_found(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        (folder / "tram.txt").write_text("The tram was closed in 1955 by Otto Brandt.\n")
        (folder / "mill.md").unlink()
        (folder / "new.txt").write_text("A new ferry.\n")
        report = library.sync()
        assert (report.added, report.updated, report.deleted) == (("new.txt",), ("tram.txt",), ("mill.md",))
        assert "Otto Brandt" in library.search("who closed the tram", retriever="bm25")[0].passage.text
        assert library.search("stones", retriever="bm25") == []
        assert library.missing_vectors() == 0


def test_a_new_time_with_the_same_bytes_is_unchanged(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        os.utime(folder / "tram.txt", ns=(1, 1))
        assert library.sync().unchanged == 3
        assert library.snapshot.files()["tram.txt"].mtime_ns == 1


def test_a_bad_file_is_named_and_stops_nothing(folder, encoder_folder):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with spanwise.open(folder, model=encoder_folder) as library:
        report = library.sync()
        assert [r.document_id for r in report.rejected] == ["broken.pdf", "empty.txt"]
        assert all(r.reason for r in report.rejected)
        assert sum(report.skipped.values()) == 1
        assert len(report.added) == 3


def test_a_file_that_became_unreadable_leaves_the_index(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        (folder / "tram.txt").write_bytes(b"")
        report = library.sync()
        assert (report.deleted, report.rejected[0].document_id) == (("tram.txt",), "tram.txt")
        assert documents(library) == ["mill.md", "sub/weir.html"]


def test_words_are_searchable_before_the_vectors_are(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        assert library.search("who opened the tram", retriever="bm25")
        assert library.missing_vectors() == library.snapshot.n_passages


def test_an_interrupted_encoding_goes_on_where_it_stopped(folder, encoder_folder, monkeypatch):
    monkeypatch.setattr(sync, "VECTORS_PER_COMMIT", 1)
    with spanwise.open(folder, model=encoder_folder) as library:
        encode, calls = library.encoder.encode, []

        def interrupted(texts, report=lambda done: None):
            calls.append(len(texts))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return encode(texts, report)

        monkeypatch.setattr(library.encoder, "encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            library.sync()
        library._snapshot = None
        assert library.missing_vectors() == library.snapshot.n_passages - 2
        library.sync()
        assert library.missing_vectors() == 0
        assert sum(calls) == library.snapshot.n_passages + 1


def test_vectors_are_those_of_a_fresh_build(folder, encoder_folder, tmp_path):
    with spanwise.open(folder, model=encoder_folder) as grown:
        grown.sync()
        (folder / "tram.txt").write_text("The tram was closed in 1955.\n")
        grown.sync()
        with spanwise.open(folder, tmp_path / "fresh", encoder_folder) as fresh:
            fresh.sync()
            for name in ("tfidf", "bm25", "dense", "hybrid"):
                hits = [
                    library.search("when was the tram closed", retriever=name) for library in (grown, fresh)
                ]
                assert [(h.passage.document_id, h.passage.start) for h in hits[0]] == [
                    (h.passage.document_id, h.passage.start) for h in hits[1]
                ]
                assert np.allclose([h.score for h in hits[0]], [h.score for h in hits[1]], atol=1e-3)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FolderNotFound, match="nowhere"):
        spanwise.open(tmp_path / "nowhere")


def test_another_model_is_refused_with_the_command_that_mends_it(folder, encoder_folder):
    spanwise.open(folder, model=encoder_folder).close()
    with pytest.raises(ModelMismatch, match="spanwise index"):
        spanwise.open(folder, model="base")


def test_an_index_follows_its_folder_when_that_moves(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
    moved = folder.rename(folder.with_name("moved"))
    with open_index(moved) as library:
        assert [root.folder for root in library.roots] == [moved]
        assert library.sync().unchanged == 3
