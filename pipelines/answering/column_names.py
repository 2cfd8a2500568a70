"""The columns that words of a question mean: by names, units and kinds, and by the vectors of tokens."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...index.analysis import STOP_WORDS, Analyzer
from .table_text import DURATION, TIMES, TableText

Vectors = NDArray[np.float32]

MIN_SIMILARITY = 0.42  # of a word and the name of a column
MARGIN = 0.05  # below the most similar name
MIN_ABBREVIATION = 3  # characters of a name such as "max" or "temp"
MAX_TEXTS = 10_000  # whose vectors are kept
# What people say, the names of the columns that they ask for, else the units, else the kinds of columns.
PHRASES: list[tuple[str, str, str, Collection[str]]] = [
    ("who", "name player winner driver rider person athlete candidate artist author president coach", "", ()),
    ("when", "date year season time day month hours due deadline", "", TIMES),
    ("where", "location venue place city country town site region address room", "", ()),
    (
        "cost pay paid payment charge spend spent price fee expensive cheap cheaper cheapest",
        "price cost fee fare rate amount rent charge",
        "",
        ("money",),
    ),
    (
        "long longer longest short shorter shortest last",
        "length distance duration time term takes",
        "min minutes hours h days months weeks km",
        (),
    ),
    ("far farther farthest", "distance length", "km miles", ()),
    ("heavy weigh heavier heaviest light lighter lightest", "weight mass", "kg g lb", ()),
    ("tall taller tallest high higher highest", "height elevation altitude", "", ()),
    ("big bigger biggest large largest small smallest", "area size population capacity acres", "m²", ()),
    ("fast faster fastest slow slowest quick", "time speed", "", (DURATION,)),
    ("deep deepest", "depth", "", ()),
    ("old older oldest young youngest", "age birth born built founded", "", ()),
    ("newest", "date year built", "", ()),
    ("earliest latest", "date year", "", TIMES),
    ("loud louder loudest quiet quietest noisy", "noise sound", "db", ()),
    ("hot hottest warm warmest", "max high temperature temp", "c", ()),
    ("cold coldest", "min low temperature temp", "c", ()),
    ("call ring reach", "phone telephone tel mobile contact", "", ()),
    ("write reach", "email mail", "", ()),
    ("often", "times count frequency", "", ()),
    ("open", "hours opening open", "", ()),
    ("close shut", "hours closing close", "", ()),
    ("win title", "winner champion", "", ()),
    ("start begin since", "start begin from since", "", ()),
    ("end leave until till expire", "end until to left expires", "", ()),
    ("seat sit fit", "seats capacity passengers", "", ()),
]


class WordEncoder(Protocol):
    """Encodes words."""

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text (m, width) float32, rows unit-norm."""
        ...


class Similarity:
    """How near words are to names by the vectors of their tokens; each text is encoded once."""

    def __init__(self, encoder: Callable[[], WordEncoder]) -> None:
        self._encoder = encoder
        self._kept: dict[str, Vectors] = {}

    def __call__(self, words: Sequence[str], names: Sequence[str]) -> NDArray[np.float32]:
        """(W, N) float32: the mean over the tokens of a word of the largest cosine in a name."""
        new = [text for text in dict.fromkeys([*words, *names]) if text not in self._kept]
        if len(self._kept) + len(new) > MAX_TEXTS:
            self._kept.clear()
            new = list(dict.fromkeys([*words, *names]))
        if new:
            self._kept.update(zip(new, self._encoder().encode_questions(new), strict=True))
        rows = [[(self._kept[w] @ self._kept[n].T).max(axis=1).mean() for n in names] for w in words]
        return np.array(rows, np.float32).reshape(len(words), len(names))


class ColumnNames:
    """The names of the columns of a table."""

    def __init__(self, table: TableText) -> None:
        self.table = table
        self.texts = [" ".join(name.replace("_", " ").replace(".", " ").split()) for name in table.columns]
        self.stems = [set(name) - STOP_WORDS or set(name) for name in table.names]

    def named(self, word: str, stem: str) -> Iterator[tuple[int, str]]:
        """The columns that have a word in their names, or the beginning of one, with the stem in the name."""
        for column, stems in enumerate(self.stems):
            for name in stems:
                is_short = MIN_ABBREVIATION <= len(name) < len(word) - 1 and word.startswith(name)
                if name == stem or is_short or (len(stem) > MIN_ABBREVIATION and name.startswith(stem)):
                    yield column, name

    def meant(self, stem: str) -> list[int]:
        """The columns that a word such as "tallest" asks for: by name, else by unit, else by kind."""
        phrase = _phrases(self.table.analyzer).get(stem)
        if phrase is None:
            return []
        counts = [len(phrase.names & stems) for stems in self.stems]
        most = max(counts, default=0)
        if most:
            return [column for column, count in enumerate(counts) if count == most]
        with_unit = [c for c, units in enumerate(self._units) if not phrase.units.isdisjoint(units)]
        return with_unit or self.table.of_kinds(phrase.kinds)

    def similar(self, words: Sequence[str], similarity: Similarity) -> Iterator[tuple[int, int]]:
        """The number of a word, and a column with a name that means much the same."""
        for word, row in enumerate(similarity(words, self.texts)):
            for column in np.flatnonzero(row >= max(MIN_SIMILARITY, row.max(initial=0) - MARGIN)):
                yield word, int(column)

    @cached_property
    def _units(self) -> list[set[str]]:
        """The words of each name and the unit of its values."""
        units = [self.table.unit(column) for column in range(len(self.texts))]
        return [stems | set(self.table.stems(unit)) for stems, unit in zip(self.stems, units, strict=True)]


@dataclass
class Phrase:
    """The stems of the names and units, and the kinds, of the columns that a word asks for."""

    names: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)


@cache
def _phrases(analyzer: Analyzer) -> dict[str, Phrase]:
    """What each word asks for, by its stem."""
    meant: dict[str, Phrase] = defaultdict(Phrase)
    for words, names, units, kinds in PHRASES:
        for stem in map(analyzer.term, words.split()):
            meant[stem].names.update(map(analyzer.term, names.split()))
            meant[stem].units.update(map(analyzer.term, units.split()))
            meant[stem].kinds.update(kinds)
    return dict(meant)
