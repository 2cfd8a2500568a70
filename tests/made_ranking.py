"""A few ranking examples of the tests, with and without a teacher's scores."""

from __future__ import annotations

from dataclasses import replace

from spanwise.types import RankingExample

MILL, TRAM, WEIR = "The mill\nIt was built in 1811.", "A tram line.", "Weir\nWater."
PLAIN = [
    RankingExample("who built the mill", (MILL, TRAM, WEIR)),
    RankingExample("when does the tram run", (TRAM, WEIR)),
    RankingExample("where is water", (WEIR, MILL, TRAM), 2),
]
SCORED = [
    replace(PLAIN[0], scores=(9.25, 3.1, -0.8)),
    replace(PLAIN[1], scores=(2.5, -1.0)),
    replace(PLAIN[2], scores=(1.0, 0.5, -2.25)),
]
