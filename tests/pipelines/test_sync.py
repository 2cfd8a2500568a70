"""Sync: the index becomes what the folder is, one bad file stops nothing, an interruption loses nothing."""

from __future__ import annotations

import dataclasses
import os
import threading
import time

import numpy as np
import pytest

import spanwise
from spanwise.errors import FolderNotFound, ModelMismatch
from spanwise.pipelines import parse_pool, sync
from spanwise.pipelines.open import open_index
from spanwise.pipelines.parse_pool import ParseWorker


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


def test_the_time_of_a_sync_has_that_of_encoding_in_it(folder, encoder_folder):
    told = []
    with spanwise.open(folder, model=encoder_folder) as library:

        def slow(step, done, total):
            if step == "encode":
                time.sleep(0.3)
                told.append(step)

        assert library.sync(on_progress=slow).seconds >= 0.3 * len(told) > 0


def test_an_interrupted_encoding_goes_on_where_it_stopped(folder, encoder_folder, monkeypatch):
    monkeypatch.setattr(sync, "VECTORS_PER_COMMIT", 1)
    with spanwise.open(folder, model=encoder_folder) as library:
        encode, calls = library.encoder.encode_passages, []

        def interrupted(texts, on_progress=lambda done: None):
            calls.append(len(texts))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return encode(texts, on_progress)

        monkeypatch.setattr(library.encoder, "encode_passages", interrupted)
        with pytest.raises(KeyboardInterrupt):
            library.sync()
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


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The documents that were parsed so far."""
    parsed, parse = [], ParseWorker.parse
    monkeypatch.setattr(
        ParseWorker, "parse", lambda self, *given: (parsed.append(given[1]), parse(self, *given))[1]
    )
    return parsed


def test_refused_files_are_remembered_and_counted_again(folder, encoder_folder, reads):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with spanwise.open(folder, model=encoder_folder) as library:
        first = library.sync(vectors=False)
        generation = library.snapshot.generation
        assert sorted(library.snapshot.refusals()) == ["broken.pdf", "picture.png"]
        reads.clear()
        second = library.sync(vectors=False)
        assert (reads, library.snapshot.generation) == ([], generation)
        assert (second.rejected, second.skipped, second.found) == (first.rejected, first.skipped, 5)


def test_a_refused_file_is_read_again_when_it_changed_or_when_told(folder, encoder_folder, reads):
    (folder / "broken.txt").write_bytes(b"")
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        reads.clear()
        library.sync(vectors=False, retry=True)
        assert reads == ["broken.txt"]
        (folder / "broken.txt").write_text("Mended by Ute Falk.\n")
        assert library.sync(vectors=False).added == ("broken.txt",)
        assert library.snapshot.refusals() == {}


def test_a_refusal_is_forgotten_with_its_file(folder, encoder_folder):
    (folder / "empty.txt").write_bytes(b"")
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        (folder / "empty.txt").unlink()
        assert library.sync(vectors=False).rejected == ()
        assert library.snapshot.refusals() == {}


@pytest.mark.parametrize("new", ["moved/mill.md", "renamed.md"])
def test_a_renamed_file_is_neither_parsed_nor_encoded_again(folder, encoder_folder, reads, new):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        before = library.document("mill.md")
        (folder / "moved").mkdir()
        (folder / "mill.md").rename(folder / new)
        reads.clear()
        report = library.sync(vectors=False)
        assert (report.added, report.deleted, reads) == ((new,), ("mill.md",), [])
        assert library.missing_vectors() == 0 < report.reused_vectors
        assert library.document(new) == dataclasses.replace(before, id=new)


def test_a_title_made_from_the_name_follows_the_name(folder, encoder_folder, reads):
    (folder / "old.md").write_text("No heading stands above this.\n")
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        (folder / "old.md").rename(folder / "new.md")
        library.sync(vectors=False)
        assert library.document("new.md").title == "new"


def test_an_edit_encodes_only_what_changed(folder, encoder_folder):
    sections = [f"# Part {i}\n\n" + f"Sentence number {i} of this part. " * 60 for i in range(8)]
    (folder / "long.md").write_text("\n\n".join(["# Title", *sections]))
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        n_passages = library.snapshot.n_passages
        sections[3] = sections[3].replace("Sentence", "Phrase")
        (folder / "long.md").write_text("\n\n".join(["# Title", *sections]))
        report = library.sync(vectors=False)
        assert 0 < library.missing_vectors() < n_passages / 2
        assert report.reused_vectors > n_passages / 2


def test_files_that_change_while_they_are_read_are_seen_by_the_next_sync(folder, encoder_folder, monkeypatch):
    read_regular = sync.read_regular

    def edited_before(root, place):
        (root / place).write_text(f"{place} was edited by Otto Brandt.\n")
        return read_regular(root, place)

    with spanwise.open(folder, model=encoder_folder) as library:
        monkeypatch.setattr(sync, "read_regular", edited_before)
        library.sync(vectors=False, workers=1)
        monkeypatch.undo()
        (folder / "tram.txt").write_text("Edited again.\n")
        assert library.sync(vectors=False).updated == ("tram.txt",)


def test_an_emptied_folder_empties_the_index(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        for name in ("mill.md", "tram.txt", "sub/weir.html"):
            (folder / name).unlink()
        report = library.sync(vectors=False)
        assert (report.found, len(report.deleted), library.snapshot.n_passages) == (0, 3, 0)


def test_a_missing_root_deletes_nothing(folder, encoder_folder, tmp_path):
    with spanwise.open(folder, tmp_path / "index", encoder_folder) as library:
        library.sync(vectors=False)
        folder.rename(folder.with_name("unplugged"))
        with pytest.raises(FolderNotFound):
            library.sync(vectors=False)
        assert len(documents(library)) == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_words_are_committed_as_the_work_goes_on(folder, encoder_folder, monkeypatch, workers):
    monkeypatch.setattr(sync, "PASSAGES_PER_COMMIT", 1)

    def interrupted(stage, done, total):
        if (stage, done) == ("files", 2):
            raise KeyboardInterrupt

    with spanwise.open(folder, model=encoder_folder) as library:
        with pytest.raises(KeyboardInterrupt):
            library.sync(vectors=False, on_progress=interrupted, workers=workers)
        assert documents(library) == ["mill.md", "sub/weir.html"]
        assert library.sync(vectors=False).added == ("tram.txt",)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("spanwise-parser")]


def test_a_sync_without_anything_to_read_starts_no_process(folder, encoder_folder, monkeypatch):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        monkeypatch.setattr(parse_pool, "START", "raise SystemExit")
        assert library.sync(vectors=False).unchanged == 3


def test_any_number_of_workers_writes_the_same_postings(folder, encoder_folder, tmp_path):
    for number in range(30):
        (folder / f"note{number:02}.txt").write_text(f"Note {number} is about the mill and tram {number}.\n")
    written = []
    for workers in (1, 2):
        with spanwise.open(folder, tmp_path / f"index{workers}", encoder_folder) as library:
            library.sync(vectors=False, workers=workers)
        segments = tmp_path / f"index{workers}" / "segments"
        written.append(sorted(path.read_bytes() for path in segments.glob("*/columns.bin")))
    assert written[0] == written[1] != []
