"""Generated notes and questions about their words."""

import random
from pathlib import Path

WORDS = [
    f"{a}{b}" for a in "mill weir tram stone river bridge owl lamp".split() for b in ("", "s", "er", "ing")
]
RARE = [f"term{n}" for n in range(3_000)]


def write_notes(folder: Path, n_documents: int, n_words: int, seed: int = 7) -> list[str]:
    """Write generated documents, a few of them copies of others; returns 40 questions for them."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    texts = []
    for number in range(n_documents):
        words = [draw.choice(WORDS if draw.random() < 0.4 else RARE) for _ in range(n_words)]
        text = draw.choice(texts) if number % 20 == 19 else f"# Note {number}\n\n{' '.join(words)}.\n"
        texts.append(text)
        (folder / f"n{number:04}.md").write_text(text, encoding="utf-8")
    return [" ".join(draw.sample(WORDS, 2) + draw.sample(RARE, 3)) for _ in range(40)]
