"""The measurement of dense search runs on a collection that is mixed of a few given vectors."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
from made_vectors import collection

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_dense.py"


def test_it_prints_a_table_for_each_size(tmp_path, monkeypatch, capsys) -> None:
    np.save(tmp_path / "real.npy", collection(300, 16))
    np.save(tmp_path / "questions.npy", collection(40, 16, seed=1))
    arguments = [tmp_path, "--sizes", "300", "500", "--rounds", "1", "--tried", "IVF16,PQ8x4fs"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, arguments)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    out = capsys.readouterr().out
    for part in (
        "300 vectors",
        "500 vectors",
        "| exact | 1.000 |",
        "| FAISS Flat | 1.000 |",
        "| IVF16,PQ8x4fs |",
    ):
        assert part in out
    mixed = np.load(tmp_path / "mixed-500.npy")
    assert np.array_equal(mixed[:300], collection(300, 16))
    assert np.allclose(np.linalg.norm(mixed, axis=1), 1, atol=1e-5)
