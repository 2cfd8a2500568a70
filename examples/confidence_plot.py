"""A plot as a notebook would draw it: what confidence answers have, and how long they took, as one SVG.

    python examples/confidence_plot.py FOLDER questions.txt plot.svg

The cells below can be run one after the other; the plot is drawn by hand, without a plotting library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import spanwise
from spanwise.types import Answer

WIDTH, HEIGHT, EDGE = 640, 320, 40


# %% Ask every question, and keep what is plotted
def asked(folder: str, questions: Sequence[str]) -> list[Answer]:
    """An answer a question; those that were declined are among them."""
    with spanwise.open(folder, cache=False) as library:
        library.sync()
        return library.ask_many(questions)


# %% The best span, also of a question that was declined
def confidence_of(answer: Answer) -> float:
    """From 0 to 1; 0 where nothing was read at all."""
    best = answer.best or answer.best_rejected
    return (best.confidence if best else None) or 0.0


def milliseconds_of(answer: Answer) -> float:
    """The time that the answer took."""
    return sum(answer.timings_ms.values())


# %% Draw a point for each: along the time, up the confidence; rings were declined
def plot(answers: Sequence[Answer]) -> str:
    """The plot as SVG; the title of a point is its question with the answer."""
    longest = max(map(milliseconds_of, answers), default=1.0) or 1.0
    points = "".join(point(answer, longest) for answer in answers)
    threshold = next((one.threshold for one in answers if one.threshold is not None), None)
    line = "" if threshold is None else rule(threshold)
    axes = (
        f'<path d="M{EDGE} {EDGE}V{HEIGHT - EDGE}H{WIDTH - EDGE}" fill="none" stroke="black"/>'
        f'<text x="{EDGE}" y="{EDGE - 10}">confidence</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 10}" text-anchor="end">time, up to {longest:.0f} ms</text>'
    )
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{axes}{line}{points}</svg>\n'


def point(answer: Answer, longest: float) -> str:
    """A disc for an answer, a ring for one that was declined."""
    x = EDGE + (WIDTH - 2 * EDGE) * milliseconds_of(answer) / longest
    fill = "none" if answer.no_answer else "steelblue"
    said = answer.text or "(declined)"
    title = f"<title>{escape(answer.question)} {escape(said)}</title>"
    place = f'cx="{x:.1f}" cy="{height(confidence_of(answer)):.1f}"'
    return f'<circle {place} r="5" fill="{fill}" stroke="steelblue">{title}</circle>'


def rule(threshold: float) -> str:
    """The line below which questions are declined."""
    y = height(threshold)
    return f'<path d="M{EDGE} {y:.1f}H{WIDTH - EDGE}" stroke="grey" stroke-dasharray="4"/>'


def height(share: float) -> float:
    """Where a share from 0 to 1 stands, from the top."""
    return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share


# %% Put it together
def main(folder: str, questions: str, out: str) -> None:
    """Write the plot."""
    lines = Path(questions).read_text(encoding="utf-8").splitlines()
    Path(out).write_text(plot(asked(folder, [line for line in lines if line.strip()])), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
