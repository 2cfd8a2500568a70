"""Generators: the protocol, and local models of transformers, causal or with an encoder and a decoder."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from spanwise.errors import GenerationFailed, ModelRejected

from ..models.locate import find_model
from .prompt import Message

DEFAULT_CONTEXT = 2048  # tokens, of a model that states no limit
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "greedy": {"do_sample": False},
    "beam": {"num_beams": 4, "do_sample": False, "length_penalty": 0.6, "no_repeat_ngram_size": 3},
    "sampled": {"do_sample": True, "temperature": 0.3, "top_p": 0.9, "repetition_penalty": 1.1},
    "general": {"do_sample": True, "temperature": 0.7, "top_p": 0.9},
}
"""Keyword arguments of transformers' `generate`, by name."""


class Generator(Protocol):
    """Anything that writes text from chat messages; `context_tokens` limits prompt and text together."""

    name: str
    context_tokens: int

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """The number of tokens of the prompt, exact or an upper estimate."""

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text in pieces; after `timeout_s` seconds it ends where it is.

        GenerationFailed when the generator fails: then the pieces so far are no answer.
        """


def load_generator(name: str, preset: str = "greedy", device: str | None = None) -> Generator:
    """The generator behind the URL of an OpenAI-compatible server, or the model of a folder or name@revision.

    A URL names its model after "#", such as http://127.0.0.1:11434/v1#llama3.2. `preset` is one of PRESETS
    and holds for local models.
    """
    if name.startswith(("http://", "https://")):
        from .endpoint import Endpoint

        return Endpoint(name)
    if preset not in PRESETS:
        raise ValueError(f"preset is {preset!r}, expected one of {', '.join(PRESETS)}")
    return TransformersGenerator(name, find_model(name), PRESETS[preset], device)


class TransformersGenerator:
    """A local model; the same messages give the same text, also when it samples (`seed`).

    ModelRejected for a folder without safetensors weights of a model that writes. No code of it is run.
    """

    def __init__(
        self, name: str, folder: Path, settings: Mapping[str, Any], device: str | None = None, seed: int = 0
    ) -> None:
        import torch

        from ..models.precision import compute_dtype, pick_device

        self.name, self.settings, self.seed = name, settings, seed
        model, self.tokenizer = _load(folder)
        where = pick_device(device)
        self.model = model.to(where, compute_dtype(where) if where.type == "cuda" else torch.float32).eval()
        self.context_tokens = _context_tokens(model.config, self.tokenizer)
        added = self.tokenizer.added_tokens_decoder.values()
        self._control = sorted({str(one) for one in added} | set(self.tokenizer.all_special_tokens))

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """The exact number of tokens of the prompt."""
        return int(self._inputs(messages)["input_ids"].shape[1])

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text token by token, that of beam search at once; see `Generator`.

        ValueError for a prompt that leaves no room for a text.
        """
        import torch
        from transformers import TextIteratorStreamer

        inputs = self._inputs(messages).to(self.model.device)
        n_prompt = inputs["input_ids"].shape[1]
        if n_prompt >= self.context_tokens:
            raise ValueError(
                f"the prompt has {n_prompt} tokens, {self.name} reads {self.context_tokens}: "
                "use fewer passages"
            )
        stop = threading.Event()
        streamer = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        given = {**self.settings, "max_new_tokens": min(max_tokens, self.context_tokens - n_prompt)}
        given |= {"max_time": timeout_s, "stopping_criteria": [_on(stop)]}
        failed: list[Exception] = []

        def run() -> None:
            try:
                with torch.inference_mode(), torch.random.fork_rng():
                    torch.manual_seed(self.seed)
                    if self.settings.get("num_beams", 1) > 1:  # beams cannot be streamed
                        [ids] = self.model.generate(**inputs, **given)
                        ids = ids if self.model.config.is_encoder_decoder else ids[n_prompt:]
                        streamer.text_queue.put(self.tokenizer.decode(ids, skip_special_tokens=True))
                    else:
                        self.model.generate(**inputs, **given, streamer=streamer)
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
            worker.join()
        if failed:
            raise GenerationFailed(f"{self.name} failed: {failed[0]}") from failed[0]

    def _inputs(self, messages: Sequence[Message]) -> Any:
        """The prompt as tensors: by the chat template, without one as plain text."""
        safe = [{**one, "content": self._without_control_tokens(one["content"])} for one in messages]
        if self.tokenizer.chat_template:
            given = {"add_generation_prompt": True, "return_dict": True, "return_tensors": "pt"}
            return self.tokenizer.apply_chat_template(safe, **given)
        text = "\n\n".join([*(one["content"] for one in safe), "Answer:"])
        return self.tokenizer(text, return_tensors="pt", return_token_type_ids=False, verbose=False)

    def _without_control_tokens(self, text: str) -> str:
        """The text with a space inside each control token, so that a document cannot end its message."""
        for token in self._control:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


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


def _on(stop: threading.Event) -> Any:
    """A stopping criterion of transformers that holds once the event is set."""
    import torch

    return lambda ids, scores, **_: torch.full((ids.shape[0],), stop.is_set(), device=ids.device)
