"""The plug-ins of docs/plugins.md, laid down as a package, do what the page says."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from made_plugins import install
from scripted_reader import Flat

import spanwise
from spanwise.pipelines.summarizing.generators import writing_of

PAGE = (Path(__file__).parent.parent / "docs" / "plugins.md").read_text(encoding="utf-8")
MODULES = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, re.DOTALL))
[TOML] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
POINTS = tomllib.loads(TOML)["project"]["entry-points"]
STEPS = ("Mix flour and water.", "The first loaf was baked by Ida Rook in 1811.")
RECIPE = "name: Varrow bread\n" + "".join(f"step: {step}\n" for step in STEPS)


@pytest.fixture
def library(tmp_path, monkeypatch):
    site, folder = tmp_path / "site", tmp_path / "recipes"
    site.mkdir()
    folder.mkdir()
    install(site, POINTS, MODULES)
    monkeypatch.syspath_prepend(site)
    (folder / "bread.recipe").write_text(RECIPE)
    (folder / "nameless.recipe").write_text("step: Wait.\n")
    (folder / "old.txt").write_text("An old oven stands in the yard.\n")
    with spanwise.open(folder) as opened:
        opened.encoder = Flat()
        yield opened
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture
def report(library):
    return library.sync(vectors=False, workers=1)


def test_the_parser_reads_recipes_and_refuses_one_without_a_name(library, report):
    assert report.added == ("bread.recipe", "old.txt")
    assert [one.reason for one in report.rejected] == ["a recipe without a name"]
    document = library.document("bread.recipe")
    assert document.text.splitlines()[0] == document.title == "Varrow bread"
    place = document.labels[1]
    assert (place.text, document.text[place.start :].startswith("The first loaf")) == ("step 2", True)


def test_the_retriever_ranks_openings_alone_and_in_a_sum(library, report):
    assert library.search("bread", k=1, retriever="opening")[0].passage.start == 0
    assert (
        library.search("first loaf", k=1, retriever="bm25+opening")[0].passage.document_id == "bread.recipe"
    )


def test_the_reader_reads_the_name(library, report):
    answer = library.ask("Who baked the first loaf?", retriever="bm25+opening", reader="capitals")
    assert answer.best.short.text == "Ida Rook"
    assert library.document("bread.recipe").text[answer.span.start : answer.span.end] == answer.text


def test_the_generator_writes_a_sentence_that_is_cited(library, report):
    writing = writing_of("leading")
    summary = library.summarize("Where does the old oven stand?", retriever="bm25", k=1, writing=writing)
    [sentence] = summary.sentences
    assert sentence.text == "An old oven stands in the yard."
    assert sentence.citations[0].span.document_id == "old.txt"


def test_the_page_tells_all_four_kinds():
    from spanwise.pipelines.plugins import KINDS, PREFIX

    assert set(POINTS) == {PREFIX + kind for kind in KINDS}
    assert len(MODULES) == len(KINDS)
