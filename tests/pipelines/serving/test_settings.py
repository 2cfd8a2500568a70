"""A server that could not be safe or could not answer is not made."""

from __future__ import annotations

import pytest

from spanwise.pipelines.serving.settings import Settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"in_flight": 0}, "in_flight is 0, expected at least 1"),
        ({"request_s": 0}, "request_s is 0, expected more than 0 seconds"),
        ({"request_s": float("nan")}, "request_s is nan"),
        ({"allowed_origins": ("*",)}, "'\\*' is no origin"),
        ({"allowed_origins": ("https://a.example/",)}, "is no origin"),
        ({"token": "short"}, "the token has 5 characters, expected 16 or more"),
        ({"host": "10.0.0.1"}, "10.0.0.1 can be reached by others"),
    ],
)
def test_a_wrong_setting_is_told(given, told):
    with pytest.raises(ValueError, match=told):
        Settings(**given)


def test_the_token_is_not_shown():
    assert "a token of nineteen" not in repr(Settings(token="a token of nineteen"))
