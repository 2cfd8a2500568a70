"""An explanation as one HTML file that needs nothing else: no script, no request, for light and dark screens.

The ground of a token says how probably the answer begins there, the line below it how probably it ends there;
the figures stand in the token's title.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from .explanation import Explanation, TokenProbability, said_of
from .markup import element
from .weighed import Weighed

LEVELS = (0.01, 0.05, 0.2, 0.5, 0.8)
"""From which probability on a shade is used, the faintest first."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { --paper: #fff; --ink: #1c1e21; --quiet: #5c6370; --rule: #d9dce1;
  --start: 0 98 168; --end: 192 74 0; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e3e5e8; --quiet: #a2a9b4; --rule: #383c44;
    --start: 109 185 242; --end: 255 148 85; }
}
body { margin: 0 auto; padding: 1.5rem; max-width: 46rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; } h2 { font-size: 1rem; margin-top: 2rem; }
.note, th { color: var(--quiet); font-weight: 400; }
.passage { white-space: pre-wrap; line-height: 2; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 1rem 0.2rem 0; text-align: right; border-bottom: 1px solid var(--rule); }
th:first-child { text-align: left; }
.s1 { background: rgb(var(--start) / 8%); } .s2 { background: rgb(var(--start) / 16%); }
.s3 { background: rgb(var(--start) / 28%); } .s4 { background: rgb(var(--start) / 42%); }
.s5 { background: rgb(var(--start) / 58%); }
.e1, .e2, .e3, .e4, .e5 { padding-bottom: 0.15em; border-bottom: 3px solid; }
.e1 { border-color: rgb(var(--end) / 15%); } .e2 { border-color: rgb(var(--end) / 30%); }
.e3 { border-color: rgb(var(--end) / 50%); } .e4 { border-color: rgb(var(--end) / 75%); }
.e5 { border-color: rgb(var(--end)); }
"""


def explanation_page(explained: Explanation) -> str:
    """The text of the file."""
    head = [
        Markup('<meta charset="utf-8">'),
        Markup('<meta http-equiv="Content-Security-Policy" content="{}">').format(POLICY),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", [explained.answer.question]),
        element("style", [Markup(STYLE)]),
    ]
    body = element("body", _body(explained))
    return f"<!doctype html>\n{element('html', [element('head', head), body], lang='en')}\n"


def _body(explained: Explanation) -> Iterator[Markup]:
    answer, weighed = explained.answer, explained.weighed
    yield element("h1", [answer.question])
    yield element("p", [answer.text if answer.best else "not in these documents"])
    if weighed is None:
        yield element("p", ["No words were read, so there is nothing to explain."], class_="note")
        return
    sure = "" if weighed.confidence is None else f", confidence {weighed.confidence:.1%}"
    what = "The answer" if answer.best else "The best rejected words"
    yield element("h2", [f"{what} in {weighed.passage.document_id}{sure}"])
    legend = "Ground: the answer begins there. Line: it ends there. Figures: point at a word."
    yield element("p", [legend], class_="note")
    tokens = shaded(weighed.passage.text, weighed.passage.start, explained.tokens)
    yield element("p", tokens, class_="passage")
    null = f'"No answer" in this passage: begins {explained.null_start:.1%}, ends {explained.null_end:.1%}.'
    yield element("p", [null], class_="note")
    yield element("h2", ["Evidence"])
    yield _evidence(weighed)
    if explained.formula is not None:
        yield element("p", [said_of(explained.formula)], class_="note")
    yield element("h2", [f"The passage was read as number {explained.rank}; its ranks"])
    yield _ranks(explained)


def _evidence(weighed: Weighed) -> Markup:
    rows = [
        (one.feature, f"{one.value:.3f}", f"{one.weight:.3f}", f"{one.contribution:.3f}")
        for one in weighed.contributions
    ]
    total = ("sum", "", "", f"{weighed.evidence:.3f}")
    return _table(("feature", "value", "weight", "value × weight"), [*rows, total])


def _ranks(explained: Explanation) -> Markup:
    """Each stage with its rank; stages that only gave a score, such as a fusion, without."""
    ranks = {one.stage: one.rank for one in explained.ranks}
    scores = {one.stage: one.score for one in explained.ranks} | dict(explained.scores)
    rows = [
        (stage, ranks.get(stage) or "–", "–" if score is None else f"{score:.4f}")
        for stage, score in scores.items()
    ]
    return _table(("stage", "rank", "score"), rows)


def shaded(text: str, shift: int, tokens: Iterable[TokenProbability]) -> Iterator[str]:
    """The text with its tokens shaded; places of tokens are `shift` ahead of those of `text`."""
    at = 0
    for token in tokens:
        start, end = token.start - shift, token.end - shift
        if start < at or not (classes := _classes(token)):
            continue
        yield text[at:start]
        title = f"begins {token.p_start:.1%}, ends {token.p_end:.1%}"
        yield element("span", [text[start:end]], class_=classes, title=title)
        at = end
    yield text[at:]


def _classes(token: TokenProbability) -> str:
    levels = (("s", _level(token.p_start)), ("e", _level(token.p_end)))
    return " ".join(f"{name}{level}" for name, level in levels if level)


def _level(probability: float) -> int:
    return sum(probability >= least for least in LEVELS)


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Markup:
    head = element("tr", [element("th", [name]) for name in header])
    body = [element("tr", _cells(list(row))) for row in rows]
    return element("table", [element("thead", [head]), element("tbody", body)])


def _cells(row: list[object]) -> Iterator[Markup]:
    yield element("th", [str(row[0])])
    yield from (element("td", [str(cell)]) for cell in row[1:])
