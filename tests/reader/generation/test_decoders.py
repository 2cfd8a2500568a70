"""The decoders over models with a cache: against `generate` of their library, and against no cache at all."""

from __future__ import annotations

import pytest
import torch
from made_generators import writer
from table_decoder import finish
from transformers import GenerationConfig
from transformers.modeling_outputs import BaseModelOutput

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.decode import decode
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Limits
from spanwise.reader.generation.causal_decoder import CausalDecoder
from spanwise.reader.generation.seq2seq_decoder import Seq2SeqDecoder
from spanwise.reader.generation.transformers_generator import load_generator

PROMPT = [7, 30, 11, 12, 40, 12]
MOST = 12
MANY_ENDS = frozenset({1, 5, 9, 25, 60})


def decoder_of(generator, end=frozenset({1}), prompt=PROMPT):
    if generator._start:
        return Seq2SeqDecoder(generator._model, prompt, generator._start, end, 500)
    return CausalDecoder(generator._model, prompt, end, 500)


def generated_by_library(generator, end, **settings):
    """The tokens of `generate`, without the prompt and from the first end token on."""
    model, start = generator._model, generator._start
    model.generation_config = GenerationConfig()
    config = GenerationConfig(
        max_new_tokens=MOST,
        do_sample=False,
        eos_token_id=sorted(end),
        pad_token_id=0,
        decoder_start_token_id=start[0] if start else None,
        **settings,
    )
    ids = torch.tensor([PROMPT])
    [found] = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config).tolist()
    tokens = found[1:] if start else found[len(PROMPT) :]
    ends = [at for at, token in enumerate(tokens) if token in end]
    return tuple(tokens[: ends[0]] if ends else tokens)


@torch.inference_mode()
def without_cache(generator, texts):
    """Scores of the next token and the states of the last one, for texts of one length read as a whole."""
    model, start = generator._model, list(generator._start)
    if not start:
        found = model(torch.tensor([PROMPT + text for text in texts]), output_hidden_states=True)
        return found.logits[:, -1], found.hidden_states[-1][:, -1]
    source = model.get_encoder()(torch.tensor([PROMPT])).last_hidden_state.expand(len(texts), -1, -1)
    found = model(
        encoder_outputs=BaseModelOutput(last_hidden_state=source),
        decoder_input_ids=torch.tensor([start + text for text in texts]),
        output_hidden_states=True,
    )
    return found.logits[:, -1], found.decoder_hidden_states[-1][:, -1]


def test_greedy_is_that_of_the_library(generator):
    for end in (frozenset({1}), MANY_ENDS):
        _, ours = finish(decode(decoder_of(generator, end), Decoding(), Limits(MOST)))
        assert ours.tokens == generated_by_library(generator, end)


@pytest.mark.parametrize(("beams", "exponent"), [(2, 0.6), (4, 0.0), (4, 0.6), (4, 1.0)])
def test_beam_search_is_that_of_the_library(generator, beams, exponent):
    settings = {"num_beams": beams, "length_penalty": exponent, "early_stopping": "never"}
    for end in (frozenset({1}), MANY_ENDS):
        decoding = Decoding("beam", beams=beams, length_exponent=exponent)
        _, ours = finish(decode(decoder_of(generator, end), decoding, Limits(MOST)))
        assert ours.tokens == generated_by_library(generator, end, **settings)


def test_a_cached_step_is_that_of_the_whole_text(generator):
    decoder, texts = decoder_of(generator), [[]]
    step = decoder.begin()
    for parents in ([0], [0, 0, 0], [2, 0, 1], [1, 1], [0, 1], [0, 1, 1, 0], [3]):
        logits, states = without_cache(generator, texts)
        torch.testing.assert_close(step.logits, logits, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(step.hidden[:, -1], states, atol=1e-5, rtol=1e-4)
        tokens = [10 + 7 * len(texts[0]) + row for row in range(len(parents))]
        texts = [[*texts[parent], token] for parent, token in zip(parents, tokens, strict=True)]
        step = decoder.step(parents, tokens)
    torch.testing.assert_close(step.logits, without_cache(generator, texts)[0], atol=1e-5, rtol=1e-4)


def test_to_begin_again_is_to_forget(generator):
    decoder = decoder_of(generator)
    first, second = decoder.begin(), decoder.step([0, 0], [10, 11])
    again = decoder.begin()
    assert torch.equal(first.logits, again.logits)
    assert torch.equal(first.hidden, again.hidden)
    assert torch.equal(second.logits, decoder.step([0, 0], [10, 11]).logits)


def test_the_first_states_are_those_of_the_prompt(generator):
    hidden = decoder_of(generator).begin().hidden
    assert hidden.shape == (1, len(generator._start) or len(PROMPT), 16)


def test_two_decoders_of_a_model_take_turns(generator):
    one, other = decoder_of(generator), decoder_of(generator, prompt=PROMPT[::-1])
    alone = [one.begin().logits, one.step([0], [10]).logits]
    first = one.begin().logits
    other.begin()
    other.step([0, 0], [12, 13])
    assert torch.equal(torch.stack(alone), torch.stack([first, one.step([0], [10]).logits]))


def test_encoder_and_decoder_may_differ_in_depth(tmp_path):
    made = load_generator(str(writer(tmp_path, "T5", num_layers=1, num_decoder_layers=3)), "cpu")
    decoder = decoder_of(made)
    decoder.begin()
    found = decoder.step([0, 0], [10, 11]).logits
    torch.testing.assert_close(found, without_cache(made, [[10], [11]])[0], atol=1e-5, rtol=1e-4)


def test_scores_that_are_no_numbers_are_named(generator, monkeypatch):
    head = generator._model.get_output_embeddings()
    monkeypatch.setattr(head, "forward", lambda states: states @ head.weight.T * float("nan"))
    with pytest.raises(GenerationFailed, match="not numbers"):
        decoder_of(generator).begin()
