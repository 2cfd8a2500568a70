"""Plug-ins are found by their entry points, and one that is broken or clashes costs itself alone."""

from __future__ import annotations

import sys

import pytest
from made_plugins import POINTS, install

from spanwise.errors import PluginFailed
from spanwise.pipelines.plugins import KINDS, checked_name, plugin_of, plugins


def test_all_kinds_are_found_with_their_package_and_version(site):
    install(site, POINTS)
    found = [one for one in plugins() if one.package == "made-plugins"]
    assert [(one.kind, one.name) for one in found] == [
        ("parsers", ".notes"),
        ("retrievers", "longest"),
        ("readers", "first-word"),
        ("generators", "echo"),
    ]
    assert {(one.origin, one.problem) for one in found} == {("made-plugins 1.0", "")}


def test_finding_loads_nothing(site):
    install(site, {"spanwise.readers": {"mine": "made_plugin_bomb:Reader"}}, {"made_plugin_bomb": "1 / 0"})
    assert plugin_of("readers", "mine").problem == ""
    assert "made_plugin_bomb" not in sys.modules


@pytest.mark.parametrize(
    ("value", "source", "why"),
    [
        ("made_plugin_a:Reader", "1 / 0", "ZeroDivisionError: division by zero"),
        ("made_plugin_b:Reader", "import no_such_module", "No module named 'no_such_module'"),
        ("made_plugin_c:Reader", "", "has no attribute 'Reader'"),
        ("made_plugin_d", None, "No module named 'made_plugin_d'"),
    ],
)
def test_a_broken_one_names_its_package(site, value, source, why):
    install(
        site,
        {"spanwise.readers": {"mine": value}},
        {value.split(":")[0]: source} if source is not None else {},
    )
    with pytest.raises(PluginFailed, match=r"'mine' of made-plugins 1\.0 .* cannot be loaded") as raised:
        plugin_of("readers", "mine").load()
    assert why in str(raised.value)


def test_two_packages_with_one_name_name_each_other(site):
    install(site, {"spanwise.readers": {"mine": "a:Reader", "other": "a:Other"}}, package="first")
    install(site, {"spanwise.readers": {"mine": "b:Reader"}}, package="second")
    clashing = [one for one in plugins("readers") if one.name == "mine"]
    assert [one.problem for one in clashing] == [
        "second 1.0 offers the same name; remove one of them",
        "first 1.0 offers the same name; remove one of them",
    ]
    with pytest.raises(PluginFailed, match=r"of first 1\.0 .* is not used: second 1\.0 offers the same name"):
        clashing[0].load()
    assert plugin_of("readers", "other").problem == ""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("parsers", ".md"),
        ("parsers", "docx"),
        ("retrievers", "bm25"),
        ("retrievers", "hybrid"),
        ("retrievers", "rerank"),
        ("readers", "builtin"),
        ("generators", "extractive"),
    ],
)
def test_a_built_in_name_is_not_given_away(site, kind, name):
    install(site, {f"spanwise.{kind}": {name: "made_plugin:Thing"}})
    [found] = [one for one in plugins(kind) if one.package == "made-plugins"]
    assert found.problem == "the name is built in, and is not given away"
    assert found.is_hidden


@pytest.mark.parametrize("name", ["a+b", "Mine", "http://x", "", "a b", "x" * 65, "1st"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ValueError, match="cannot be the name"):
        checked_name("retrievers", name)


def test_a_package_that_is_damaged_hides_no_other(site):
    install(site, POINTS)
    info = install(site, {"spanwise.readers": {}}, package="damaged")
    (info / "entry_points.txt").write_text("[spanwise.readers]\nno equals sign here\n")
    (site / "empty-1.0.dist-info").mkdir()
    (site / "odd-1.0.dist-info").mkdir()
    (site / "odd-1.0.dist-info" / "entry_points.txt").write_bytes(b"[spanwise.readers]\n\xff\xfe = x\n")
    assert {one.kind for one in plugins() if one.package == "made-plugins"} == set(KINDS)


def test_of_a_package_that_lies_twice_on_the_path_the_first_counts(site, tmp_path, monkeypatch):
    install(tmp_path / "later", {"spanwise.readers": {"mine": "b:Reader"}}, version="0.9")
    sys.path.append(str(tmp_path / "later"))
    install(site, {"spanwise.readers": {"mine": "a:Reader"}}, version="1.0")
    found = plugin_of("readers", "mine")
    assert (found.version, found.problem) == ("1.0", "")


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="parsers, retrievers, readers, generators"):
        plugins("loaders")
