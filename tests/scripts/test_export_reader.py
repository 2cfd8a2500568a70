from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from spanwise.reader.load import load_reader
from spanwise.types import Passage

SCRIPT = Path(__file__).parents[2] / "scripts" / "export_reader.py"


@pytest.fixture(scope="module")
def export_reader():
    spec = importlib.util.spec_from_file_location("export_reader", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.export_reader


def test_the_folder_reads_as_the_reader_does(export_reader, tmp_path) -> None:
    exported = load_reader(str(export_reader("builtin", tmp_path / "hf")))
    passage = Passage(0, "mill", 0, 40, "The mill was sold in 1811 by Ada Rook.")
    [[ours]], [[theirs]] = (
        one.read(["Who sold the mill?"], [[passage]], n_best=2) for one in (load_reader(), exported)
    )
    assert [one.span for one in theirs] == [one.span for one in ours]
    assert np.allclose([one.score for one in theirs], [one.score for one in ours], atol=1e-4)


def test_a_folder_that_is_there_is_not_written_to(export_reader, tmp_path) -> None:
    with pytest.raises(ValueError, match="is there already"):
        export_reader("builtin", tmp_path)
