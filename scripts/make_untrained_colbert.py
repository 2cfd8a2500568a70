"""Writes the figure that a trained student has to beat: an untrained linear layer behind the base model.

    SPANWISE_DATA=… python scripts/make_untrained_colbert.py FOLDER
    spanwise index notes --colbert FOLDER

What the layer is stands in `retrieval/training/untrained.py`; it is centred on paragraphs of SQuAD train.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from spanwise.corpora.squad import read_squad
from spanwise.models.student_folder import save_student
from spanwise.pipelines.training.train_student import AVERAGED, untrained_student

MAX_LENGTH, SEED = 512, 0


def main() -> None:
    """Makes the layer and writes the student that has it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    data = Path(os.environ["SPANWISE_DATA"]) / "squad" / "train-v1.1.json.gz"
    made = untrained_student(paragraphs(data), MAX_LENGTH, SEED)
    save_student(folder, made.trunk, made.projection, settings=made.settings)


def paragraphs(data: Path) -> list[str]:
    """Paragraphs of a SQuAD file, drawn without replacement by a fixed seed."""
    found = [one.context for article in read_squad(data).articles for one in article.paragraphs]
    drawn = np.random.default_rng(SEED).permutation(len(found))[:AVERAGED]
    return [found[i] for i in drawn]


if __name__ == "__main__":
    main()
