"""Front matter becomes title and metadata, not text; templates are read by their inner suffix."""

import pytest

from spanwise.corpora.front_matter import front_matter
from spanwise.corpora.passages import split
from spanwise.corpora.reading import parse

YAML = "---\ntitle: 'The mill'  # old\ndate: 2024-02-29\ntags:\n  - rye\n  - oats\nby: {}\nremark: x\n---\n"
TOML = '+++\ntitle = "The mill"\ndate = 2024-02-29\ntags = ["rye", "oats"]\n[by]\na = "b"\n+++\n'


@pytest.mark.parametrize("matter", [YAML, TOML, YAML.replace("\n", "\r\n")])
@pytest.mark.parametrize("name", ["a.md", "a.html.md.erb", "a.txt", "a.html", "a.html.erb", "a.adoc"])
def test_front_matter_is_title_and_metadata_and_in_no_passage(matter: str, name: str) -> None:
    source = matter + "<% wrap %>\n\nIt grinds rye.\n"
    document = parse(source.encode(), name)
    assert document.title == "The mill"
    assert document.metadata["date"] == "2024-02-29"
    assert document.metadata["tags"] == "rye, oats"
    assert "remark" not in document.metadata
    [passage] = split(document)
    assert document.text[passage.start : passage.end] == passage.text
    assert passage.text.split(">")[-1].strip() == "It grinds rye."
    assert document.text == (passage.text if ".html" in name and ".md" not in name else source)


@pytest.mark.parametrize(
    "source",
    [
        "---\n\n# Top\n\n---\n",
        "---\ntitle: no end\n",
        "---\nOn the mill.\n---\n",
        "---\n- a\n- b\n---\n",
        "+++\ntitle = \n+++\n",
        " ---\na: b\n---\n",
        "---\n# comment\n---\n",
    ],
)
def test_a_malformed_block_is_text(source: str) -> None:
    assert front_matter(source) == (0, {})
    [passage] = split(parse(source.encode(), "a.md"))
    assert passage.text == source.strip()


def test_a_yaml_file_is_data_and_a_file_of_front_matter_alone_has_no_passage() -> None:
    [passage] = split(parse(YAML.encode(), "a.yml"))
    assert passage.start == 0
    assert split(parse(YAML.encode(), "a.md")) == []


def test_comments_of_templates_are_left_out_with_what_they_hold() -> None:
    page = "<p>Opens {% comment %}at six{% endcomment %}{# or seven #} at ten {{ name }}.</p>"
    assert parse(page.encode(), "a.html.liquid").text == "Opens at ten ."
