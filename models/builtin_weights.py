"""The digests of the weights that are part of the package: whether they are still those that were shipped."""

from __future__ import annotations

from importlib.resources import as_file, files

from .locate import file_sha256

WEIGHTS_SHA256 = {
    "colbert/student.safetensors": "421df7c4c4a6b1aea8387bd6518a8f230144821cfb8b9a895eed93f08f0a167c",
    "cross-encoder/cross-encoder.safetensors": (
        "f1f53f65cecf8014cd231d6b4a8aec61bb8cc5229ef08df43c997a748b3b0e14"
    ),
    "reader/reader.safetensors": "a750488b9c7354b7857f293218023d0c880c76323f9b6f7a34cb3668f28b2fdd",
}


def wrong_weights() -> list[str]:
    """One line for each file of built-in weights that is missing or not as it was shipped."""
    with as_file(files("spanwise.models") / "weights") as folder:
        wrong = []
        for name, shipped in WEIGHTS_SHA256.items():
            path = folder / name
            if not path.is_file():
                wrong.append(f"{path} is missing")
            elif (found := file_sha256(path)) != shipped:
                wrong.append(f"{path} has sha256 {found}, not {shipped}")
        return wrong
