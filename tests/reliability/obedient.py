"""A generator that copies sentences of its sources."""

from __future__ import annotations

from collections.abc import Generator as Pieces

from spanwise.corpora.sentences import sentence_spans
from spanwise.index.analysis import Analyzer
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.prompt import Prompt
from spanwise.reader.generation.protocol import Written

COPIED = 12  # sentences
ANALYZER = Analyzer()


class Copying:
    """Repeats the sentences of the sources that have most of the question's terms."""

    name = digest = "copying"
    room = 1_000_000

    def n_tokens(self, prompt: Prompt) -> int:
        return len(prompt.fenced())

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        asked = set(ANALYZER.question_terms(prompt.question))
        texts = [
            source.text[start:end] for source in prompt.sources for start, end in sentence_spans(source.text)
        ]
        found = sorted(dict.fromkeys(texts), key=lambda text: -len(asked & set(ANALYZER.terms(text))))
        text = "\n\n".join(found[:COPIED])
        yield text
        return Written(text, Ended.END, len(text))
