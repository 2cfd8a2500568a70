"""The measurement of exact MaxSim runs where there is no GPU."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_maxsim_gpu.py"


def test_it_finds_what_it_planted_and_prints_a_table(monkeypatch, capsys) -> None:
    arguments = "--passages 300 --tokens 20 --device cpu --rounds 1 --batches 1 8".split()
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    out = capsys.readouterr().out
    for part in ("300 passages", "copying reads and writes", "| 1 | ", "| 8 | "):
        assert part in out
