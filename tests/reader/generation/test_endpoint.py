"""A text comes whole from a server on this machine, asked as the protocol says."""

from __future__ import annotations

import pytest
from endpoint_asking import PROMPT, Asking
from endpoint_server import Running

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.settings import Decoding, preset
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.endpoint import endpoint_of
from spanwise.reader.generation.endpoint_settings import EndpointSettings
from spanwise.reader.generation.prompt import prompt_of
from spanwise.reader.generation.protocol import Generator, Written

TEXT = "The library opens at nine."


def test_a_text_comes_in_pieces_and_as_a_whole(server: Running) -> None:
    asking = Asking(server, "whole")
    assert asking.written() == Written(TEXT, Ended.END, n_tokens=6)
    assert asking.pieces == ["The library ", "opens at nine."]


@pytest.mark.parametrize("scene", ["only_done", "only_finish", "crlf"])
def test_streams_of_other_servers_are_understood(server: Running, scene: str) -> None:
    assert Asking(server, scene).written() == Written(TEXT, Ended.END, n_tokens=2)


def test_a_character_may_come_in_several_bytes_and_chunks(server: Running) -> None:
    assert Asking(server, "single_bytes").written().text == "Größe 😀 大"


def test_a_character_may_come_in_two_events(server: Running) -> None:
    asking = Asking(server, "halves")
    assert asking.written().text == "smile 😀 half \ufffd" == "".join(asking.pieces)


def test_no_control_reaches_the_terminal(server: Running) -> None:
    asking = Asking(server, "controls")
    assert asking.written().text == "[31mred\n\tplain2J"
    assert "" not in asking.pieces


def test_a_text_may_end_at_the_most_tokens(server: Running) -> None:
    assert Asking(server, "length").written() == Written("The", Ended.MOST_TOKENS, n_tokens=1)


def test_what_is_asked(server: Running) -> None:
    asking = Asking(server, "whole")
    asking.written(preset("general", seed=7), Limits(tokens=40))
    (asked,) = server.asked(asking.scene)
    assert asked["path"] == "/v1/chat/completions"
    assert asked["body"] == {
        "model": asking.scene,
        "messages": [
            {"role": "system", "content": PROMPT.instructions},
            {"role": "user", "content": PROMPT.fenced()},
        ],
        "stream": True,
        "max_tokens": 40,
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 7,
    }
    assert "Authorization" not in asked["headers"]


def test_greedy_is_temperature_0_and_nothing_else(server: Running) -> None:
    asking = Asking(server, "whole")
    asking.written(Decoding("greedy", temperature=0.9, top_p=0.5, top_k=3))
    body = server.asked(asking.scene)[0]["body"]
    assert body["temperature"] == 0
    assert not {"top_p", "seed"} & set(body)


@pytest.mark.parametrize(
    ("decoding", "named"),
    [
        (Decoding("beam"), "beam"),
        (Decoding("contrastive"), "contrastive"),
        (Decoding("sample", top_k=5), "top_k is 5"),
        (Decoding(repetition_penalty=1.1), r"repetition_penalty is 1\.1"),
        (Decoding(blocked_ngrams=3), "blocked_ngrams is 3"),
    ],
)
def test_decoding_that_cannot_be_followed_is_refused_unasked(
    server: Running, decoding: Decoding, named: str
) -> None:
    asking = Asking(server, "whole")
    with pytest.raises(ValueError, match=f"{named}.*can be asked for greedy, or sample"):
        asking.written(decoding)
    assert asking.n_asked() == 0


def test_a_limit_of_scores_is_refused(server: Running) -> None:
    with pytest.raises(ValueError, match="does not tell the scores"):
        Asking(server, "whole").written(limits=Limits(score=-1.0))


def test_halves_of_characters_in_the_name_of_a_file_are_sent_as_question_marks(server: Running) -> None:
    asking = Asking(server, "whole")
    prompt = prompt_of("When?", [("h\udcf6rs.md", "At nine.")], "one sentence")
    assert list(asking.generator.write(prompt, Decoding(), Limits()))
    assert "h?rs.md" in server.asked(asking.scene)[0]["body"]["messages"][1]["content"]


def test_a_generator_is_named_by_address_and_model(server: Running) -> None:
    generator: Generator = endpoint_of(f"{server.v1}/#llama3", EndpointSettings(room=4096))
    assert generator.name == f"{server.v1}#llama3"
    assert generator.room == 4096
    assert generator.digest == endpoint_of(f"{server.v1}#llama3").digest
    assert generator.digest != endpoint_of(f"{server.v1}#llama2").digest


def test_the_only_model_need_not_be_named(server: Running) -> None:
    assert endpoint_of(f"{server.root}/one").name == f"{server.root}/one#only"


def test_several_models_are_listed(server: Running) -> None:
    with pytest.raises(ValueError, match=r"has 2 models; name one as .*/v1#MODEL: llama3, qwen\[2J$"):
        endpoint_of(server.v1)


def test_no_model_is_an_error(server: Running) -> None:
    with pytest.raises(ValueError, match="has 0 models"):
        endpoint_of(f"{server.root}/none")


@pytest.mark.parametrize(("path", "why"), [("closed", "wants a key"), ("odd", "does not tell its models")])
def test_a_server_may_not_tell_its_models(server: Running, path: str, why: str) -> None:
    with pytest.raises(GenerationFailed, match=why):
        endpoint_of(f"{server.root}/{path}")


def test_the_estimate_of_tokens_is_above_the_words_and_below_the_bytes() -> None:
    generator = endpoint_of("http://127.0.0.1:1/v1#llama3")
    text = "Where the river meets the harbour, 1,234 boats lie. " * 100
    prompt = prompt_of("Where?", [("boats.md", text)], "one sentence")
    n_bytes = len(prompt.instructions + prompt.fenced())
    assert 1.5 * len(text.split()) < generator.n_tokens(prompt) < 0.7 * n_bytes


def test_a_character_of_three_bytes_counts_three_tokens() -> None:
    generator = endpoint_of("http://127.0.0.1:1/v1#llama3")
    short, long = (prompt_of("?", [("a", text)], "one sentence") for text in ("", "大" * 10))
    assert generator.n_tokens(long) - generator.n_tokens(short) == pytest.approx(30, abs=1)
