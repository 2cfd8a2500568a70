"""All comparisons of a run, and the file that keeps what came out, with everything that it depends on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spanwise import __version__
from spanwise.types import ProgressCallback, no_progress

from .comparisons import Comparison, Given
from .corpus import Corpus, corpus_of
from .data import Paragraphs
from .machine import machine_record
from .registry import Entrant, versions
from .rounds import LeftOut, compare
from .row import Row
from .settings import Settings
from .vectors import with_tokens, with_vectors

EXTRA = "pip install 'spanwise[bench]'"


@dataclass(slots=True)
class SpeedReport:
    """What came out so far: rows in the order of the comparisons, and what they depend on."""

    paragraphs: Paragraphs
    settings: Settings
    machine: dict[str, Any] = field(default_factory=machine_record)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    comparisons: dict[str, dict[str, Any]] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """What a file of results holds."""
        return {
            "version": __version__,
            "measured": self.began.isoformat(timespec="seconds"),
            "seconds": round((datetime.now(UTC) - self.began).total_seconds()),
            "machine": self.machine,
            "packages": dict(sorted(self.packages.items())),
            "data": self.paragraphs.source,
            "settings": asdict(self.settings),
            "comparisons": self.comparisons,
            "rows": [row.full_record() for row in self.rows],
            "left_out": [asdict(one) for one in self.left_out],
        }

    def save(self, path: Path) -> None:
        """Write the record, whole or not at all."""
        temporary = path.with_name(f"{path.name}.new")
        text = json.dumps(self.record(), ensure_ascii=False, indent=2) + "\n"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)


def evaluate_speed(
    comparisons: Sequence[Comparison],
    entrants: Sequence[Entrant],
    paragraphs: Paragraphs,
    settings: Settings,
    out: Path | None = None,
    report: ProgressCallback = no_progress,
    notice: Callable[[str], None] = lambda line: None,
) -> SpeedReport:
    """Measure each comparison; `notice` hears, as it happens, of each engine that is left out.

    The file `out` is written after each comparison, so that an interruption costs only the one it is at.
    """
    found = SpeedReport(paragraphs, settings)
    corpora = _Corpora(paragraphs, settings, report)
    for comparison in comparisons:
        able, left_out = _installed(comparison, entrants)
        found.packages |= versions(able)
        if len(able) > 1 and any(one.is_ours for one in able):
            corpus = corpora.of(comparison)
            with TemporaryDirectory(prefix="spanwise-speed-") as folder:
                rows, failed = compare(comparison, able, corpus, Path(folder), settings, report)
            sizes = {"passages": len(corpus.passages), "questions": len(corpus.questions)}
            found.comparisons[comparison.name] = {"about": comparison.about, **sizes}
            found.rows += rows
            left_out += failed
        found.left_out += left_out
        for one in left_out:
            notice(str(one))
        if out is not None:
            found.save(out)
    return found


class _Corpora:
    """The corpus of each comparison; vectors are computed once, and only when one asks for them."""

    def __init__(self, paragraphs: Paragraphs, settings: Settings, report: ProgressCallback) -> None:
        self._paragraphs, self._settings, self._report = paragraphs, settings, report
        self._with: dict[Given, Corpus] = {}

    def of(self, comparison: Comparison) -> Corpus:
        """The paragraphs that come first, as many as the settings and the comparison allow."""
        limits = [self._settings.paragraphs, comparison.paragraphs]
        given = comparison.given
        if given is None:
            return self._drawn(limits, comparison.questions)
        if given not in self._with:
            drawn = self._drawn([*limits, self._settings.vectors], comparison.questions)
            added = with_vectors if given == "vectors" else with_tokens
            self._with[given] = added(drawn, self._report)
        return self._with[given]

    def _drawn(self, limits: Sequence[int | None], questions: int | None) -> Corpus:
        most = min((limit for limit in limits if limit is not None), default=None)
        n_questions = min(self._settings.questions, questions or self._settings.questions)
        return corpus_of(self._paragraphs.asked[:most], n_questions, self._settings.seed)


def _installed(comparison: Comparison, entrants: Sequence[Entrant]) -> tuple[list[Entrant], list[LeftOut]]:
    """The engines of a comparison, and those for which something is missing."""
    taking_part = [one for one in entrants if comparison.name in one.comparisons]
    out = []
    for one in taking_part:
        if one.missing:
            reason = f"{', '.join(one.missing)} is not installed: {EXTRA}"
            out.append(LeftOut(comparison.name, one.name, reason, one.is_ours))
    return [one for one in taking_part if not one.missing], out
