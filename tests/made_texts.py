"""References and candidates for measures of texts: seeded ones that share words, and real sentences."""

from __future__ import annotations

import random
import re
from pathlib import Path

from spanwise.corpora.squad import read_squad

PIECES = (
    *"the The THE mill mills miller's was built by Ada Rook of in - , . ; ! ? ' ( ) [ ]".split(),
    *"1811 $1,200.50 1811-12 3.5 ... a.b ,, .5 5. -- twenty-five &amp; &quot; &lt;b&gt; <skipped>".split(),
    *"café ÉCOLE 水車 мельница".split(),
    *("\n", "-\n", "\t", "\u00a0", "\u2028", "", "  ", "naïve", "ſ", "İ", "٣", "👩‍🔬", "running", "x" * 30),
)


def made_pairs(n: int, seed: int = 0) -> list[tuple[list[str], str]]:
    """`n` times one to four references and a candidate; some of each are empty, some equal."""
    draw = random.Random(seed)
    return [([_text(draw) for _ in range(draw.choice([1, 1, 2, 4]))], _text(draw)) for _ in range(n)]


def real_pairs(data: Path, n: int, seed: int = 0) -> list[tuple[list[str], str]]:
    """`n` times two paragraphs of SQuAD dev in lines, and a candidate cut together from the first."""
    articles = read_squad(data / "squad" / "dev-v1.1.json.gz").articles
    texts = [
        re.sub(r"(?<=[.!?]) ", "\n", p.context[:600]) for article in articles for p in article.paragraphs
    ]
    draw = random.Random(seed)
    pairs = []
    for _ in range(n):
        references = draw.sample(texts, 2)
        words = references[0].split(" ")
        kept = [word for word in words if draw.random() < 0.8]
        at = draw.randrange(len(kept))
        pairs.append((references, " ".join(kept[at:] + kept[:at])))
    return pairs


def _text(draw: random.Random) -> str:
    few = draw.sample(PIECES, draw.choice([3, 8, len(PIECES)]))
    joint = draw.choice([" ", " ", " ", "", "\n"])
    return joint.join(draw.choice(few) for _ in range(draw.choice([0, 1, 2, 3, 5, 8, 13, 30])))
