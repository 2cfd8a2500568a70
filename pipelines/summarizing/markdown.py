"""A summary as Markdown with a footnote for each cited span."""

from __future__ import annotations

import re

from ..visible import visible
from .summary import Summary, numbers_of

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&-])")


def summary_markdown(summary: Summary) -> str:
    """The sentences, then the cited spans as footnotes with file, place and words; none of it is markup."""
    if summary.is_refusal:
        return "*Nothing in these documents can be said to that.*"
    sentences = []
    for one in summary.sentences:
        marks = "".join(f"[^{number}]" for number in numbers_of(one.citations))
        doubt = f" *({one.verdict.value})*" if one.findings else ""
        sentences.append(f"{_plain(one.text)}{marks}{doubt}")
    notes = [
        f"[^{one.number}]: {_plain(one.span.document_id)}, "
        f"{f'page {one.page}' if one.page else f'line {one.line}'}: “{_plain(one.span.text)}”"
        for one in summary.citations
    ]
    return "\n".join([" ".join(sentences), "", *notes])


def _plain(text: str) -> str:
    """A text in one line with every sign of Markdown escaped."""
    return _SIGNS.sub(r"\\\1", visible(" ".join(text.split())))
