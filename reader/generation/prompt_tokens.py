"""From a prompt to the token ids that a model reads: by its chat template, or as plain text."""

from __future__ import annotations

from typing import Any

from spanwise.errors import ModelRejected

from .control_tokens import as_plain, control_tokens
from .prompt import Prompt

TRIAL = Prompt("Who?", (), "Answer.")


class PromptTokens:
    """Renders prompts for one tokenizer; nothing in instructions, documents or question is a control token.

    With a chat template the instructions are the system's message, or stand above the documents where it
    takes none. Without one the documents stand below the instructions, and "Answer:" follows.
    """

    def __init__(self, tokenizer: Any, source: object) -> None:
        self._tokenizer, self._source = tokenizer, source
        self._control = control_tokens(tokenizer)
        self._has_template = bool(tokenizer.chat_template)

    def ids(self, prompt: Prompt) -> list[int]:
        """The tokens of a prompt; ModelRejected when the chat template fails or loses a part of it."""
        instructions, documents = (self._plain(text) for text in (prompt.instructions, prompt.fenced()))
        if self._has_template:
            text = self._in_chat(instructions, documents)
        else:
            text = f"{instructions}\n\n{documents}\nAnswer:"
        # A chat template writes the special tokens itself.
        found = self._tokenizer(text, add_special_tokens=not self._has_template, verbose=False)
        ids: list[int] = found["input_ids"]
        return ids

    def _plain(self, text: str) -> str:
        return as_plain(text, self._tokenizer, self._control)

    def _in_chat(self, instructions: str, documents: str) -> str:
        both = f"{instructions}\n\n{documents}"
        apart = [{"role": "system", "content": instructions}, {"role": "user", "content": documents}]
        error: Exception | None = None
        for messages in (apart, [{"role": "user", "content": both}]):
            try:
                text: str = self._tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True
                )
            except Exception as failed:  # a template can fail in any way, or refuse the system's message
                error = failed
                continue
            if all(part.strip() in text for part in (instructions, documents)):
                return text
        raise ModelRejected(
            f"{self._source}: its chat template fails or loses a part of the prompt: {error}"
        ) from error
