"""What the folder of a student says: a transformer over the base, for token vectors and for one a text.

`settings.json` holds the format, the base, the sha256 of the weights, the limit in tokens, the tokens that
give no vector, and whether there are dense heads. `student.safetensors` holds what the transformer changes
in the base (see `delta`), and the linear layers behind it:

    projection                    the vector of a token: normalize(W state + b), on both sides
    question_head, passage_head   the vector of a text: normalize(W mean + b), of the mean over all its tokens

All of it is read without loading the weights, so the digest of a student is known before torch is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spanwise.errors import ModelNotFound, ModelRejected

from .linear_layer import LinearLayer
from .locate import BASE_SHA256, STUDENT, file_sha256, find_base
from .model_folder import check_weights, read_json, stated
from .token_limit import stated_length
from .token_tower import TokenSide, TokenTower
from .tower import Side, Tower

SETTINGS, FORMAT = "settings.json", 1
PROJECTION = "projection"
HEADS: dict[Side, str] = {"question": "question_head", "passage": "passage_head"}
ADDED = ":new"  # what the names of stored tensors end with that the base does not have


@dataclass(frozen=True, slots=True)
class StudentSettings:
    """`max_length` in tokens, None for all that the base sees; tokens of `skiplist` give no vector."""

    max_length: int | None = None
    skiplist: tuple[str, ...] = ()


def student_token_tower(folder: Path, base: Path | None = None) -> TokenTower:
    """The late-interaction model of a student; `base` is the folder of the base, found without it.

    ModelNotFound without the student's files, ModelRejected for what is damaged or belongs to another base.
    """
    student = _Student.read(folder)
    side = TokenSide(max_length=student.settings.max_length, skiplist=student.settings.skiplist)
    return TokenTower(student.trunk(base), (student.layer(PROJECTION),), side, side)


def student_towers(folder: Path, base: Path | None = None) -> tuple[Tower, Tower]:
    """The dense towers of questions and of passages; ModelNotFound too for a student without dense heads."""
    student = _Student.read(folder)
    if not student.is_dense:
        raise ModelNotFound(
            f"{folder} has no dense heads: it gives a vector for each token (--colbert), not one for a text"
        )
    longest = student.settings.max_length
    towers = [student.trunk(base, student.layer(head), max_length=longest) for head in HEADS.values()]
    return towers[0], towers[1]


def student_settings(folder: Path) -> StudentSettings:
    """The settings of a student, with the errors of `student_token_tower`."""
    return _Student.read(folder).settings


@dataclass(frozen=True, slots=True)
class _Student:
    """A student's files; `shapes` are those of its layers' tensors, `tuned` whether the base is changed."""

    path: Path
    sha256: str
    settings: StudentSettings
    shapes: dict[str, tuple[int, ...]]
    is_dense: bool
    tuned: bool

    @classmethod
    def read(cls, folder: Path) -> _Student:
        """The student of a folder, checked as far as that goes without reading the weights."""
        path, weights = folder / SETTINGS, folder / STUDENT
        for needed in (path, weights):
            if not needed.is_file():
                raise ModelNotFound(f"{folder} holds no {needed.name}, so there is no student in it")
        config = read_json(path)
        if config.get("format") != FORMAT:
            raise ModelRejected(f"{path} is of the format {config.get('format')!r}, expected {FORMAT}")
        base = config.get("base_sha256")
        if base != BASE_SHA256:
            raise ModelRejected(f"{path} belongs to the base {base}, not to {BASE_SHA256}")
        digest = file_sha256(weights)
        if config.get("sha256") != digest:
            raise ModelRejected(f"{weights} has sha256 {digest}, and {path} says {config.get('sha256')}")
        is_dense = bool(stated(config, "dense", bool, path))
        shapes, tuned = _read_header(weights, [PROJECTION, *HEADS.values()] if is_dense else [PROJECTION])
        skipped = tuple(map(str, stated(config, "skiplist", list, path) or ()))
        settings = StudentSettings(stated_length(config, "max_length", path), skipped)
        return cls(weights, digest, settings, shapes, is_dense, tuned)

    def trunk(self, base: Path | None, *layers: LinearLayer, max_length: int | None = None) -> Tower:
        """The transformer, and what follows the mean over its states; the base where it is unchanged."""
        weights = (BASE_SHA256, self.sha256) if self.tuned else (BASE_SHA256,)
        delta = self.path if self.tuned else None
        return Tower(weights, base or find_base(), layers=layers, max_length=max_length, delta=delta)

    def layer(self, name: str) -> LinearLayer:
        """One of the layers; its digest is that of the file, and its name."""
        names = f"{name}.weight{ADDED}", f"{name}.bias{ADDED}"
        n_out, n_in = self.shapes[names[0]]
        return LinearLayer(n_in, n_out, True, "identity", f"{self.sha256} {name}", self.path, names)


def _read_header(path: Path, layers: list[str]) -> tuple[dict[str, tuple[int, ...]], bool]:
    """The shapes of what these layers need, and whether more is stored; nothing else may be added."""
    from safetensors import safe_open

    check_weights(path)
    with safe_open(path, framework="np") as file:
        names = set(file.keys())
        needed = {f"{layer}.{part}{ADDED}" for layer in layers for part in ("weight", "bias")}
        added = {name for name in names if name.endswith(ADDED)}
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in added & needed}
    if added != needed:
        raise ModelRejected(f"{path} adds {sorted(added)} to the base, expected {sorted(needed)}")
    for layer in layers:
        weight, bias = (shapes[f"{layer}.{part}{ADDED}"] for part in ("weight", "bias"))
        if len(weight) != 2 or bias != weight[:1] or 0 in weight:
            raise ModelRejected(f"{path}: {layer} has a weight of {weight} and a bias of {bias}")
    return shapes, names != added
