"""A corpus of made-up words, a teacher and a trainer that take no model, for `spanwise adapt`."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np

from spanwise.corpora.ranking_examples import write_ranking_examples
from spanwise.pipelines.adapt.recipe import AdaptRecipe
from spanwise.pipelines.adapt.teaching import Teaching

RECIPE = AdaptRecipe(questions=200, seed=1)
SYLLABLES = "ba be do du ka ki lo lu ma mi no nu ra re so su ta ti vo zu".split()


def write_corpus(root: Path, n_documents: int = 24) -> Path:
    """Documents of two sections; each sentence has a name in it, and no two share more than chance."""
    rng = random.Random(0)
    known = sorted({"".join(rng.choices(SYLLABLES, k=3)) for _ in range(900)})
    root.mkdir(parents=True, exist_ok=True)
    for number in range(n_documents):
        parts = [f"# {_words(rng, known, 3)}"]
        for _ in range(2):
            sentences = [_sentence(rng, known) for _ in range(6)]
            parts += [f"## {_words(rng, known, 3)}", " ".join(sentences)]
        (root / f"{number:02}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return root


def _words(rng: random.Random, known: list[str], n: int) -> str:
    return " ".join(rng.sample(known, n))


def _sentence(rng: random.Random, known: list[str]) -> str:
    first, name, rest = _words(rng, known, 4), rng.choice(known).capitalize(), _words(rng, known, 7)
    return f"{first.capitalize()} {name} {rest}."


class Agreeing:
    """A teacher that always finds the first passage the best one; `asked` counts pairs."""

    digest = "agreeing"

    def __init__(self) -> None:
        self.asked = 0

    def score(self, questions, passages, report=lambda done: None):
        self.asked += sum(map(len, passages))
        return [-np.arange(len(texts), dtype=np.float32) for texts in passages]


def teaching(kind: str = "better", teacher: Agreeing | None = None, trained: list | None = None) -> Teaching:
    """Others in the place of the teacher and the trainer: the student is of the kind named."""
    teacher = teacher or Agreeing()

    def score(examples, teacher, out, report):
        scores = teacher.score([one.question for one in examples], [one.passages for one in examples])
        scored = [
            replace(one, scores=tuple(map(float, found))) for one, found in zip(examples, scores, strict=True)
        ]
        return write_ranking_examples(out, scored)

    def train(examples, held_out, out, recipe, start, report):
        if trained is not None:
            trained.append((examples, held_out, start))
        out.mkdir(exist_ok=True)
        (out / "settings.json").write_text(json.dumps({"kind": kind, "start": Path(start).name}))
        (out / "student.safetensors").write_bytes(b"weights")
        (out / "run").mkdir(exist_ok=True)
        (out / "run" / "checkpoint.safetensors").write_bytes(b"not a part of the model")

    return Teaching(lambda name: teacher, score, train)
