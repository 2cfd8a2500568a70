"""The methods that write one text, token by token: greedy, sampling, contrastive search."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator

import torch
from torch import Tensor
from torch.nn import functional

from .decoder import Decoder, Step
from .distribution import draw, in_order, top_k, top_p, with_temperature
from .generated import Generated
from .scoring import allowed
from .settings import Decoding
from .stopping import Ended, Limits

Tokens = Generator[int, None, Generated]


def greedy(decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
    """Yields the best token again and again, the lowest id of equals; returns the text."""
    return _write(decoder, decoding, limits, lambda scores: int(in_order(scores)[0]))


def sample(decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
    """Yields tokens drawn after temperature, top-k and top-p; returns the text."""
    if decoding.temperature == 0:
        return greedy(decoder, decoding, limits)
    rng = random.Random(decoding.seed)

    def drawn(scores: Tensor) -> int:
        warm = with_temperature(scores, decoding.temperature)
        warm = top_k(warm, decoding.top_k) if decoding.top_k else warm
        return draw(top_p(warm, decoding.top_p), rng.random())

    return _write(decoder, decoding, limits, drawn)


def contrastive(decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
    """Yields the token with the best (1 - a) p - a max cos (Su et al. 2022); returns the text.

    Of the `candidates` best tokens, inside the nucleus of `top_p`, p is the probability and max cos the
    greatest cosine of the token's state with those of the prompt and of what was written; a is
    `degeneration`. Ties go to the more probable one. ValueError for a decoder that does not tell its states.
    """
    watch, step = limits.watch(), decoder.begin()
    before = _states(step)[0]  # (tokens so far, width)
    written: list[int] = []
    total, row, ended = 0.0, 0, None
    while ended is None:
        scores = allowed(step.logits[row], written, decoding)
        logp = torch.log_softmax(scores, dim=-1)
        options = _candidates(scores, decoding)
        step = decoder.step([row] * len(options), options)
        states = _states(step)[:, -1]  # (options, width)
        row = best_candidate(logp[options].exp(), _likeness(states, before), decoding.degeneration)
        before = torch.cat([before, states[row : row + 1]])
        total += float(logp[options[row]])
        ended = watch.ended(len(written) + 1, total, options[row] in decoder.end)
        if ended is not Ended.END:
            written.append(options[row])
            yield options[row]
    return Generated(tuple(written), total, ended)


def best_candidate(probabilities: Tensor, likeness: Tensor, degeneration: float) -> int:
    """The index of the best (1 - a) p - a likeness, both float (candidates,); of equals the first."""
    return int(in_order((1 - degeneration) * probabilities - degeneration * likeness)[0])


def _write(decoder: Decoder, decoding: Decoding, limits: Limits, choose: Callable[[Tensor], int]) -> Tokens:
    """Yields what `choose` takes from the scores of each step."""
    watch, step = limits.watch(), decoder.begin()
    written: list[int] = []
    total, ended = 0.0, None
    while ended is None:
        scores = allowed(step.logits[0], written, decoding)
        token = choose(scores)
        total += float(torch.log_softmax(scores, dim=-1)[token])
        ended = watch.ended(len(written) + 1, total, token in decoder.end)
        if ended is not Ended.END:
            written.append(token)
            yield token
        if ended is None:
            step = decoder.step([0], [token])
    return Generated(tuple(written), total, ended)


def _candidates(scores: Tensor, decoding: Decoding) -> list[int]:
    """The tokens that are compared, best first."""
    kept = top_p(scores, decoding.top_p)
    best: list[int] = in_order(kept)[: decoding.candidates].tolist()
    return [token for token in best if math.isfinite(kept[token])]


def _likeness(states: Tensor, before: Tensor) -> Tensor:
    """For each of (n, width) states the greatest cosine with one of (m, width): float (n,)."""
    here, there = (functional.normalize(part.float(), dim=-1) for part in (states, before))
    return (here @ there.T).amax(dim=-1)


def _states(step: Step) -> Tensor:
    if step.hidden is None:
        raise ValueError("this model does not tell its states, which contrastive search compares")
    return step.hidden
