"""The marks of citations in a text: "It burned in 1871. [1][3]" cites what is numbered 1 and 3."""

from __future__ import annotations

import re

from ...corpora.sentences import sentence_spans

_CITATION_MARK = re.compile(r" ?\[\d{1,3}\]")


def without_marks(text: str) -> str:
    """The text without its marks."""
    return _CITATION_MARK.sub("", text)


def marked_sentences(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of a text without their marks, each with the numbers that it cites, once, as they come.

    A mark belongs to the sentence that it stands in or directly behind; one before any sentence to none. A
    line ends a sentence, as in a list.
    """
    return [sentence for line in text.splitlines() for sentence in _of_line(line)]


def _of_line(line: str) -> list[tuple[str, tuple[int, ...]]]:
    plain, marks, at = "", [], 0
    for found in _CITATION_MARK.finditer(line):
        plain += line[at : found.start()]
        marks.append((len(plain), int(found[0].strip(" []"))))
        at = found.end()
    plain += line[at:]
    spans = sentence_spans(plain)
    cited: list[dict[int, None]] = [{} for _ in spans]
    for place, number in marks:
        before = [row for row, (start, _) in enumerate(spans) if start < place]
        if before:
            cited[before[-1]][number] = None
    return [(plain[start:end], tuple(cited[row])) for row, (start, end) in enumerate(spans)]
