"""What people call the columns of a table: other words for their names, and similar words.

A word names a column with the strength 1 if the name has it, and `MEANT` if it is listed here for a word of
the name. Otherwise the strength is the cosine of their token vectors, if it is `SIMILAR` at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...retrieval.protocol import TokenEncoder

MEANT = 0.85
SIMILAR = 0.55
MAX_NAMES = 40  # columns; the names of wider tables are compared by their words alone
MAX_TABLES = 32  # whose names are kept as vectors
# Words of a question for words of names.
MEANINGS = {
    "who whose whom": "name player winner driver rider person athlete candidate artist author president"
    " champion coach responsible owner contact doctor teacher",
    "whom who": "trainer instructor manager staff employee leader guide speaker captain",
    "when": "date year season time day month hours due deadline",
    "where": "location venue place city country town site region office address room",
    "cost costs price fee fare rate pay paid much expensive cheap cheapest cheaper charge": "price cost fee"
    " fare rate amount charge",
    "rent hire": "price cost fee rent",
    "spend spent cost pay paid payment payments": "spent actual paid amount",
    "long longer longest shortest shorter": "length distance dist duration term time minutes min hours h days"
    " weeks months years",
    "far farther farthest further": "distance dist km miles",
    "tall taller tallest high higher highest": "height elevation",
    "heavy heavier heaviest lighter lightest weigh weighs": "weight mass kg",
    "big bigger biggest large larger largest small smaller smallest": "area size population amount",
    "hot hotter hottest warm warmer warmest": "max high temperature temp",
    "cold colder coldest": "min low temperature temp",
    "win wins won title": "winner champion won",
    "fast faster fastest slow slower slowest": "time speed",
    "deep deeper deepest": "depth",
    "loud louder loudest quiet quieter quietest": "noise db",
    "old older oldest young younger youngest": "age birth born built founded",
    "newest latest earliest": "date year built",
    "often": "every frequency interval times count",
    "late until till": "closing end until last to",
    "early open opens": "opening start from first open hours",
    "close closes shut": "closing close",
    "reach contact call": "phone telephone tel mobile email mail contact",
    "write": "email mail",
    "number ring": "phone telephone tel mobile",
    "people persons guests fit sit": "seats capacity persons people places users passengers",
    "points": "score pts",
    "place rank position": "pos rank position place",
    "memory": "storage ram memory",
    "rate": "per",
    "room find": "office room",
    "job": "role position title",
    "made make makes": "vendor maker manufacturer brand producer country origin",
    "come comes from": "country origin nationality",
    "department team": "department owner team",
    "expire expires renew ends end": "expiry renewal end until due valid",
    "begin begins start starts became become": "start begin from time",
    "live lives": "address city town",
    "leave leaves left": "end left until departure",
    "left available": "stock quantity available",
    "euros euro": "eur",
    "dollars dollar": "usd",
    "pounds pound": "gbp lb",
    "minutes minute": "min",
    "hours hour": "h hrs",
    "kilos kilograms kilo": "kg",
    "grams gram": "g",
    "kilometres kilometers kilometre": "km",
    "metres meters metre": "m",
    "gigabytes gigabyte": "gb",
    "megapixels megapixel": "mp",
    "percent percentage": "%",
}


class ColumnNames:
    """Compares words of questions with names of columns; `load` gives the encoder when it is first needed."""

    def __init__(self, load: Callable[[], TokenEncoder]) -> None:
        self._load = load
        self._vectors = lru_cache(MAX_TABLES)(lambda names: load().encode_questions(names))

    def similarities(self, words: Sequence[str], names: tuple[str, ...]) -> NDArray[np.float32]:
        """The largest cosine of each word, within the question or alone, and a name: (words, names) float32.

        Zeros for names of too many columns.
        """
        similar = np.zeros((len(words), len(names)), np.float32)
        if not words or len(names) > MAX_NAMES:
            return similar
        whole, *alone = self._load().encode_questions([" ".join(words), *words])
        ends = list(accumulate(map(len, alone)))
        for i, vectors in enumerate(alone):
            in_question = whole[ends[i] - len(vectors) : ends[i]]
            rows = np.concatenate([vectors, in_question]) if ends[-1] == len(whole) else vectors
            for column, name in enumerate(self._vectors(names)):
                cosines = rows @ name.T  # (2 T, tokens of the name)
                similar[i, column] = cosines.reshape(-1, len(vectors), len(name)).max(2).mean(1).max()
        return similar
