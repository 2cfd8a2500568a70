"""Writes a reader as a standard Hugging Face folder that any question-answering program loads.

    python scripts/export_reader.py reader-hf --reader builtin

The folder has config.json, model.safetensors in float32 and the tokenizer of the base. What is not a trunk
and one start and one end vector, such as other heads, is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from safetensors.torch import save_file

from spanwise.errors import SpanwiseError
from spanwise.models.locate import CONFIG, find_base
from spanwise.reader.load import load_reader

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
PARTS = ("bert.", "qa_outputs.")


def export_reader(name: str, folder: Path) -> Path:
    """The folder, with the reader's weights in it; ValueError when there is something already."""
    if folder.exists():
        raise ValueError(f"{folder} is there already: name a new folder")
    reader, base = load_reader(name), find_base()
    weights = {
        key: tensor.detach().float().cpu().contiguous().clone()
        for key, tensor in reader.model.state_dict().items()
        if key.startswith(PARTS)
    }
    if not {part.split(".")[0] for part in weights} == {part.rstrip(".") for part in PARTS}:
        raise ValueError(f"{name} is no BERT with a span head: use its own folder instead")
    folder.mkdir(parents=True)
    config = json.loads((base / CONFIG).read_text(encoding="utf-8"))
    config |= {"architectures": ["BertForQuestionAnswering"], "num_labels": 2, "torch_dtype": "float32"}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    for file in TOKENIZER:
        shutil.copyfile(base / file, folder / file)
    return folder


def main() -> None:
    """Reads the arguments, writes, names the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--reader", default="builtin", help="builtin, or a folder of `train reader`")
    arguments = parser.parse_args()
    try:
        print(export_reader(arguments.reader, arguments.folder))
    except (SpanwiseError, ValueError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
