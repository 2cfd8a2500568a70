"""The generator that somebody means to use; asked only when it is named, as its address is elsewhere."""

from __future__ import annotations

from ...reader.generation.endpoint import models_of
from ...reader.generation.endpoint_settings import EndpointSettings, split_name
from .finding import Finding, ok, warn

PATIENCE = EndpointSettings(read_s=10, total_s=15, retries=0)
SHOWN = 5


def check_generator(name: str) -> Finding:
    """Whether the server answers and has the model; GenerationFailed if not. It hears the key, no words."""
    url, model = split_name(name)
    models = models_of(url, PATIENCE)
    listed = ", ".join(models[:SHOWN]) + (", …" if len(models) > SHOWN else "")
    if model and model not in models:
        return warn("generator", f"{url} has no model {model!r}", f"name one of: {listed}" if models else "")
    return ok("generator", f"{url} answers, with {listed or 'no model'}")
