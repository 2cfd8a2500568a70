"""Encoders that run in the processes of device workers; a spawned process imports them from here."""

from __future__ import annotations

import os

import numpy as np

from spanwise.errors import OutOfMemory


class SumEncoder:
    """The sum of a row's ids and its length; stands for a model."""

    def __init__(self, device: str) -> None:
        self.device = device

    def encode_rows(self, rows):
        if [0] in rows:
            os._exit(3)
        if [1] in rows:
            raise OutOfMemory("sequence 0: 1 tokens do not fit")
        return np.array([[sum(row), len(row)] for row in rows], dtype=np.float32)


def no_such_device(device: str):
    raise RuntimeError(f"{device} is not there")


def tiny(folder: str, device: str):
    """The encoder of a folder, whatever device is asked for."""
    from spanwise.models.encoder import TextEncoder

    return TextEncoder.load(folder, device="cpu")
