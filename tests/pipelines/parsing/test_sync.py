"""Sync: the index becomes what the folder is, one bad file stops nothing, an interruption loses nothing."""

import dataclasses
import errno
import os
import shutil
import stat
import threading

import pytest
from helpers.tiny_models import tiny_encoder

import spanwise
from spanwise.pipelines.parsing import sync
from spanwise.pipelines.parsing.pool import ParseWorker

BROKEN = b"%PDF-1.7 and then nothing"
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00"


def documents(library) -> list[str]:
    return sorted(library.snapshot.files())


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The documents that were parsed so far."""
    parsed = []
    parse = ParseWorker.parse

    def noted(self, data, name, sha256, stored=None, recognised=None):
        if stored is None:
            parsed.append(name)
        return parse(self, data, name, sha256, stored, recognised)

    monkeypatch.setattr(ParseWorker, "parse", noted)
    return parsed


def test_a_first_sync_adds_every_file_and_a_second_reads_nothing(folder, encoder_folder, reads):
    with spanwise.open(folder, model=encoder_folder) as library:
        first = library.sync()
        assert first.added == ("mill.md", "sub/weir.html", "tram.txt")
        assert first.passages == library.snapshot.n_passages > library.missing_vectors() == 0
        generation = library.snapshot.generation
        reads.clear()
        second = library.sync()
        assert second.added == ()
        assert second.updated == ()
        assert second.deleted == ()
        assert second.unchanged == 3
        assert reads == []
        assert library.snapshot.generation == generation


def test_new_changed_and_removed_files_are_found(folder, library):
    (folder / "tram.txt").write_text("The tram was closed in 1955 by Otto Brandt.\n")
    (folder / "mill.md").unlink()
    (folder / "new.txt").write_text("A new ferry.\n")
    report = library.sync()
    assert report.added == ("new.txt",)
    assert report.updated == ("tram.txt",)
    assert report.deleted == ("mill.md",)
    assert "Otto Brandt" in library.search("who closed the tram", retriever="bm25")[0].passage.text
    assert library.search("stones", retriever="bm25") == []
    assert library.missing_vectors() == 0


def test_a_new_time_with_the_same_bytes_is_unchanged(folder, library):
    os.utime(folder / "tram.txt", ns=(1, 1))
    assert library.sync(vectors=False).unchanged == 3
    assert library.snapshot.files()["tram.txt"].mtime_ns == 1


def test_other_bytes_of_the_same_size_and_time_are_seen(folder, library):
    tram = folder / "tram.txt"
    before = tram.stat()
    tram.write_bytes(tram.read_bytes().replace(b"tram", b"boat"))
    os.utime(tram, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.sync(vectors=False).updated == ("tram.txt",)


def test_an_exchanged_file_with_the_same_bytes_is_not_parsed(folder, library, reads):
    tram = folder / "tram.txt"
    before = library.snapshot.files()["tram.txt"].stamp
    copy = folder / "copy"
    copy.write_bytes(tram.read_bytes())
    copy.replace(tram)
    assert library.sync(vectors=False).unchanged == 3
    assert library.snapshot.files()["tram.txt"].stamp != before
    assert not reads


def test_bad_files_are_named_stop_nothing_and_are_remembered(folder, library, reads):
    (folder / "broken.pdf").write_bytes(BROKEN)
    (folder / "tram.txt").write_bytes(b"")
    (folder / "picture.png").write_bytes(PICTURE)
    (folder / "new.txt").write_text("A new ferry.\n")
    first = library.sync(vectors=False)
    assert [file.document_id for file in first.rejected] == ["broken.pdf", "tram.txt"]
    assert all(file.reason for file in first.rejected)
    assert first.added == ("new.txt",)
    assert first.deleted == ("tram.txt",)
    assert sum(first.skipped.values()) == 1
    generation = library.snapshot.generation
    reads.clear()
    second = library.sync(vectors=False)
    assert reads == []
    assert library.snapshot.generation == generation
    assert second.rejected == first.rejected
    assert second.skipped == first.skipped
    assert second.found == 6


def test_a_refused_file_is_read_again_when_it_changed_or_with_retry(folder, library, reads):
    (folder / "broken.txt").write_bytes(b"")
    library.sync(vectors=False)
    reads.clear()
    library.sync(vectors=False, retry=True)
    assert reads == ["broken.txt"]
    (folder / "broken.txt").write_text("Mended by Ute Falk.\n")
    assert library.sync(vectors=False).added == ("broken.txt",)
    assert library.snapshot.unread_files() == {}


def test_a_refusal_is_forgotten_with_its_file(folder, library):
    (folder / "empty.txt").write_bytes(b"")
    library.sync(vectors=False)
    (folder / "empty.txt").unlink()
    assert library.sync(vectors=False).rejected == ()
    assert library.snapshot.unread_files() == {}


def test_an_interrupted_encoding_goes_on_where_it_stopped(library, monkeypatch):
    monkeypatch.setattr(sync, "VECTORS_PER_COMMIT", 1)
    encode = library.encoder.encode_passages
    calls = []

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


def test_the_old_vectors_answer_until_another_model_is_done(library, tmp_path, monkeypatch):
    library.sync()
    before = library.search("the mill", retriever="dense")
    n_passages = library.snapshot.n_passages
    model = str(tiny_encoder(tmp_path / "other", seed=1))
    library.use_model(model)
    monkeypatch.setattr(sync, "VECTORS_PER_COMMIT", 2)
    with pytest.raises(ZeroDivisionError):
        library.sync(on_progress=lambda task, done, total: task != "encode" or 1 / (total - done))
    assert sorted(library.snapshot.vector_models().values()) == [2, n_passages]
    assert library.replaced_models == [(library.model, model)]
    assert library.search("the mill", retriever="dense") == before
    library.sync()
    assert library.model == model
    assert library.replaced_models == []
    assert list(library.snapshot.vector_models().values()) == [n_passages]
    assert library.search("the mill", retriever="dense") != before


@pytest.mark.parametrize("new", ["moved/mill.md", "renamed.md"])
def test_a_renamed_file_is_neither_parsed_nor_encoded_again(folder, library, reads, new):
    library.sync()
    before = library.document("mill.md")
    (folder / "moved").mkdir()
    (folder / "mill.md").rename(folder / new)
    reads.clear()
    report = library.sync(vectors=False)
    assert report.added == (new,)
    assert report.deleted == ("mill.md",)
    assert reads == []
    assert library.missing_vectors() == 0 < report.reused_vectors
    assert library.document(new) == dataclasses.replace(before, id=new)


def test_a_title_made_from_the_name_follows_the_name(folder, library):
    (folder / "old.md").write_text("No heading stands above this.\n")
    library.sync(vectors=False)
    (folder / "old.md").rename(folder / "new.md")
    library.sync(vectors=False)
    assert library.document("new.md").title == "new"


def test_an_edit_encodes_only_what_changed(folder, library):
    sections = [f"# Part {i}\n\n" + f"Sentence number {i} of this part. " * 60 for i in range(8)]
    (folder / "long.md").write_text("\n\n".join(["# Title", *sections]))
    library.sync()
    n_passages = library.snapshot.n_passages
    sections[3] = sections[3].replace("Sentence", "Phrase")
    (folder / "long.md").write_text("\n\n".join(["# Title", *sections]))
    report = library.sync(vectors=False)
    assert 0 < library.missing_vectors() < n_passages / 2 < report.reused_vectors


def test_files_that_change_while_they_are_read_are_seen_by_the_next_sync(folder, library, monkeypatch):
    read_regular = sync.read_regular

    def edited_before(root, place):
        (root / place).write_text(f"{place} was edited by Otto Brandt.\n")
        return read_regular(root, place)

    (folder / "tram.txt").write_text("Edited.\n")
    with monkeypatch.context() as patch:
        patch.setattr(sync, "read_regular", edited_before)
        library.sync(vectors=False, workers=1)
    (folder / "tram.txt").write_text("Edited again.\n")
    assert library.sync(vectors=False).updated == ("tram.txt",)


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


def test_documents_that_older_readers_read_are_read_again(library, monkeypatch):
    assert library.sync(vectors=False).updated == ()
    monkeypatch.setattr("spanwise.pipelines.parsing.sync.READERS", "newer")
    assert set(library.sync(vectors=False).updated) == {"mill.md", "sub/weir.html", "tram.txt"}
    assert library.sync(vectors=False).unchanged == 3


def emptied(folder) -> None:
    for path in folder.rglob("*.*"):
        if path.is_file() and ".spanwise" not in path.parts:
            path.unlink()


def test_the_documents_of_an_emptied_folder_are_kept_until_accepted(folder, library):
    emptied(folder)
    kept = library.sync(vectors=False)
    assert (kept.kept, kept.deleted) == (3, ())
    generation = library.snapshot.generation
    assert library.sync(vectors=False).kept == 3
    assert library.snapshot.generation == generation
    assert library.search("who opened the tram", retriever="bm25")[0].passage.document_id == "tram.txt"
    assert len(library.sync(vectors=False, accept_deletions=True).deleted) == 3


def test_a_folder_that_comes_back_is_neither_parsed_nor_marked(folder, library, reads, tmp_path):
    for name in ("mill.md", "tram.txt", "sub"):
        (folder / name).rename(tmp_path / name)
    assert library.sync(vectors=False).kept == 3
    for name in ("mill.md", "tram.txt", "sub"):
        (tmp_path / name).rename(folder / name)
    back = library.sync(vectors=False)
    assert (back.kept, back.unchanged, reads) == (0, 3, [])
    assert not any(state.is_absent for state in library.snapshot.files().values())


def test_any_file_in_a_folder_shows_that_the_others_are_deleted(folder, library):
    emptied(folder)
    library.sync(vectors=False)
    (folder / "new.txt").write_text("A new ferry.\n")
    report = library.sync(vectors=False)
    assert (report.kept, report.deleted) == (1, ("mill.md", "tram.txt"))  # sub/ is still empty


def test_a_folder_gone_from_a_listed_one_is_a_deletion(folder, library):
    shutil.rmtree(folder / "sub")
    report = library.sync(vectors=False)
    assert (report.kept, report.deleted) == (0, ("sub/weir.html",))


def test_a_file_moved_out_of_a_folder_that_it_leaves_empty_is_not_kept(folder, library):
    (folder / "sub" / "weir.html").rename(folder / "weir.html")
    report = library.sync(vectors=False)
    assert (report.kept, report.added, report.deleted) == (0, ("weir.html",), ("sub/weir.html",))


def test_an_unchanged_copy_elsewhere_is_no_move(folder, library):
    (folder / "copy.html").write_bytes((folder / "sub" / "weir.html").read_bytes())
    library.sync(vectors=False)
    (folder / "sub" / "weir.html").unlink()
    assert library.sync(vectors=False).kept == 1


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ENOTCONN])
def test_documents_below_a_folder_that_cannot_be_listed_are_kept(folder, library, monkeypatch, code):
    opened = os.open

    def broken(path, *arguments, **options):
        if path == "sub":
            raise OSError(code, os.strerror(code))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", broken)
    report = library.sync(vectors=False)
    assert (report.kept, report.deleted, report.unchanged) == (1, (), 2)
    assert [file.document_id for file in report.rejected] == ["sub"]


def on_device(monkeypatch, number: int) -> None:
    """Put all folders on a device."""
    fstat = os.fstat

    def elsewhere(handle):
        status = fstat(handle)
        return (
            os.stat_result((*status[:2], number, *status[3:10])) if stat.S_ISDIR(status.st_mode) else status
        )

    monkeypatch.setattr(os, "fstat", elsewhere)


def test_other_files_on_another_device_delete_nothing(folder, library, monkeypatch):
    emptied(folder)
    (folder / "local.txt").write_text("Mount the drive here.\n")
    with monkeypatch.context() as patch:
        on_device(patch, 77)
        assert library.sync(vectors=False).kept == 3
        assert library.sync(vectors=False).kept == 3
    assert library.sync(vectors=False).deleted == ("mill.md", "tram.txt")


def test_a_device_with_a_new_number_is_known_by_its_files(folder, library, reads, monkeypatch):
    library.sync(vectors=False)
    (folder / "mill.md").unlink()
    on_device(monkeypatch, 77)
    report = library.sync(vectors=False)
    assert (report.kept, report.unchanged, report.deleted, reads) == (0, 2, ("mill.md",), [])


def test_documents_kept_from_older_readers_are_read_when_they_are_back(folder, library, reads, monkeypatch):
    (folder / "sub" / "weir.html").rename(folder.parent / "weir.html")
    monkeypatch.setattr(sync, "READERS", "next")
    library.sync(vectors=False)
    reads.clear()
    (folder.parent / "weir.html").rename(folder / "sub" / "weir.html")
    library.sync(vectors=False)
    assert reads == ["sub/weir.html"]
