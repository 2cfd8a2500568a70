"""The page about generators does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from endpoint_server import Running

from spanwise.reader.generation.endpoint_settings import EXAMPLE, EndpointSettings
from spanwise.reader.generation.retrying import BackOff

PAGE = (Path(__file__).parents[3] / "docs" / "generators.md").read_text(encoding="utf-8")
FIRST, SECOND = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_first_snippet_writes(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    assert EXAMPLE in FIRST
    exec(FIRST.replace(EXAMPLE, f"{server.v1}#whole:page"), {})
    assert capsys.readouterr().out == "The library opens at nine."


def test_the_second_snippet_makes_a_generator() -> None:
    names: dict[str, object] = {}
    exec(SECOND, names)
    assert repr(names["generator"]) == "Endpoint('https://api.openai.com/v1#gpt-4o-mini')"


def test_the_numbers_are_those_of_the_code() -> None:
    usual, back_off = EndpointSettings(), BackOff()
    assert usual.room == 8192
    for number in (usual.connect_s, usual.read_s, usual.total_s, back_off.first_s, back_off.longest_s):
        assert f"{number:g} s" in PAGE
    assert usual.retries == 3
    assert f"`{usual.key_variable}`" in PAGE
