"""Transformers models in a folder, causal or encoder-decoder, with greedy decoding."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spanwise.errors import GenerationFailed, ModelRejected

from ...models.model_files import find_model, folder_digest

DEFAULT_CONTEXT = 2048  # tokens, of a model that states no limit
STOP_S = 2.0  # the longest wait for the current step of the model


class TransformersGenerator:
    """The model of a folder or of name@revision; the same messages give the same text.

    ModelRejected for a folder without safetensors weights of a generator. Code in the folder is never run.
    """

    def __init__(self, name: str) -> None:
        import torch

        from ...models.precision import compute_dtype, pick_device

        folder = find_model(name)
        target = pick_device()
        self.name = Path(name).name
        self.digest = folder_digest(folder)
        model, self.tokenizer = _load(folder)
        dtype = compute_dtype(target) if target.type == "cuda" else torch.float32
        self.model = model.to(target, dtype).eval()
        self.context_tokens = _context_tokens(model.config, self.tokenizer)

    def count_tokens(self, text: str) -> int:
        """The exact number of tokens."""
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def generate(
        self, messages: Sequence[Mapping[str, str]], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text token by token; see `Generator`."""
        import torch
        from transformers import TextIteratorStreamer

        inputs = self._inputs(messages).to(self.model.device)
        room = self.context_tokens - inputs["input_ids"].shape[1]
        if room <= 0:
            raise GenerationFailed(f"{self.name} reads {self.context_tokens} tokens, but the prompt has more")
        stop = threading.Event()
        errors: list[Exception] = []
        streamer: Any = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        options = {"do_sample": False, "max_new_tokens": min(max_tokens, room), "max_time": timeout_s}

        def is_over(ids: Any, *_: Any, **__: Any) -> torch.Tensor:
            return torch.full((len(ids),), stop.is_set(), device=ids.device)

        def run() -> None:
            try:
                self.model.generate(**inputs, **options, streamer=streamer, stopping_criteria=[is_over])
            except Exception as error:
                errors.append(error)
            finally:
                streamer.text_queue.put(streamer.stop_signal)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        try:
            yield from (piece for piece in streamer if piece)
        finally:
            stop.set()
            worker.join(STOP_S)
        if errors:
            raise GenerationFailed(f"{self.name} failed: {errors[0]}") from errors[0]

    def _inputs(self, messages: Sequence[Mapping[str, str]]) -> Any:
        """The prompt as tensors, by the chat template if there is one."""
        if self.tokenizer.chat_template:
            options = {"add_generation_prompt": True, "return_dict": True, "return_tensors": "pt"}
            return self.tokenizer.apply_chat_template(list(messages), **options)
        text = "\n\n".join([*(message["content"] for message in messages), "Answer:"])
        return self.tokenizer(text, return_tensors="pt", return_token_type_ids=False, verbose=False)


def _load(folder: Path) -> tuple[Any, Any]:
    """The model and the tokenizer of a folder, loaded offline and without its code."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    offline = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(str(folder), **offline)
        factory = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        loaded: Any = factory.from_pretrained(
            str(folder), use_safetensors=True, output_loading_info=True, **offline
        )
        model, info = loaded
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **offline)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelRejected(f"{folder} holds no generator: {str(error).splitlines()[0]}") from error
    if info["missing_keys"]:
        raise ModelRejected(f"{folder} lacks weights of a generator: {sorted(info['missing_keys'])[0]}")
    return model, tokenizer


def _context_tokens(config: Any, tokenizer: Any) -> int:
    names = ("max_position_embeddings", "n_positions", "max_encoder_position_embeddings")
    limits = [getattr(config, name, None) for name in names]
    limits.append(tokenizer.model_max_length if tokenizer.model_max_length < 2**31 else None)
    return min((int(limit) for limit in limits if limit), default=DEFAULT_CONTEXT)
