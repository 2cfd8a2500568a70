"""A fingerprint changes with every change of a model's files, and there is none where that cannot be told."""

from __future__ import annotations

import os

import pytest

from spanwise.models import fingerprint as module
from spanwise.models.fingerprint import fingerprint, model_fingerprint

COMMIT = "c" * 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SETTLED_S", 0.0)
    (tmp_path / "model" / "1_Pooling").mkdir(parents=True)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "model" / "1_Pooling" / "config.json").write_bytes(b"{}")
    return tmp_path / "model"


def test_it_stays_while_nothing_changes(folder):
    assert fingerprint([folder]) == fingerprint([folder]) is not None


def test_a_file_changed_in_place_with_its_old_time_is_noticed(folder):
    path = folder / "1_Pooling" / "config.json"
    before, times = fingerprint([folder]), path.stat()
    path.write_bytes(b"[]")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fingerprint([folder]) != before


def test_a_file_added_or_gone_is_noticed(folder):
    seen = {fingerprint([folder])}
    (folder / "README.md").write_text("squad2")
    seen.add(fingerprint([folder]))
    (folder / "model.safetensors").unlink()
    seen.add(fingerprint([folder]))
    assert len(seen - {None}) == 3


def test_what_a_link_points_at_counts(folder, tmp_path):
    (tmp_path / "blob").write_bytes(b"one")
    (folder / "linked.json").symlink_to(tmp_path / "blob")
    before = fingerprint([folder])
    (tmp_path / "blob").write_bytes(b"two")
    assert fingerprint([folder]) != before


def test_a_file_changed_a_moment_ago_is_not_relied_on(folder, monkeypatch):
    monkeypatch.setattr(module, "SETTLED_S", 60.0)
    assert fingerprint([folder]) is None


def test_a_missing_empty_or_huge_folder_has_none(folder, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    assert fingerprint([tmp_path / "gone"]) is None
    assert fingerprint([tmp_path / "empty"]) is None
    monkeypatch.setattr(module, "_MOST_FILES", 1)
    assert fingerprint([folder]) is None


def test_a_loop_of_links_ends(folder):
    (folder / "again").symlink_to(folder)
    assert fingerprint([folder]) is None


def test_names_pinned_to_a_commit_are_their_own_and_others_unknown():
    assert model_fingerprint(f"org/model@{COMMIT}") == f"org/model@{COMMIT}"
    assert model_fingerprint("org/model") is None
    assert model_fingerprint(f"org/model@{COMMIT}::gone") is None


def test_the_base_has_one():
    assert model_fingerprint("base") == model_fingerprint("all-MiniLM-L6-v2") is not None
