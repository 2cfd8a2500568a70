"""`import spanwise` is light: it loads only the standard library, and all its public names exist."""

import subprocess
import sys
from pathlib import Path

import spanwise

ROOT = Path(__file__).parent.parent


def test_every_public_name_exists() -> None:
    assert all(getattr(spanwise, name) is not None for name in spanwise.__all__)


def test_dir_lists_every_public_name_once() -> None:
    assert set(spanwise.__all__) <= set(dir(spanwise))
    assert len(set(spanwise.__all__)) == len(spanwise.__all__)


def test_importing_loads_only_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import spanwise, spanwise.types, spanwise.errors;"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) - sys.stdlib_module_names == {"spanwise"}


def test_every_error_is_a_spanwise_error() -> None:
    from spanwise import errors

    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    defined_here = [value for value in classes if value.__module__ == errors.__name__]
    assert len(defined_here) > 20
    assert all(issubclass(value, errors.SpanwiseError) for value in defined_here)
