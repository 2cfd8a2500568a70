"""The text of a chat answer, and its citations in the form that chat clients know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

REFUSAL = "The answer is not in these documents."


def chat_text(written: Mapping[str, Any]) -> str:
    """The sentences with their marks, or that the documents do not say it and where to look.

    >>> chat_text({"sentences": [], "nearest": []})
    'The answer is not in these documents.'
    """
    if written["sentences"]:
        return " ".join(map(_cited, written["sentences"]))
    nearest = list(dict.fromkeys(hit["document"] for hit in written["nearest"]))
    return f"{REFUSAL} Nearest: {', '.join(nearest)}." if nearest else REFUSAL


def url_citations(text: str, written: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One citation of an address for each mark of the text; offsets are those of the mark.

    The address is relative: the document's path, with the place as RFC 5147 has it, "a.md#char=10,20".
    """
    cited = {one["number"]: one for each in written["sentences"] for one in each["citations"]}
    found = []
    for number, one in sorted(cited.items()):
        mark = f"[{number}]"
        at = text.rfind(mark)
        place = {
            "start_index": at,
            "end_index": at + len(mark),
            "title": one["document"],
            "url": f"{quote(one['document'])}#char={one['start']},{one['end']}",
        }
        found.append({"type": "url_citation", "url_citation": place})
    return found


def _cited(sentence: Mapping[str, Any]) -> str:
    numbers = sorted({one["number"] for one in sentence["citations"]})
    marks = "".join(f"[{number}]" for number in numbers)
    return " ".join([" ".join(sentence["text"].split()), marks]).rstrip()
