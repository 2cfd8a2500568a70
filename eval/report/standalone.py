"""A chart as a file of its own, readable on light and on dark paper."""

from __future__ import annotations

from markupsafe import Markup

from .frame import WIDTH
from .markup import element

STYLE = """
svg { --paper: #fff; --quiet: #5c6370; --rule: #d9dce1; --c0: #0062a8; --c1: #c04a00; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #16181c; --quiet: #a2a9b4; --rule: #383c44; --c0: #6db9f2; --c1: #ff9455; }
}
.paper { fill: var(--paper); }
text { font: 11px system-ui, sans-serif; fill: var(--quiet); }
.grid { stroke: var(--rule); }
.diagonal { stroke: var(--quiet); stroke-dasharray: 3 3; }
.line, .raw { fill: none; stroke: var(--c0); stroke-width: 1.75; stroke-linejoin: round; }
.raw { stroke-width: 0.5; opacity: 0.4; }
.marker { fill: var(--c1); }
"""


def standalone(chart: Markup, height: float, scale: float = 2.0) -> str:
    """The text of an SVG file with a chart of the frame's width and this height, `scale` times as large."""
    paper = element("rect", class_="paper", width=WIDTH, height=height)
    file = element(
        "svg",
        [element("style", [Markup(STYLE)]), paper, chart],
        xmlns="http://www.w3.org/2000/svg",
        width=WIDTH * scale,
        height=height * scale,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
    )
    return f"{file}\n"
