"""`.spanwiseignore` means what `.gitignore` means to git, and cannot make a walk slow."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.corpora.folder import walk
from spanwise.corpora.ignore import NAME, IgnoreRules, parse_rules

IGNORED = f"ignored by {NAME}"
TREE = ["a", "b", "ab", "a/a", "a/b", "a/ab", "b/a/a", "b/a/b", "b/b/ab", "ab/a/b/a", "ab/a b"]


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def left(root: Path) -> list[str]:
    return [file.document_id for file in walk(root).files]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("*.log", ["a.txt", "b/c.txt", "b/d/c.txt"]),
        ("/c.log", ["a.txt", "b/c.log", "b/c.txt", "b/d/c.txt"]),
        ("b/", ["a.txt", "c.log"]),
        ("a.txt/", ["a.txt", "b/c.log", "b/c.txt", "b/d/c.txt", "c.log"]),
        ("b/*\n!b/c.txt", ["a.txt", "b/c.txt", "c.log"]),
        ("b/**\n!b/c.txt", ["a.txt", "b/c.txt", "c.log"]),
        ("b\n!b/c.txt", ["a.txt", "c.log"]),
        ("# c.log\n\n\\#\n", ["a.txt", "b/c.log", "b/c.txt", "b/d/c.txt", "c.log"]),
        ("\ufeffb/\r\nc.log\r\n", ["a.txt"]),
    ],
)
def test_rules_of_the_top_folder(tmp_path: Path, rules: str, expected: list[str]) -> None:
    make(
        tmp_path, {name: "" for name in ("a.txt", "c.log", "b/c.txt", "b/c.log", "b/d/c.txt")} | {NAME: rules}
    )
    assert left(tmp_path) == expected


def test_an_inner_file_goes_before_an_outer_one(tmp_path: Path) -> None:
    make(tmp_path, {NAME: "*.log", "in/" + NAME: "!keep.log\n/x", "in/keep.log": "", "in/x": "", "x": ""})
    assert left(tmp_path) == ["in/keep.log", "x"]


def test_what_is_ignored_is_counted_and_an_ignored_folder_is_not_entered(tmp_path: Path) -> None:
    make(tmp_path, {NAME: "big/\n*.log", "big/1": "", "big/2": "", "a.log": "", "b": ""})
    assert walk(tmp_path).skipped == {IGNORED: 2}


def test_a_rule_may_hold_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    try:
        (tmp_path / name).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (tmp_path / NAME).write_bytes(b"caf\xe9\n")
    assert left(tmp_path) == []


@pytest.mark.parametrize("line", ["!", "/", "a//b", "\\", "x\\\\\\"])
def test_a_line_that_is_no_rule_is_told_and_the_others_hold(tmp_path: Path, line: str) -> None:
    make(tmp_path, {NAME: f"x\n{line}\ny", "x": "", "y": "", "z": ""})
    listing = walk(tmp_path)
    assert left(tmp_path) == ["z"]
    [rejection] = listing.rejected
    assert rejection.document_id == NAME
    assert "line 2" in rejection.reason


def test_an_ignore_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    make(tmp_path, {"rules": "a", "root/a": ""})
    (tmp_path / "root" / NAME).symlink_to(tmp_path / "rules")
    [rejection] = walk(tmp_path / "root").rejected
    assert "not in force" in rejection.reason
    assert left(tmp_path / "root") == ["a"]


def test_a_rule_full_of_wild_cards_does_not_hang() -> None:
    rules, complaints = parse_rules(b"*a" * 60 + b"b\n" + b"**/*a*/" * 30 + b"b\n")
    assert complaints == []
    assert not IgnoreRules("", rules).ignores("/".join(["a" * 255] * 16), False)


parts = st.sampled_from(["a", "b", "ab", "*", "**", "a*", "?", "[ab]", "*b", "a b", "[!a]"])
rules = st.builds(
    lambda negated, top, parts, end: negated + top + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**"]),
)
files = st.lists(rules, max_size=4).map("\n".join)


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if shutil.which("git") is None:
        pytest.skip("git is the judge")
    folder = str(tmp_path_factory.mktemp("git"))
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    return {**os.environ, "GIT_DIR": folder, "GIT_WORK_TREE": "."}


def kept_by_git(root: Path, git: dict[str, str]) -> list[str]:
    command = ["git", "ls-files", "--others", "-z", f"--exclude-per-directory={NAME}"]
    done = subprocess.run(command, cwd=root, env=git, capture_output=True, check=True)
    found = done.stdout.decode("utf-8").split("\0")[:-1]
    return sorted(name for name in found if not name.endswith(NAME))


def same_as_git(git: dict[str, str], rules: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), dict.fromkeys([f"{name}{end}" for name in TREE for end in ("/f", "/ab b")], ""))
        make(Path(folder), dict.fromkeys(["f", "a.f", "b/a.b"], ""))
        make(Path(folder), rules)
        assert left(Path(folder)) == kept_by_git(Path(folder), git)


@given(files, files, files)
def test_git_keeps_the_same_files(git: dict[str, str], top: str, inner: str, innermost: str) -> None:
    same_as_git(git, {NAME: top, f"b/{NAME}": inner, f"b/a/{NAME}": innermost})


@pytest.mark.reliability
@settings(max_examples=500, derandomize=False)
@given(files, files, files)
def test_git_keeps_the_same_files_often(git: dict[str, str], top: str, inner: str, innermost: str) -> None:
    same_as_git(git, {NAME: top, f"b/{NAME}": inner, f"b/a/{NAME}": innermost})
