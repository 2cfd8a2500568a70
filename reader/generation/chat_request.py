"""What an endpoint is asked: two messages, and what of decoding the protocol has numbers for."""

from __future__ import annotations

from typing import Any

from ..decoding.settings import Decoding
from ..decoding.stopping import Limits
from .prompt import Prompt

CAN = "an endpoint can be asked for greedy, or sample with temperature, top_p and seed"

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
_TEMPLATE = 64  # tokens around the messages, more than any template that we know adds


def chat_request(model: str, prompt: Prompt, decoding: Decoding, limits: Limits) -> dict[str, Any]:
    """The body of the request. Raises ValueError for decoding and limits that an endpoint cannot follow.

    Source: OpenAI's API reference, "Create chat completion", as far as vLLM, Ollama and llama.cpp share it.
    """
    _refuse_what_is_no_part_of_it(decoding, limits)
    sampled = decoding.method == "sample"
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": _encodable(prompt.instructions)},
            {"role": "user", "content": _encodable(prompt.fenced())},
        ],
        "stream": True,
        "max_tokens": limits.tokens,
        "temperature": decoding.temperature if sampled else 0.0,
    }
    return body | ({"top_p": decoding.top_p, "seed": decoding.seed} if sampled else {})


def most_tokens(prompt: Prompt) -> int:
    """An upper estimate of the prompt's tokens, from its UTF-8 bytes, since an endpoint does not count.

    An ASCII letter or space counts for half a token, every other byte for one, and 64 for the template. Text
    in words takes less with all vocabularies that we know, often half; long runs of random letters may take
    more.
    """
    data = (prompt.instructions + prompt.fenced()).encode("utf-8", "replace")
    others = len(data.translate(None, _LETTERS))
    return others + (len(data) - others + 1) // 2 + _TEMPLATE


def _encodable(text: str) -> str:
    """The text with "?" for halves of characters, which names of files that are no UTF-8 have."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _refuse_what_is_no_part_of_it(decoding: Decoding, limits: Limits) -> None:
    if decoding.method not in ("greedy", "sample"):
        raise ValueError(f"an endpoint cannot decode by {decoding.method}; {CAN}")
    foreign = {
        "top_k": decoding.method == "sample" and decoding.top_k != 0,
        "repetition_penalty": decoding.repetition_penalty != 1,
        "blocked_ngrams": decoding.blocked_ngrams != 0,
    }
    for name in (name for name, is_set in foreign.items() if is_set):
        raise ValueError(f"{name} is {getattr(decoding, name)}, which is no part of the protocol; {CAN}")
    if limits.score is not None:
        raise ValueError(
            "an endpoint does not tell the scores of its tokens; limit tokens or seconds instead"
        )
