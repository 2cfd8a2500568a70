"""The words of BLEU, as the script mteval-v13a of the translation workshops (WMT) cuts them.

Case is kept. ASCII punctuation stands alone, except apostrophes, hyphens that follow no digit, and points and
commas between digits; a few entities of SGML are read. Equal to `sacrebleu`'s tokenizer "13a".
"""

from __future__ import annotations

import re

_RULES = (
    (re.compile(r"""([!"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])"""), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # not after a digit
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # not before one
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # a hyphen after a digit
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def mteval_tokens(text: str) -> list[str]:
    """The words of a text, in order. A hyphen at the end of a line joins it with the next.

    >>> mteval_tokens("The mill's wheel cost $1,200.50 (in 1811-12).")
    ['The', "mill's", 'wheel', 'cost', '$', '1,200.50', '(', 'in', '1811', '-', '12', ')', '.']
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()
