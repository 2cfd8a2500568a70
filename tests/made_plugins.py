"""Packages with plug-ins, made of a module and a dist-info folder, as an installer would lay them down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SHOUTED = '''
from spanwise.types import Hit, ScoredSpan, Span


class Longest:
    """Ranks passages by their length."""

    def __init__(self, passages):
        self.passages = list(passages.all_passages())

    def search(self, questions, k, among=None):
        allowed = None if among is None else set(among.tolist())
        found = [p for p in self.passages if allowed is None or p.id in allowed]
        found.sort(key=lambda p: -len(p.text))
        hits = [Hit(p, float(len(p.text)), rank) for rank, p in enumerate(found[:k], 1)]
        return [hits for _ in questions]


class FirstWord:
    """Reads the first word of each passage."""

    def read(self, questions, passages, n_best=5):
        return [[[self.span(p)] for p in group] for group in passages]

    def span(self, passage):
        word = passage.text.split()[0]
        start = passage.start + passage.text.index(word)
        return ScoredSpan(Span(passage.document_id, start, start + len(word), word), passage, 1.0, 0.0)
'''
PARSER = """
import hashlib
from spanwise.types import Document


def read(data, document_id):
    text = data.decode("utf-16")
    if "boom" in text:
        raise RuntimeError("it went boom")
    if "nothing" in text:
        return None
    return Document(document_id, "text/x-notes", hashlib.sha256(data).hexdigest(), "Notes", text)
"""
GENERATOR = '''
from spanwise.reader.decoding.stopping import Ended
from spanwise.reader.generation.protocol import Written


class Echo:
    """Writes the first sentence of the first document."""

    name, digest, room = "echo", "echo 1", 100_000

    def n_tokens(self, prompt):
        return len(prompt.fenced().split())

    def write(self, prompt, decoding, limits):
        text = prompt.sources[0].text.split(".")[0] + "."
        for word in text.split(" "):
            yield word + " "
        return Written(text.replace("\\n", "\\n") + " ", Ended.END, len(text.split()))
'''
POINTS = {
    "spanwise.retrievers": {"longest": "made_plugin:Longest"},
    "spanwise.readers": {"first-word": "made_plugin:FirstWord"},
    "spanwise.parsers": {".notes": "made_parser:read"},
    "spanwise.generators": {"echo": "made_generator:Echo"},
}


def install(
    site: Path,
    points: Mapping[str, Mapping[str, str]],
    modules: Mapping[str, str] = {},
    package: str = "made-plugins",
    version: str = "1.0",
) -> Path:
    """Lays a package into a folder that stands on `sys.path`: its modules, and what it offers."""
    info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = [
        line
        for group, offered in points.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in offered.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source)
    return info
