"""Models of transformers in a folder, causal or with an encoder and a decoder; they decode greedily."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spanwise.errors import GenerationFailed, ModelRejected

from ...models.model_files import find_model, folder_digest
from ..prompt import Message

DEFAULT_CONTEXT = 2048  # tokens, of a model that states no limit
STOP_S = 2.0  # the longest wait for the step of the model that is under way


class TransformersGenerator:
    """The model of a folder or of name@revision; the same messages give the same text.

    ModelRejected for a folder without safetensors weights of a model that writes. No code of it is run.
    """

    def __init__(self, name: str, device: str | None = None) -> None:
        import torch

        from ...models.precision import compute_dtype, pick_device

        folder, where = find_model(name), pick_device(device)
        self.name, self.digest = Path(name).name, folder_digest(folder)
        model, self.tokenizer = _load(folder)
        self.model = model.to(where, compute_dtype(where) if where.type == "cuda" else torch.float32).eval()
        self.context_tokens = _context_tokens(model.config, self.tokenizer)

    def count_tokens(self, text: str) -> int:
        """The exact number."""
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text token by token; see `Generator`."""
        import torch
        from transformers import TextIteratorStreamer

        inputs = self._inputs(messages).to(self.model.device)
        room = self.context_tokens - inputs["input_ids"].shape[1]
        if room <= 0:
            raise GenerationFailed(f"{self.name} reads {self.context_tokens} tokens, the prompt has more")
        stop, failed = threading.Event(), list[Exception]()
        streamer: Any = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        given = {"do_sample": False, "max_new_tokens": min(max_tokens, room), "max_time": timeout_s}
        is_over: Any = lambda ids, *_, **__: torch.full((len(ids),), stop.is_set(), device=ids.device)  # noqa: E731

        def run() -> None:
            try:
                self.model.generate(**inputs, **given, streamer=streamer, stopping_criteria=[is_over])
            except Exception as error:
                failed.append(error)
            finally:
                streamer.text_queue.put(streamer.stop_signal)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        try:
            yield from (piece for piece in streamer if piece)
        finally:
            stop.set()
            worker.join(STOP_S)
        if failed:
            raise GenerationFailed(f"{self.name} failed: {failed[0]}") from failed[0]

    def _inputs(self, messages: Sequence[Message]) -> Any:
        """The prompt as tensors: by the chat template, without one as plain text."""
        if self.tokenizer.chat_template:
            given = {"add_generation_prompt": True, "return_dict": True, "return_tensors": "pt"}
            return self.tokenizer.apply_chat_template(list(messages), **given)
        text = "\n\n".join([*(one["content"] for one in messages), "Answer:"])
        return self.tokenizer(text, return_tensors="pt", return_token_type_ids=False, verbose=False)


def _load(folder: Path) -> tuple[Any, Any]:
    """The model and the tokenizer of a folder, offline and without its code."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    offline = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(str(folder), **offline)
        factory = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        loaded: Any = factory.from_pretrained(
            str(folder), use_safetensors=True, output_loading_info=True, **offline
        )
        model, found = loaded
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **offline)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelRejected(f"{folder} holds no model that writes: {str(error).splitlines()[0]}") from error
    if found["missing_keys"]:
        raise ModelRejected(
            f"{folder} lacks weights of a model that writes: {sorted(found['missing_keys'])[0]}"
        )
    return model, tokenizer


def _context_tokens(config: Any, tokenizer: Any) -> int:
    names = ("max_position_embeddings", "n_positions", "max_encoder_position_embeddings")
    limits = [getattr(config, name, None) for name in names]
    limits.append(tokenizer.model_max_length if tokenizer.model_max_length < 2**31 else None)
    return min((int(one) for one in limits if one), default=DEFAULT_CONTEXT)
