"""Keeps a text from speaking to the model in control tokens.

A document may hold `</s>` or `<|im_start|>` by chance or on purpose. A tokenizer makes the control token of
it; told to split special tokens, it still does where the token is an ordinary piece of its vocabulary
(SentencePiece's unigrams) or is not marked as special. So what counts here are the ids that come out.
"""

from __future__ import annotations

from typing import Any


def control_tokens(tokenizer: Any) -> frozenset[int]:
    """The ids that mean something to the model: special ones, and added ones in brackets (<tool_call>).

    Not the one of unknown words, unless it also begins, ends or fills texts, as in GPT-2.
    """
    added = tokenizer.added_tokens_decoder.items()
    marked = {token for token, found in added if found.special or _is_in_brackets(found.content)}
    others = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    unknown = {tokenizer.unk_token_id} - others
    return frozenset(marked | set(tokenizer.all_special_ids)) - unknown


def as_plain(text: str, tokenizer: Any, control: frozenset[int]) -> str:
    """The text with a space in each part that would become a control token: `</s>` is then `< /s>`.

    A part that stays one, under a tokenizer that drops spaces, is taken out.
    """
    for start, end in reversed(_spans(text, tokenizer, control)):
        part = text[start:end]
        cut = start + len(part) - len(part.lstrip()) + 1
        text = f"{text[:cut]} {text[cut:]}"
    while left := _spans(text, tokenizer, control):  # each round shortens the text
        for start, end in reversed(left):
            text = text[:start] + text[end:]
    return text


def _spans(text: str, tokenizer: Any, control: frozenset[int]) -> list[tuple[int, int]]:
    """Where in the text control tokens would come from, in order and without overlaps."""
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    spans: list[tuple[int, int]] = []
    for token, (start, end) in zip(found["input_ids"], found["offset_mapping"], strict=True):
        if token in control and start >= (spans[-1][1] if spans else 0):
            spans.append((start, max(end, start + 1)))
    return spans


def _is_in_brackets(content: str) -> bool:
    return content[:1] in ("<", "[") and content[-1:] in (">", "]")
