"""A generator's text by the sentence: each is checked before it is shown, and cites what carries it."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanwise.errors import GenerationFailed
from spanwise.types import Passage

from ...corpora.sentences import sentence_spans
from ...reader.decoding.settings import Decoding
from ...reader.decoding.stopping import Ended, Limits
from ...reader.generation.prompt import Prompt, prompt_of
from ...reader.generation.protocol import Generator
from ...reader.support.check import Checker
from ...reader.support.markup import REMOVED, without_foreign_markup
from ...reader.support.verdict import Failure, Finding, Support, Verdict
from .citing import Citer
from .evidence import Evidence, evidence_of
from .lengths import Length
from .marks import without_marks
from .summary import SummarySentence

WHOLE = "What do these documents say? Summarize them."
_REFUSAL = "the documents do not say"


@dataclass(slots=True)
class Writer:
    """A generator with how it decodes, how its sentences are checked and cited.

    `n_tokens` counts what was written.
    """

    generator: Generator
    decoding: Decoding
    limits: Limits
    length: Length
    checker: Checker
    citer: Citer
    n_tokens: int = 0

    def write(
        self, question: str, passages: Sequence[Passage]
    ) -> Pieces[SummarySentence, None, list[Passage]]:
        """Yields the checked sentences, returns the passages left out: those behind the last that fitted."""
        room = self.generator.room - self.limits.tokens
        n = len(passages)
        while n and self._n_prompt_tokens(question, passages[:n]) > room:
            n -= 1
        if n:
            text = self._text(self._prompt(question, passages[:n]))
            yield from self._checked(_sentences(text), evidence_of(passages[:n]))
        return list(passages[n:])

    def _text(self, prompt: Prompt) -> Pieces[str, None, None]:
        """Yields a text in pieces; GenerationFailed for one that is empty."""
        written = yield from self.generator.write(prompt, self.decoding, self.limits)
        self.n_tokens += written.n_tokens
        if not written.text.strip() and written.ended != Ended.TIME:
            raise GenerationFailed(f"{self.generator.name} wrote nothing")

    def _checked(self, sentences: Iterator[str], evidence: Evidence) -> Iterator[SummarySentence]:
        for sentence in sentences:
            plain = without_marks(sentence).strip()
            if not plain or is_refusal(plain):
                continue
            found = self.checker.check(plain, evidence.texts)
            carried = found.aligned if found.verdict != Verdict.UNSUPPORTED else ()
            shown, removed = without_foreign_markup(plain, [evidence.texts[at] for at in carried])
            if removed:
                found, carried = _foreign(removed, found), ()
            citations = self.citer.cite([evidence.pieces[at] for at in carried])
            yield SummarySentence(shown, citations, found.score, found.verdict, found.findings)

    def _prompt(self, question: str, passages: Sequence[Passage]) -> Prompt:
        sources = [(" > ".join((one.document_id, *one.heading)), one.text) for one in passages]
        return prompt_of(question or WHOLE, sources, self.length.asked_for)

    def _n_prompt_tokens(self, question: str, passages: Sequence[Passage]) -> int:
        return self.generator.n_tokens(self._prompt(question, passages))


def is_refusal(sentence: str) -> bool:
    """Whether a sentence only says, in the words that the prompt asks for, that nothing is said."""
    return sentence.lower().startswith(_REFUSAL)


def _sentences(pieces: Iterator[str]) -> Iterator[str]:
    """The sentences of a text that comes in pieces, each as soon as another one follows it."""
    text = ""
    for piece in pieces:
        text += piece
        spans = sentence_spans(text)
        for start, end in spans[:-1]:
            yield text[start:end]
        if len(spans) > 1:
            text = text[spans[-1][0] :]
    for start, end in sentence_spans(text):
        yield text[start:end]


def _foreign(n: int, found: Support) -> Support:
    """The verdict on a sentence with addresses or markup that what it rests on does not have."""
    those = "1 address or tag" if n == 1 else f"{n} addresses or tags"
    reason = f"{those} that the cited words do not have"
    return Support(Verdict.UNSUPPORTED, found.score, (), (Finding(Failure.EXTRINSIC, REMOVED, reason),))
