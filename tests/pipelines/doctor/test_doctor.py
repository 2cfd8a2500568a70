"""Doctor finds what is wrong, says what to do, and is stopped by nothing that is broken."""

from __future__ import annotations

import json

import pytest
from made_readers import question_answerer

import spanwise
from spanwise.errors import ModelNotFound
from spanwise.pipelines.doctor import State, checkup, index, installation, machine
from spanwise.pipelines.doctor.checkup import _made
from spanwise.pipelines.doctor.reader import check_reader


def states(path, start) -> dict[str, State]:
    return {finding.subject: finding.state for finding in checkup(path, start)}


def test_a_good_index_passes(folder, encoder_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
    found = states(folder, folder)
    needed = ("python", "packages", "model", "index", "folders", "faiss", "torch", "vectors")
    assert [found[name] for name in needed] == [State.OK] * len(needed)


def test_without_an_index_the_machine_is_checked(tmp_path):
    found = states(None, tmp_path)
    assert (found["index"], found["torch"]) == (State.WARN, State.OK)
    assert states(tmp_path / "nowhere", tmp_path)["index"] is State.FAIL


def test_a_broken_index_is_a_finding(folder):
    spanwise.open(folder).close()
    (folder / ".spanwise" / "catalog.sqlite").write_bytes(b"no database at all" * 100)
    found = states(folder, folder)
    assert (found["index"], found["model"], found["torch"]) == (State.FAIL, State.OK, State.OK)


def test_a_missing_model_is_a_finding(folder, tmp_path, encoder_folder, monkeypatch):
    def nowhere(name):
        raise ModelNotFound("not here")

    spanwise.open(folder).close()
    monkeypatch.setattr(index, "folders_of", nowhere)
    found = states(folder, folder)
    assert (found["model"], found["index"]) == (State.FAIL, State.OK)


def test_missing_vectors_and_a_missing_folder_are_told(folder, tmp_path, encoder_folder):
    with spanwise.open(folder, tmp_path / "index", encoder_folder) as library:
        library.sync(vectors=False)
    folder.rename(tmp_path / "away")
    findings = {finding.subject: finding for finding in checkup(tmp_path / "index", tmp_path)}
    assert findings["folders"].state is State.WARN
    assert "--drop" in findings["folders"].advice
    assert findings["vectors"].state is State.WARN
    assert "spanwise index" in findings["vectors"].advice


def test_a_package_of_another_version_is_told(monkeypatch):
    monkeypatch.setattr(installation, "requires", lambda name: ["numpy>=999", "nowhere-to-be-found"])
    finding = installation.check_packages()
    assert finding.state is State.FAIL
    assert "numpy>=999" in finding.seen
    assert "nowhere-to-be-found (found: none)" in finding.seen


def test_a_full_disk_fails(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 1e6, "total": 1e9})
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: usage)
    assert machine.check_disk(tmp_path).state is State.FAIL


def test_few_watches_are_told(tmp_path, monkeypatch):
    (tmp_path / "limit").write_text("100\n")
    monkeypatch.setattr(machine, "WATCHES", tmp_path / "limit")
    assert "sysctl" in machine.check_watches().advice


def test_a_check_that_breaks_down_is_a_finding():
    finding = _made("faiss", lambda: (_ for _ in ()).throw(ImportError("no module named faiss")))
    assert (finding.state, "no module named faiss" in finding.seen) == (State.FAIL, True)


@pytest.mark.parametrize(("named", "code"), [(None, 0), ("nowhere", 1)])
def test_the_command_fails_when_something_does_not_work(run, named, code):
    got, out, _ = run("doctor", "--json", *(["--index", named] if named else []))
    assert got == code
    assert all(finding["state"] in ("ok", "note", "warn", "fail") for finding in json.loads(out)["findings"])


def test_whether_a_reader_can_decline_is_said(tmp_path):
    folder = question_answerer(tmp_path / "plain")
    settings = folder / "settings.json"
    for declines, state in ((True, State.OK), (False, State.WARN)):
        settings.write_text(json.dumps({"answers_null": declines}))
        assert check_reader(str(folder)).state is state
    found = {finding.subject: finding for finding in checkup(None, tmp_path, str(tmp_path / "nowhere"))}
    assert found["reader"].state is State.FAIL
