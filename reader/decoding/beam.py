"""Beam search: the best texts of several that are written side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .decoder import Decoder
from .distribution import in_order
from .generated import Generated
from .scoring import allowed
from .settings import Decoding
from .stopping import Ended, Limits, Watch


@dataclass(frozen=True, slots=True)
class Beam:
    """A text in the making: its tokens and their log-probability."""

    tokens: tuple[int, ...] = ()
    logprob: float = 0.0


def normalised(logprob: float, n_tokens: int, exponent: float) -> float:
    """ln P / tokens ** exponent: an exponent of 0 favours short texts, one of 1 compares means
    (Wu et al. 2016 divide by a shifted form of it). ValueError without a token.
    """
    if n_tokens < 1:
        raise ValueError("a text without a token has no normalised score")
    return float(logprob / n_tokens**exponent)


def beam_search(decoder: Decoder, decoding: Decoding, limits: Limits) -> list[Generated]:
    """The texts that were finished, best first by `normalised`; the end token counts as one.

    Each step goes on from the `beams` best beginnings. It ends when so many texts are finished and no
    beginning can become better than the worst of the best ones, at the most tokens, or with the time: then
    what is in the making is a text, too. One beam is greedy.
    """
    watch, step = limits.watch(), decoder.begin()
    beams, rows = [Beam()], [0]
    finished: list[tuple[float, Generated]] = []
    while beams:
        going = _expanded(beams, [step.logits[row] for row in rows], decoding, len(decoder.end))
        beams, rows, tokens = [], [], []
        for parent, beam in going:
            if beam.tokens[-1] in decoder.end:
                if len(beams) < decoding.beams:
                    finished.append(_finished(beam, beam.tokens[:-1], Ended.END, decoding))
            elif len(beams) < decoding.beams:
                beams.append(beam)
                rows.append(parent)
                tokens.append(beam.tokens[-1])
        ended = [_ended(watch, beam) for beam in beams]
        finished += [
            _finished(beam, beam.tokens, why, decoding) for beam, why in zip(beams, ended, strict=True) if why
        ]
        left = [at for at, why in enumerate(ended) if why is None]
        beams = [beams[at] for at in left]
        if not beams or _none_better(beams, finished, decoding, limits):
            break
        step = decoder.step([rows[at] for at in left], [tokens[at] for at in left])
        rows = list(range(len(beams)))
    finished.sort(key=lambda one: -one[0])
    return [text for _, text in finished]


def _expanded(
    beams: Sequence[Beam], logits: Sequence[torch.Tensor], decoding: Decoding, n_ends: int = 1
) -> list[tuple[int, Beam]]:
    """The best continuations of all beams with the number of the beam each goes on from, best first.

    So many of each beam that enough are left when it ends in every way. Ties: the better beam, the lower
    token.
    """
    found: list[tuple[int, Beam]] = []
    for number, (beam, scores) in enumerate(zip(beams, logits, strict=True)):
        logp = torch.log_softmax(allowed(scores, beam.tokens, decoding), dim=-1)
        for token in in_order(logp)[: decoding.beams + n_ends].tolist():
            if torch.isfinite(logp[token]):
                found.append((number, Beam((*beam.tokens, token), beam.logprob + float(logp[token]))))
    found.sort(key=lambda one: -one[1].logprob)
    return found


def _ended(watch: Watch, beam: Beam) -> Ended | None:
    return watch.ended(len(beam.tokens), beam.logprob, at_end=False)


def _finished(beam: Beam, tokens: tuple[int, ...], why: Ended, decoding: Decoding) -> tuple[float, Generated]:
    score = normalised(beam.logprob, len(beam.tokens), decoding.length_exponent)
    return score, Generated(tokens, beam.logprob, why)


def _none_better(
    beams: Sequence[Beam], finished: Sequence[tuple[float, Generated]], decoding: Decoding, limits: Limits
) -> bool:
    """True when enough are finished and the best beginning stays below them, however it goes on.

    A log-probability only falls, and is divided by at most the length of the longest text.
    """
    if len(finished) < decoding.beams:
        return False
    worst = sorted(score for score, _ in finished)[-decoding.beams]
    most = max(beam.logprob for beam in beams)
    return normalised(most, limits.tokens, decoding.length_exponent) <= worst
