"""The built-in weights and the device that computes with them."""

from __future__ import annotations

from ...models.builtin_weights import WEIGHTS_SHA256, wrong_weights
from .finding import Finding, fail, note, ok


def check_weights() -> Finding:
    """Whether the built-in weights are byte for byte those that were shipped."""
    if wrong := wrong_weights():
        return fail("weights", "; ".join(wrong), "install spanwise again; README.md says how")
    return ok("weights", f"{len(WEIGHTS_SHA256)} built-in models are as they were shipped")


def check_gpu() -> Finding:
    """The GPUs that torch sees; without one all works, slower where much is to be encoded."""
    import torch

    if torch.cuda.is_available():
        cards = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
        return ok("gpu", ", ".join(f"{card.name} ({card.total_memory / 1e9:.0f} GB)" for card in cards))
    if torch.backends.mps.is_available():
        return ok("gpu", "Apple, by Metal")
    built = f"torch {torch.__version__} sees none"
    return note("gpu", built, "all works on the CPU; with an NVIDIA card, install a CUDA build of torch")
