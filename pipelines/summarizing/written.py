"""A generator's text by the sentence: each is checked before it is shown, and cites what carries it."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spanwise.errors import GenerationFailed
from spanwise.types import Passage

from ...corpora.sentences import sentence_spans
from ...reader.decoding.mbr import agreed
from ...reader.decoding.settings import Decoding
from ...reader.decoding.stopping import Ended, Limits
from ...reader.generation.prompt import Prompt, prompt_of
from ...reader.generation.protocol import Generator
from ...reader.support.check import Checker
from ...reader.support.markup import REMOVED, without_foreign_markup
from ...reader.support.verdict import Failure, Finding, Support, Verdict
from .budget import groups
from .citing import Citer
from .evidence import Evidence, evidence_of, honest_titles, text_without_orders
from .lengths import Length
from .marks import without_marks
from .summary import SummarySentence

WHOLE = "What do these documents say? Summarize them."
MOST_ROUNDS = 4  # of reducing notes to fewer notes
_REFUSAL = "the documents do not say"


@dataclass(slots=True)
class Writer:
    """A generator with how it decodes, how its sentences are checked and cited.

    Of several `samples` of a text that is taken on which they agree. `n_tokens` counts what was written,
    notes and samples included; `agreement` is the least share of samples that were that one, None for one.
    """

    generator: Generator
    decoding: Decoding
    limits: Limits
    length: Length
    checker: Checker
    citer: Citer
    samples: int = 1
    n_tokens: int = 0
    agreement: float | None = None

    def write(
        self, question: str, passages: Sequence[Passage]
    ) -> Pieces[SummarySentence, None, list[Passage]]:
        """Yields the checked sentences, returns the passages that fitted into no prompt.

        Where the passages need several prompts, notes are written from each group in order, and the text from
        the notes; it is checked against the passages themselves. Sentences that give orders to the reader are
        neither shown to the generator nor evidence for what it writes.
        """
        room = self.generator.room - self.limits.tokens
        made, left_out = groups(passages, lambda some: self._n_prompt_tokens(question, some), room)
        shown = [passage for group in made for passage in group]
        evidence = evidence_of(question, shown, self.checker)
        prompts = [self._prompt(question, group) for group in made]
        for _ in range(MOST_ROUNDS):
            if len(prompts) <= 1:
                break
            prompts = self._reduced(question, prompts, room)
        for prompt in prompts:
            text = self._text(prompt) if self.samples == 1 else iter([self._agreed(prompt)])
            yield from self._checked(_sentences(text), evidence)
        return left_out

    def _agreed(self, prompt: Prompt) -> str:
        """The text on which several agree that are drawn with consecutive seeds."""
        first = self.decoding.seed
        drawn = [replace(self.decoding, seed=first + number) for number in range(self.samples)]
        text, share = agreed(["".join(self._text(prompt, decoding)) for decoding in drawn])
        self.agreement = share if self.agreement is None else min(self.agreement, share)
        return text

    def _text(self, prompt: Prompt, decoding: Decoding | None = None) -> Pieces[str, None, None]:
        """Yields a text in pieces; GenerationFailed for one that is empty."""
        written = yield from self.generator.write(prompt, decoding or self.decoding, self.limits)
        self.n_tokens += written.n_tokens
        if not written.text.strip() and written.ended != Ended.TIME:
            raise GenerationFailed(f"{self.generator.name} wrote nothing")

    def _checked(self, sentences: Iterator[str], evidence: Evidence) -> Iterator[SummarySentence]:
        for sentence in sentences:
            plain = without_marks(sentence).strip()
            if not plain or is_refusal(plain):
                continue
            found = self.checker.check(plain, evidence.texts, evidence.refused)
            carried = found.aligned if found.verdict != Verdict.UNSUPPORTED else ()
            shown, removed = without_foreign_markup(plain, [evidence.texts[at] for at in carried])
            if removed:
                found, carried = _foreign(removed, found), ()
            citations = self.citer.cite([evidence.pieces[at] for at in carried])
            yield SummarySentence(shown, citations, found.score, found.verdict, found.findings)

    def _reduced(self, question: str, prompts: Sequence[Prompt], room: int) -> list[Prompt]:
        """Prompts over notes from these prompts, as few as fit."""
        notes = ["".join(self._text(prompt)) for prompt in prompts]
        made: list[list[str]] = []
        for note in notes:
            if made and self.generator.n_tokens(self._noted(question, [*made[-1], note])) <= room:
                made[-1].append(note)
            else:
                made.append([note])
        return [self._noted(question, group) for group in made]

    def _noted(self, question: str, notes: Sequence[str]) -> Prompt:
        return prompt_of(question or WHOLE, [("notes", note) for note in notes], self.length.asked_for)

    def _prompt(self, question: str, passages: Sequence[Passage]) -> Prompt:
        sources = [(" > ".join(honest_titles(one)), text_without_orders(one.text)) for one in passages]
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
    return Support(Verdict.UNSUPPORTED, found.score, (), (Finding(Failure.ORDER, REMOVED, reason),))
