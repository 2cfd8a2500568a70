"""What docs/adapters.md and docs/mcp.md show works as it stands there."""

from __future__ import annotations

import json
import os
import re
import runpy
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.mcp.tools import TOOLS

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when haystack is imported

DOCS = Path(__file__).parent.parent / "docs"
_FENCED = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    found = _FENCED.findall((DOCS / page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


@pytest.fixture(scope="module")
def beside(tmp_path_factory) -> Path:
    """A folder in which `notes` is indexed."""
    folder = tmp_path_factory.mktemp("beside")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "mill.md").write_text("# The mill\n\nThe mill was built in 1811 by Ada Rook.\n")
    (notes / "tram.md").write_text("# The tram\n\nThe tram was opened by Ute Falk in 1903.\n")
    with spanwise.open(notes, colbert="none") as library:
        library.sync(workers=1)
    return folder


@pytest.mark.parametrize("block", blocks("adapters.md", "python"), ids=["langchain", "llama", "haystack"])
def test_a_snippet_of_the_page_of_adapters_runs_as_it_stands(block, beside, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(beside)
    script = tmp_path / "snippet.py"
    script.write_text(block)
    runpy.run_path(str(script))
    assert "mill.md" in capsys.readouterr().out


def test_the_configurations_of_the_page_of_mcp_start_the_verb_with_its_index():
    found = [json.loads(block) for block in blocks("mcp.md", "json")]
    assert len(found) == 2
    for each in found:
        [servers] = each.values()
        assert servers["notes"]["args"][:2] == ["mcp", "--index"]


def test_the_page_of_mcp_lists_every_tool_and_no_other():
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "mcp.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [tool.name for tool in TOOLS]
