"""Greedy, sampling and contrastive search."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from table_decoder import TableDecoder, finish

from spanwise.reader.decoding.one_path import best_candidate, contrastive, greedy, sample
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits

END, A, B, C = range(4)
EVEN = {(): {A: 0.4, B: 0.35, C: 0.25}}


def chain(length):
    """A table in which A, B and C follow anything, until the end."""
    table, fronts = {}, [()]
    for _ in range(length):
        for front in fronts:
            table[front] = EVEN[()]
        fronts = [(*front, token) for front in fronts for token in (A, B, C)]
    return {**table, **{front: {END: 1.0} for front in fronts}}


def test_greedy_takes_the_best_until_the_end():
    written, text = finish(greedy(TableDecoder(chain(3), 4, [END]), Decoding(), Limits()))
    assert written == [A, A, A]
    assert text.tokens == (A, A, A)
    assert text.logprob == pytest.approx(3 * math.log(0.4))
    assert text.ended == Ended.END


@pytest.mark.parametrize(
    ("probabilities", "likeness", "degeneration", "scores", "pick"),
    [
        ([0.5, 0.3, 0.2], [0.9, 0.1, 0.5], 0.6, [-0.34, 0.06, -0.22], 1),
        ([0.5, 0.3, 0.2], [0.9, 0.1, 0.5], 0.0, [0.5, 0.3, 0.2], 0),
        ([0.6, 0.3], [0.5, 0.1], 0.6, [-0.06, 0.06], 1),
    ],
)
def test_the_contrastive_score(probabilities, likeness, degeneration, scores, pick):
    p, like = torch.tensor(probabilities), torch.tensor(likeness)
    assert ((1 - degeneration) * p - degeneration * like).tolist() == pytest.approx(scores, abs=1e-6)
    assert best_candidate(p, like, degeneration) == pick


def test_contrastive_search_leaves_a_loop_that_greedy_stays_in():
    states = {END: [0.0, 1.0], A: [1.0, 0.0], B: [0.0, 1.0], C: [0.7, 0.7]}
    decoder = TableDecoder(chain(4), 4, [END], states, prompt=C)
    decoding = Decoding("contrastive", degeneration=0.5, candidates=3)
    written, text = finish(contrastive(decoder, decoding, Limits()))
    assert written[:2] == [A, B]  # A is like C, but the most probable; then A would repeat itself
    assert text.ended == Ended.END
    same = finish(contrastive(decoder, Decoding("contrastive", degeneration=0.0, candidates=3), Limits()))
    assert same == finish(greedy(decoder, Decoding(), Limits()))


def test_candidates_beyond_the_nucleus_are_not_compared():
    states = {END: [0.0, 1.0], A: [1.0, 0.0], B: [1.0, 0.0], C: [0.0, 1.0]}
    decoder = TableDecoder(chain(1), 4, [END], states, prompt=A)
    free = finish(contrastive(decoder, Decoding("contrastive", degeneration=0.9, candidates=3), Limits()))
    held = Decoding("contrastive", degeneration=0.9, candidates=3, top_p=0.6)
    assert free[0] == [C]
    assert finish(contrastive(decoder, held, Limits()))[0] == [A]


def test_a_model_without_states_cannot_be_contrasted():
    with pytest.raises(ValueError, match="states"):
        finish(contrastive(TableDecoder(chain(1), 4, [END]), Decoding("contrastive"), Limits()))


def test_the_same_seed_gives_the_same_text():
    decoder = TableDecoder(chain(6), 4, [END])
    texts = {
        seed: [finish(sample(decoder, Decoding("sample", seed=seed), Limits())) for _ in range(2)]
        for seed in range(8)
    }
    assert all(one == other for one, other in texts.values())
    assert len({one[1].tokens for one, _ in texts.values()}) > 4


def test_a_temperature_of_zero_is_greedy():
    decoder = TableDecoder(chain(3), 4, [END])
    assert finish(sample(decoder, Decoding("sample", temperature=0), Limits()))[0] == [A, A, A]


def test_samples_follow_the_distribution():
    decoder = TableDecoder(chain(1), 4, [END])
    drawn = [finish(sample(decoder, Decoding("sample", seed=seed), Limits()))[0][0] for seed in range(400)]
    assert [drawn.count(token) / 400 for token in (A, B, C)] == pytest.approx([0.4, 0.35, 0.25], abs=0.08)
    narrowed = [
        finish(sample(decoder, Decoding("sample", top_k=2, top_p=0.5, seed=seed), Limits()))[0][0]
        for seed in range(50)
    ]
    assert set(narrowed) == {A}  # 0.53 of the two alone cross a half


@pytest.mark.parametrize("decode", [greedy, sample, contrastive])
def test_blocked_ngrams_are_not_repeated(decode):
    states = {token: [1.0, float(token)] for token in range(4)}
    decoder = TableDecoder(chain(6), 4, [END], states)
    written, _ = finish(decode(decoder, Decoding(blocked_ngrams=2, candidates=3), Limits()))
    pairs = list(pairwise(written))
    assert len(pairs) == len(set(pairs)) == 5
