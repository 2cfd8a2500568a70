"""`.spanwiseignore` means what `.gitignore` means to git, and cannot make a walk slow."""

import os
import shutil
import subprocess
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from spanwise.corpora.folder import walk
from spanwise.corpora.ignore import IGNORE_FILE, path_matcher

IGNORED = f"ignored by {IGNORE_FILE}"
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
        ("b/**\n!b/c.txt", ["a.txt", "b/c.txt", "c.log"]),
        ("b\n!b/c.txt", ["a.txt", "c.log"]),
        ("# c.log\n\n\\#\n", ["a.txt", "b/c.log", "b/c.txt", "b/d/c.txt", "c.log"]),
        ("\ufeffb/\r\nc.log\r\n", ["a.txt"]),
    ],
)
def test_rules_of_the_top_folder_hold(tmp_path: Path, rules: str, expected: list[str]) -> None:
    make(
        tmp_path,
        {name: "" for name in ("a.txt", "c.log", "b/c.txt", "b/c.log", "b/d/c.txt")} | {IGNORE_FILE: rules},
    )
    assert left(tmp_path) == expected


@pytest.mark.parametrize("line", ["!", "/", "a//b", "\\", "**/" * 5, "*a" * 4])
def test_a_wrong_line_is_named_and_the_others_hold(tmp_path: Path, line: str) -> None:
    make(tmp_path, {IGNORE_FILE: f"x\n{line}\ny", "x": "", "y": "", "z": ""})
    listing = walk(tmp_path)
    assert left(tmp_path) == ["z"]
    [rejection] = listing.rejected
    assert rejection.document_id == IGNORE_FILE
    assert "line 2" in rejection.reason


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


def left_by_git(root: Path, git: dict[str, str]) -> list[str]:
    command = ["git", "ls-files", "--others", "-z", f"--exclude-per-directory={IGNORE_FILE}"]
    listing = subprocess.run(command, cwd=root, env=git, capture_output=True, check=True).stdout
    names = listing.decode("utf-8").split("\0")[:-1]
    return sorted(name for name in names if not name.endswith(IGNORE_FILE))


IDS = ["README.md", "notes/a.md", "notes/old/b.md", "notes/old/c.log", "other/notes/d.txt", "other/[x].md"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ((), IDS),
        (("notes/**",), IDS[1:4]),
        (("./notes/*",), IDS[1:4]),
        (("notes/",), IDS[1:5]),
        (("/*.md",), [IDS[0]]),
        (("other", "*.log"), [IDS[3], *IDS[4:]]),
        (("/notes", "!old/"), [IDS[1]]),
        (("!old/", "/old/c.log"), [IDS[0], IDS[1], *IDS[4:]]),
        ((r"\[x\].md",), [IDS[5]]),
        (("NOTES/**",), []),
    ],
)
def test_patterns_select_documents(patterns: tuple[str, ...], expected: list[str]) -> None:
    assert list(filter(path_matcher(patterns), IDS)) == expected


@pytest.mark.parametrize("pattern", ["", "/", "a//b", "x\\", "!", "*a*b*c*", "**/a/**/b/**/*c*"])
def test_a_wrong_pattern_is_named(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a path pattern"):
        path_matcher([pattern])


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_match_in_either_spelling(form: str) -> None:
    matches = path_matcher([unicodedata.normalize(form, "*ühle?/**")])
    assert matches(unicodedata.normalize("NFC", "Mühlen/a.txt"))
    assert matches(unicodedata.normalize("NFD", "Mühlen/a.txt"))


@settings(max_examples=30, deadline=None)
@given(files, files, files)
def test_git_keeps_the_same_files(git: dict[str, str], top: str, inner: str, innermost: str) -> None:
    rules = {IGNORE_FILE: top, f"b/{IGNORE_FILE}": inner, f"b/a/{IGNORE_FILE}": innermost}
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), dict.fromkeys([f"{name}{end}" for name in TREE for end in ("/f", "/ab b")], ""))
        make(Path(folder), dict.fromkeys(["f", "a.f", "b/a.b"], "") | rules)
        assert left(Path(folder)) == left_by_git(Path(folder), git)


def test_the_slowest_rule_is_fast() -> None:
    matches = path_matcher(["**/*a*a*b"])
    assert not matches("/".join(["a" * 255] * 16))
