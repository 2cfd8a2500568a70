"""T20: a document that refers to the network, or to other files, is read without access to either."""

from __future__ import annotations

import no_network
import pytest

import spanwise

ELSEWHERE = "http://192.0.2.1"  # reserved for documentation, RFC 5737
IN_HTML = [
    '<link rel="stylesheet" href="{}">',
    '<link rel="icon" href="{}">',
    '<link rel="preload" as="font" href="{}">',
    '<link rel="dns-prefetch" href="{}">',
    '<script src="{}"></script>',
    '<meta http-equiv="refresh" content="0; url={}">',
    '<base href="{}/">',
    '<style>@import url("{}"); p {{ background: url("{}") }}</style>',
    '<img src="{}">',
    '<picture><source srcset="{} 2x"></picture>',
    '<iframe src="{}"></iframe>',
    '<object data="{}"></object>',
    '<embed src="{}">',
    '<video poster="{}"><source src="{}"></video>',
    '<audio src="{}"></audio>',
    '<a href="{}" ping="{}">a link</a>',
    '<form action="{}"><input type="image" src="{}"></form>',
    '<svg><image href="{}"/><use href="{}#a"/></svg>',
    '<body background="{}">',
    "![a picture]({})",
]
IN_XML = [
    '<!DOCTYPE html SYSTEM "{}"><html><body><p>a word</p></body></html>',
    '<!DOCTYPE html [<!ENTITY e SYSTEM "{}">]><html><body><p>a word &e;</p></body></html>',
    '<html xmlns:xi="http://www.w3.org/2001/XInclude"><p>a word</p><xi:include href="{}"/></html>',
]


@pytest.mark.smoke
def test_references_are_neither_looked_up_nor_opened(tmp_path, record) -> None:
    canary = tmp_path / "canary"
    canary.write_text("canaryword")
    folder = tmp_path / "notes"
    folder.mkdir()
    targets = (ELSEWHERE, canary.as_uri())
    for number, target in enumerate(targets):
        for place, reference in enumerate(IN_HTML):
            text = f"<html><body><p>a word</p>{reference.replace('{}', target)}</body></html>"
            (folder / f"{number}-{place}.html").write_text(text)
            (folder / f"{number}-{place}.md").write_text(f"a word {reference.replace('{}', target)}")
        for place, reference in enumerate(IN_XML):
            for ending in ("html", "xml", "svg"):
                (folder / f"{number}-x{place}.{ending}").write_text(reference.replace("{}", target))
    with spanwise.open(folder, tmp_path / "index") as library:
        library.sync(vectors=False)
        assert len(library.snapshot.files()) >= len(targets) * 2 * len(IN_HTML)
        assert library.search("canaryword", retriever="bm25") == []
    assert no_network.attempts() == []
    record("T20", f"look-ups and connections for {len(IN_HTML + IN_XML)} kinds of references", "0")
