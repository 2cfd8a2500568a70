"""Why a walk leaves a file alone is told as the walk decides it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.corpora.folder import walk
from spanwise.corpora.passed_over import passed_over


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.md", "keep.log", "drafts/b.md", "drafts/in/c.log", ".hidden/d.md", "node_modules/e.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("words")
    (tmp_path / ".spanwiseignore").write_text("# none\n*.log\n!keep.log\n")
    (tmp_path / "drafts" / ".spanwiseignore").write_text("/in/\n")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    return tmp_path


def files(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if not path.is_dir()]


def test_it_says_nothing_of_what_is_walked_and_something_of_all_else(root):
    walked = {file.place for file in walk(root).files}
    assert (
        {name for name in files(root) if not passed_over(root, name)}
        == walked
        == {"a.md", "keep.log", "drafts/b.md"}
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("drafts/in/c.log", "drafts/in is ignored by the rule '/in/' in drafts/.spanwiseignore"),
        (".hidden/d.md", ".hidden is passed over: hidden"),
        ("node_modules/e.js", "node_modules is passed over: folder node_modules"),
        ("link.md", "link.md is passed over: link"),
        (".spanwiseignore", ".spanwiseignore belongs to spanwise itself"),
    ],
)
def test_the_part_and_the_rule_are_named(root, name, reason):
    assert passed_over(root, name) == reason


def test_a_folder_that_is_an_index_is_named(root):
    (root / "old" / "segments").mkdir(parents=True)
    (root / "old" / "catalog.sqlite").write_text("")
    (root / "old" / "x.md").write_text("x")
    assert passed_over(root, "old/x.md") == "old/ is an index"


def test_rules_that_cannot_be_read_are_not_in_force(root):
    (root / ".spanwiseignore").unlink()
    (root / ".spanwiseignore").symlink_to(root / "a.md")
    assert passed_over(root, "keep.log") == ""


def test_what_is_not_there_is_an_error(root):
    with pytest.raises(FileNotFoundError):
        passed_over(root, "gone.md")
