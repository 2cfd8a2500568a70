"""The names of the files that travel, and small JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.models.model_files import read_json

WHOLE = "whole"  # the folder of files that are not cut, beside their parts
SETTINGS = "settings.json"
TEACHER_BASE, STUDENT_BASE = "teacher-base.safetensors", "student-base.safetensors"
STUDENT_DELTA = "student-delta.safetensors"
ENCODER = "encoder.zip"
GROUPS = "groups.npz"
TEACHER, STUDENT = "teacher.safetensors", "student.safetensors"  # trained, in float32
LABELS = "labels.npz"


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a record, for people to read as well."""
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def settings(folder: Path) -> Mapping[str, Any]:
    """What `prepare` found out about vocabularies and special tokens."""
    return read_json(there(folder / SETTINGS, "receive"))


def there(path: Path, step: str) -> Path:
    """The path; DataMalformed if the step that makes the file did not end."""
    if not path.is_file():
        raise DataMalformed(f"{path} is missing: run the step {step} to its end first")
    return path
