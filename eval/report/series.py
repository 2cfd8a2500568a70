"""How one series differs from another, also without colour: by its marker and the dashes of its line."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from .markup import element

COLOURS = 6
DASHES = (None, "6 3", "2 2", "8 2 2 2", "10 4")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "ring", "bar")


def colour(index: int) -> str:
    """The class of the style sheet that colours a series."""
    return f"s{index % COLOURS}"


def line(index: int, points: Sequence[tuple[float, float]]) -> Markup:
    """The line of a series through these pixels."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = DASHES[index % len(DASHES)]
    return element("polyline", class_=f"line {colour(index)}", points=path, stroke_dasharray=dash)


def marker(index: int, x: float, y: float, title: str = "", radius: float = 3.5) -> Markup:
    """The marker of a series at a pixel; the title is what a pointer at rest is told."""
    told = [element("title", [title])] if title else []
    path = _outline(SHAPES[index % len(SHAPES)], x, y, radius)
    ring = " ring" if SHAPES[index % len(SHAPES)] == "ring" else ""
    return element("path", told, class_=f"marker {colour(index)}{ring}", d=path)


def swatch(index: int, lined: bool = True) -> Markup:
    """The sample of a series for a legend."""
    drawn = [line(index, [(1, 6), (29, 6)])] if lined else []
    return _sample([*drawn, marker(index, 15, 6)], 30)


def filled_swatch(class_: str) -> Markup:
    """The sample of an area for a legend."""
    return _sample([element("rect", class_=class_, x=1, y=1, width=14, height=10)], 16)


def _sample(content: Sequence[Markup], width: float) -> Markup:
    return element("svg", content, width=width, height=12, viewBox=f"0 0 {width:g} 12", aria_hidden="true")


def _outline(shape: str, x: float, y: float, r: float) -> str:
    match shape:
        case "square":
            return f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z"
        case "triangle":
            return f"M{x:.1f} {y - r * 1.2:.1f}l{r * 1.2} {r * 2.1}h{-r * 2.4}z"
        case "diamond":
            return (
                f"M{x:.1f} {y - r * 1.3:.1f}l{r * 1.3} {r * 1.3}l{-r * 1.3} {r * 1.3}l{-r * 1.3} {-r * 1.3}z"
            )
        case "cross":
            return f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m{-2 * r} 0l{2 * r} {-2 * r}"
        case "bar":
            return f"M{x:.1f} {y - r:.1f}v{2 * r}"
    return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
